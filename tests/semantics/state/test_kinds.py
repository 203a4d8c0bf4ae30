"""What is true of every kind of state, however it is found."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import polysome.kinds.state
from polysome.kinds.base import Context
from polysome.kinds.state import STATE_KINDS, brought

KINDS = Path(polysome.kinds.state.__file__).parent
USUAL = {"count": 1000, "percent": 10_000}  # of an option, by its term


@pytest.mark.parametrize("name", STATE_KINDS)
def test_a_kind_is_what_it_says(name: str) -> None:
    kind = STATE_KINDS[name]
    options = {o.name: USUAL[o.term] for o in kind.options if o.required}
    options |= {o.name: o.default for o in kind.options if o.default is not None}
    made = kind.make(options, Context("s", lambda: 0, lambda key: bytes([key]), lambda data: data[0] << 60))
    assert kind.name == name and all(callable(getattr(made, method.name)) for method in kind.methods)
    assert kind.note(options) and kind.memory(options, 104, 0) > 0
    assert (kind.element is not None) == hasattr(made, "__contains__")
    assert bool(kind.iterates) == hasattr(made, "__iter__")
    assert all(option.why for option in kind.options if option.required)
    assert (KINDS / name).is_dir()


def test_kinds_are_judged_in_the_order_of_the_manual() -> None:
    invariants = brought("invariant")
    assert set(STATE_KINDS) <= set(invariants)
    for folder, invariant in invariants.items():
        title = (KINDS / folder / "MANUAL.md").read_text(encoding="utf-8").partition("\n")[0]
        assert re.match(rf"## {invariant.section}\. ", title), f"{folder}: {title}"


@pytest.mark.parametrize(
    ("name", "options", "note", "memory"),
    [
        ("count_min", {"error": 10_000, "confidence": 990_000}, "5 rows of 272 counters", 5 * 272 * 8),
        ("bloom", {"capacity": 1000, "error": 10_000}, "10099 bits, 7 per key", 1263),  # ceil(10099 / 8)
        ("hyperloglog", {"error": 10_000}, "16384 registers", 16384),
        ("top_k", {"k": 10, "error": 10_000}, "100 counters", 100 * (13 + 16)),  # a five-tuple of 104 bits is 13 bytes
    ],
)
def test_what_is_said_of_sizes(name: str, options: dict[str, int], note: str, memory: int) -> None:
    kind = STATE_KINDS[name]
    assert (kind.note(options), kind.memory(options, 104, 0)) == (note, memory)
