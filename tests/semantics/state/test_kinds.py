"""The registry, and that no rule of STATE.md lacks a test."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import polysome.kinds.state
from polysome.kinds.base import Context
from polysome.kinds.state import STATE_KINDS

OPTIONS = {
    "count_min": {"error": 10_000, "confidence": 990_000},
    "bloom": {"capacity": 1000, "error": 10_000},
    "hyperloglog": {"error": 10_000},
    "top_k": {"k": 10, "error": 10_000},
}
NOTES = {
    "count_min": ("5 rows of 272 counters", 5 * 272 * 8),
    "bloom": ("10099 bits, 7 per key", 1263),  # ceil(10099 / 8)
    "hyperloglog": ("16384 registers", 16384),
    "top_k": ("100 counters", 100 * (13 + 16)),  # a five-tuple of 104 bits is 13 bytes
}


@pytest.mark.parametrize("name", OPTIONS)
def test_a_kind_is_what_it_says(name: str) -> None:
    kind, options = STATE_KINDS[name], OPTIONS[name]
    made = kind.make(options, Context("s", lambda: 0, lambda key: bytes([key]), lambda data: data[0] << 60))
    assert kind.name == name and all(callable(getattr(made, method.name)) for method in kind.methods)
    assert (kind.note(options), kind.memory(options, 104, 0)) == NOTES[name]
    assert (kind.element is not None) == hasattr(made, "__contains__")
    assert bool(kind.iterates) == hasattr(made, "__iter__")
    required = {option.name for option in kind.options if option.required}
    assert required <= set(options) and all(option.why for option in kind.options if option.required)


def test_all_kinds_are_tried() -> None:
    assert set(STATE_KINDS) == set(OPTIONS)


def test_every_rule_has_a_test_named_after_it() -> None:
    page = Path(polysome.kinds.state.__file__).with_name("STATE.md").read_text()
    rules = re.findall(r"^- \*\*S(\d+\.\d+)\*\*", page, re.MULTILINE)
    assert len(rules) == len(set(rules)) > 50
    tests = "".join(path.read_text() for path in Path(__file__).parent.glob("test_*.py"))
    tested = {f"{section}.{rule}" for section, rule in re.findall(r"def test_S(\d+)_(\d+)_", tests)}
    assert tested == set(rules)
