"""A handler that is not there, or is that of another port."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from polysome.syntax import ast
from polysome.testing.mutants.faults.base import Fault
from polysome.testing.mutants.written import Edit, Edits, Written, replaced


def find(written: Written) -> Iterator[Edits]:
    handlers = [node for node, _ in written.nodes if isinstance(node, ast.OnPacket)]
    for node, _ in written.nodes:
        if isinstance(node, (ast.OnEnd, ast.Every)):
            yield replaced(node, "")
    for one, other in combinations(handlers, 2):
        a, b = one.ports, other.ports
        if a and b:
            yield (*_named(written, a, b), *_named(written, b, a))


def _named(written: Written, old: tuple[ast.Ident, ...], new: tuple[ast.Ident, ...]) -> Edits:
    said = written.text[new[0].span.start : new[-1].span.end]
    return (Edit(old[0].span.start, old[-1].span.end, said),)


FAULT = Fault("handler", find)
