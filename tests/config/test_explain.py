"""The pages of `polysome explain` on configuration and event files: their examples show what they say.

What stands before `Fails:` belongs to both examples. A block of `nf` is the spec, of `json` the event file; one of
`toml` or `csv` may begin with its name in a comment.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import polysome
from polysome.analysis.all import analyse
from polysome.config.events import load_events
from polysome.config.load import load_config
from polysome.semantics.check import check
from polysome.syntax.diagnostics import Diagnostic, Report, SpecError, render

PAGES = Path(polysome.__file__).parent / "explain"
CONFIG_PAGES = sorted(p for p in PAGES.glob("E1*.md") if p.stem[:3] in ("E10", "E11"))
USUAL = {"nf": "spec.nf", "toml": "config.toml", "json": "events.jsonl"}


def files(part: str) -> dict[str, str]:
    """The blocks in a part of a page, by the name of their file."""
    found = {}
    for kind, text in re.findall(r"```(\w+)\n(.*?)```", part, re.DOTALL):
        named = re.match(rf"# (\w+\.{kind})\n", text)
        found[named[1] if named else USUAL[kind]] = text
    return found


def told(blocks: dict[str, str], folder: Path) -> tuple[list[Diagnostic], str]:
    """What a user is told who gives these files to the NF, and how it is shown."""
    folder.mkdir()
    for name, text in blocks.items():
        (folder / name).write_text(text, encoding="utf-8")
    report = Report()
    program = check(folder / "spec.nf", report)
    analyse(program, report)
    given = [f"{Path(n).stem}={folder / n}" if n.endswith(".csv") else str(folder / n) for n in sorted(blocks)]
    try:
        load_config(program, [g for g in given if g.endswith((".csv", ".toml"))], report)
        if "events.jsonl" in blocks:
            load_events(program, str(folder / "events.jsonl"), report)
        found = report.diagnostics
    except SpecError as error:
        found = [*error.diagnostics, *report.warnings]
    return found, "\n\n".join(render(d, report.sources) for d in found)


@pytest.mark.parametrize("page", CONFIG_PAGES, ids=lambda p: p.stem)
def test_the_first_example_fails_and_the_second_is_mended(page: Path, tmp_path: Path) -> None:
    head, *examples = re.split(r"^(?:Fails|Mended):$", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert len(examples) == 2, f"{page.name} has {len(examples)} examples"
    for name, part, expected in zip(("fails", "mended"), examples, ([page.stem], []), strict=True):
        found, shown = told(files(head) | files(part), tmp_path / name)
        assert [d.code for d in found] == expected, shown
