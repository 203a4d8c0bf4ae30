"""The pages of `polysome explain` on site files and plans: their examples show what they say.

What stands before `Fails:` belongs to both examples. A block of `nf` is the spec, of `toml` the site file.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.plan.helpers import told

import polysome
from polysome.syntax.diagnostics import render

PAGES = sorted(p for p in (Path(polysome.__file__).parent / "explain").glob("E1*.md") if p.stem[:3] in ("E13", "E14"))
NAMES = {"nf": "spec.nf", "toml": "site.toml"}


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.stem)
def test_the_first_example_fails_and_the_second_is_mended(page: Path, tmp_path: Path) -> None:
    head, *examples = re.split(r"^(?:Fails|Mended):$", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert len(examples) == 2, f"{page.name} has {len(examples)} examples"
    for part, expected in zip(examples, ([page.stem], []), strict=True):
        for kind, text in re.findall(r"```(\w+)\n(.*?)```", head + part, re.DOTALL):
            (tmp_path / NAMES[kind]).write_text(text, encoding="utf-8")
        found, sources = told(tmp_path / "spec.nf", str(tmp_path / "site.toml"))
        assert [d.code for d in found] == expected, "\n\n".join(render(d, sources) for d in found)
