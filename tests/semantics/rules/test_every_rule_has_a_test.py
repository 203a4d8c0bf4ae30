"""Every numbered rule of the manual has a test that carries its number: `test_L3_4_…` for L3.4."""

from __future__ import annotations

import re
from functools import cache
from itertools import groupby, pairwise
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
COMPILER = ROOT / "compiler"
KINDS = COMPILER / "polysome" / "kinds"
MANUALS = {
    "LANGUAGE": [COMPILER / "LANGUAGE.md"],
    "STATE": [KINDS / "state" / "STATE.md", *sorted(KINDS.glob("state/*/MANUAL.md"))],
    "SCHEDULE": [KINDS / "policy" / "SCHEDULE.md", *sorted(KINDS.glob("policy/*/MANUAL.md"))],
}


def sections(manual: str) -> list[list[str]]:
    """The numbers of a manual's rules in order, `**L1.1**`, of each page's sections, by the sections' numbers."""
    found = []
    for page in MANUALS[manual]:
        rules = re.findall(r"\*\*([LSP]\d+\.\d+)\*\*", page.read_text(encoding="utf-8"))
        found += [list(section) for _, section in groupby(rules, key=lambda rule: rule.split(".")[0])]
    return sorted(found, key=lambda section: int(section[0][1:].split(".")[0]))


def rules(manual: str) -> list[str]:
    return [rule for section in sections(manual) for rule in section]


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


@pytest.mark.parametrize("manual", MANUALS)
def test_every_rule_has_a_test_with_its_number(manual: str) -> None:
    found = rules(manual)
    assert found, f"no rules in {manual}"
    assert [rule for rule in found if rule not in rules_with_tests()] == []


@pytest.mark.parametrize("manual", MANUALS)
def test_rules_are_numbered_without_gaps(manual: str) -> None:
    numbers = [(rule[0], *map(int, rule[1:].split("."))) for rule in rules(manual)]
    for (_, section, number), (_, after, next_number) in pairwise(numbers):
        assert (after, next_number) in ((section, number + 1), (section + 1, 1))


def test_no_test_names_a_rule_that_does_not_exist() -> None:
    known = {rule for manual in MANUALS for rule in rules(manual)}
    assert sorted(rules_with_tests() - known) == []
