"""Every numbered rule of the manual has a test that carries its number: `test_L3_4_…` for L3.4."""

from __future__ import annotations

import re
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
COMPILER = ROOT / "compiler"
KINDS = COMPILER / "polysome" / "kinds"
MANUALS = (COMPILER / "LANGUAGE.md", KINDS / "state" / "STATE.md", KINDS / "policy" / "SCHEDULE.md")


def rules(manual: Path) -> list[str]:
    """The numbers of a manual's rules in order: `**L1.1**`."""
    return re.findall(r"\*\*([LSP]\d+\.\d+)\*\*", manual.read_text(encoding="utf-8"))


@cache
def rules_with_tests() -> frozenset[str]:
    """The rules named by tests anywhere under tests/."""
    names = (
        name
        for path in (ROOT / "tests").rglob("test_*.py")
        for name in re.findall(r"^\s*def test_(\w+)", path.read_text(encoding="utf-8"), re.MULTILINE)
    )
    numbers = (re.match(r"([LSP]\d+)_(\d+)(?:_|$)", name) for name in names)
    return frozenset(f"{found[1]}.{found[2]}" for found in numbers if found)


@pytest.mark.parametrize("manual", MANUALS, ids=lambda path: path.stem)
def test_every_rule_has_a_test_with_its_number(manual: Path) -> None:
    found = rules(manual)
    assert found, f"no rules in {manual.name}"
    assert [rule for rule in found if rule not in rules_with_tests()] == []


@pytest.mark.parametrize("manual", MANUALS, ids=lambda path: path.stem)
def test_rules_are_numbered_without_gaps(manual: Path) -> None:
    numbers = [(rule[0], *map(int, rule[1:].split("."))) for rule in rules(manual)]
    for (_, section, number), (_, after, next_number) in pairwise(numbers):
        assert (after, next_number) in ((section, number + 1), (section + 1, 1))


def test_no_test_names_a_rule_that_does_not_exist() -> None:
    known = {rule for manual in MANUALS for rule in rules(manual)}
    assert sorted(rules_with_tests() - known) == []
