"""`polysome explain CODE`: the page on a diagnostic, with a failing and a mended example."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from polysome.syntax.diagnostics import did_you_mean

PAGES = Path(__file__).resolve().parent.parent / "explain"


def explain(
    code: Annotated[str | None, typer.Argument(help="The code in an error's brackets, for example E0404.")] = None,
) -> None:
    """Explain an error code; without a code, list all."""
    pages = {p.stem: p for p in sorted(PAGES.glob("[EW]*.md"))}
    if code is None:
        for name, page in pages.items():
            title = page.read_text(encoding="utf-8").split("\n", 1)[0].lstrip("# ").partition(": ")[2]
            typer.echo(f"{name}  {title}")
        return
    chosen = pages.get(code.upper())
    if chosen is None:
        from polysome.cli.common import COMMAND_LINE, fail

        fail(
            COMMAND_LINE,
            f"there is no diagnostic {code}",
            did_you_mean(code.upper(), pages) or "`polysome explain` lists all.",
        )
    text = chosen.read_text(encoding="utf-8")
    if not sys.stdout.isatty():
        typer.echo(text, nl=False)
        return
    from rich.console import Console
    from rich.markdown import Markdown

    Console().print(Markdown(text))
