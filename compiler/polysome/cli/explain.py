"""`polysome explain CODE`: the page on a diagnostic, with a failing and a mended example."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from polysome.syntax.diagnostics import did_you_mean

if TYPE_CHECKING:
    from polysome.kinds.base import Option, StateKind
    from polysome.kinds.policy.base import PolicyKind

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
    text = filled(chosen.read_text(encoding="utf-8"))
    if not sys.stdout.isatty():
        typer.echo(text, nl=False)
        return
    from rich.console import Console
    from rich.markdown import Markdown

    Console().print(Markdown(text))


def filled(page: str) -> str:
    """A page with what it leaves to the kinds: tables of `{kinds}` of state and `{policies}`, names of `{tables}`."""
    from polysome.kinds.policy import POLICIES
    from polysome.kinds.state import STATE_KINDS, TABLE_KINDS

    if "{kinds}" in page:
        page = page.replace("{kinds}", _table(("kind", "methods", "also"), map(_kind, STATE_KINDS.values())))
    page = page.replace("{tables}", ", ".join(TABLE_KINDS))
    if "{policies}" in page:
        page = page.replace("{policies}", _table(("policy", "needs", "may have"), map(_policy, POLICIES.values())))
    return page


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _kind(kind: StateKind) -> tuple[str, str, str]:
    methods = ", ".join(f"`{method.name}`" for method in kind.methods)
    also = [*(["`in`"] if kind.element else []), *(["`for`"] if kind.iterates else [])]
    return f"`{kind.name}<{', '.join(kind.params)}>`", methods, ", ".join(also)


def _policy(kind: PolicyKind) -> tuple[str, str, str]:
    needs = [_clause(kind, option) for option in kind.options if option.required]
    may = [_clause(kind, option) for option in kind.options if not option.required]
    served = [_clause(kind, option) for option in kind.serve_options if option.required]
    if kind.serve == "required":
        needs += ["`serve`", *served]
        may += [_clause(kind, option) for option in kind.serve_options if not option.required]
    elif kind.serve == "optional":
        extra = [_clause(kind, option) for option in kind.serve_options if not option.required]
        may += [f"`serve`, which needs {', '.join(served)} and may have {', '.join(extra)}"]
    return f"`{kind.form}`", ", ".join(needs), ", ".join(may)


def _clause(kind: PolicyKind, option: Option) -> str:
    """A clause of a policy as it is written, without its value."""
    if option.name == "when_full":
        return f"`when full {'/'.join('evict oldest' if word == 'evict' else word for word in kind.when_full)}`"
    return f"`{option.name}`"
