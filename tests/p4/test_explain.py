"""The pages of `polysome explain` on P4: the first example fails with the page's code, the second is right."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.p4.chips import TOFINO
from tests.p4.skeleton import program

import polysome
from polysome.p4.load import load
from polysome.syntax.diagnostics import SpecError

PAGES = sorted((Path(polysome.__file__).parent / "explain").glob("E12*.md"))
# Where the examples stand: in the control's `apply`, unless said otherwise.
STATES, LOCALS = {"E1207", "E1208", "E1211"}, {"E1210"}
COUNTER = "Counter<bit<32>, bit<2>>(4, CounterType_t.PACKETS) seen;"


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.stem)
def test_the_first_example_fails_and_the_second_is_mended(page: Path) -> None:
    bad, good = re.findall(r"```p4\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    part = "states" if page.stem in STATES else "locals" if page.stem in LOCALS else "apply"
    more = {"locals": COUNTER} if part != "locals" else {}
    with pytest.raises(SpecError) as caught:
        load("bad.p4", program(**{part: bad}, **more), TOFINO)
    assert {d.code for d in caught.value.diagnostics} == {page.stem}
    load("good.p4", program(**{part: good}, **more), TOFINO)


def test_there_are_pages() -> None:
    assert len(PAGES) == 11
