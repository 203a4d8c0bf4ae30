"""Bad P4: one clear error for each cause, with the exact message.

A file in fail/ that begins with `//# PART` holds parts of the skeleton; others are whole programs.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.p4.chips import TOFINO
from tests.p4.skeleton import program

from polysome.p4.load import load
from polysome.syntax.diagnostics import Diagnostic, SpecError, render

FAIL = Path(__file__).parent / "fail"
FILES = sorted(FAIL.glob("*.p4"))
LONGEST_LINE = 200


def text_of(path: Path) -> str:
    text = path.read_text(encoding="utf-8")
    parts = re.split(r"^//# (\w+)\n", text, flags=re.MULTILINE)
    if len(parts) == 1:
        return text
    return program(**dict(zip(parts[1::2], (p.strip() for p in parts[2::2]), strict=True)))


def found(path: Path) -> SpecError:
    with pytest.raises(SpecError) as caught:
        load(f"{path.stem}.p4", text_of(path), TOFINO)
    return caught.value


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_exact_message(path: Path, golden: Callable[[Path, str], None]) -> None:
    error = found(path)
    assert {d.code for d in error.diagnostics} == {path.name[:5]}
    for d in error.diagnostics:
        assert_helpful(d)
    golden(path.with_suffix(".txt"), "\n\n".join(render(d, error.sources) for d in error.diagnostics) + "\n")


def assert_helpful(d: Diagnostic) -> None:
    assert d.span is not None and not d.message.endswith("."), d
    assert d.why.endswith(".") and d.mend.endswith((".", "?")), d
    assert all(len(text) <= LONGEST_LINE for text in (d.message, d.label, d.why, d.mend)), d


def test_no_expected_text_is_left_behind() -> None:
    assert {p.stem for p in FAIL.glob("*.txt")} <= {p.stem for p in FILES}


def test_what_is_nested_too_deep_is_an_error_and_no_traceback() -> None:
    p4 = program(apply=f"hdr.ethernet.dst = {'(' * 5000}1{')' * 5000};")
    with pytest.raises(SpecError, match="nested too deep"):
        load("deep.p4", p4, TOFINO)


def test_every_prefix_of_a_program_is_refused_without_a_traceback() -> None:
    p4 = program(locals="Counter<bit<32>, bit<1>>(2, CounterType_t.PACKETS) c;", apply="if (c == 1) { c.count(0); }")
    for end in range(0, len(p4) - 30, 97):
        with pytest.raises(SpecError):
            load("cut.p4", p4[:end], TOFINO)
