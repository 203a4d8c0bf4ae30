"""All nodes of a typed program or a part of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from functools import lru_cache
from typing import Any

from polysome.ir.expressions import Node
from polysome.ir.program import Program
from polysome.ir.statements import Body, Emit, FieldWrite, Pop


def walk(value: Any) -> Iterator[Node]:
    """Every Node in `value` (a node, or tuples, mappings, dataclasses of them), outer ones first, in source order."""
    if isinstance(value, Node):
        yield value
    if isinstance(value, (tuple, list)):
        for item in value:
            yield from walk(item)
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from walk(item)
    elif is_dataclass(value) and not isinstance(value, type):
        for name in _parts(type(value)):
            yield from walk(getattr(value, name))


def emits(program: Program) -> bool:
    """Does the NF make packets itself?"""
    bodies = (program.packet_handlers, program.timers, program.end_handlers)
    return any(isinstance(node, Emit) for body in bodies for node in walk(body))


@lru_cache(maxsize=256)
def pops(program: Program) -> bool:
    """Does the NF take headers off?"""
    return any(isinstance(node, Pop) for node in walk(program.packet_handlers))


def written_fields(bodies: Iterable[Body]) -> set[tuple[int, int]]:
    """Every header field that some statement writes, by instance and number."""
    return {(node.instance, node.field) for body in bodies for node in walk(body) if isinstance(node, FieldWrite)}


@lru_cache(maxsize=256)
def _parts(type: type) -> tuple[str, ...]:
    return tuple(f.name for f in fields(type) if f.name not in ("span", "type"))
