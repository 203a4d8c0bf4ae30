"""Conditions of the parser's values and of order classes, such as whether a packet is a fragment."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache, partial

from polysome.ir import program as ir
from polysome.testing.traffic.boundaries.model import NEAR, Boundary, forced, name
from polysome.testing.traffic.invert import edges
from polysome.testing.traffic.routes import Leaf


def classes(program: ir.Program, path: Sequence[int]) -> Iterator[Boundary]:
    """Of all headers of a path."""
    for layer, instance in enumerate(path):
        for (i, f), values in _compared(program).items():
            if i == instance:
                condition = f"the parser's values by {name(program, i, f)}"
                for value in values:
                    yield Boundary(condition, f"{value:#x}", NEAR, partial(forced, program, layer, f, value))


@lru_cache(maxsize=64)
def _compared(program: ir.Program) -> dict[Leaf, tuple[int, ...]]:
    """Fields that they compare, with values on both sides."""
    found: dict[Leaf, dict[int, None]] = {}
    told = [e for value in program.parser.values.values() for e in (value.value, value.for_class)]
    for leaf, value in edges((told, program.schedule.cls), program.fns):
        if isinstance(leaf, ir.HeaderField):
            field = program.parser.instances[leaf.instance].header.fields[leaf.field]
            if value < 1 << field.width:
                found.setdefault((leaf.instance, leaf.field), {})[value] = None
    return {leaf: tuple(values) for leaf, values in found.items()}
