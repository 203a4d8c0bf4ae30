"""A comparison that is off by one, or the wrong way."""

from __future__ import annotations

from collections.abc import Iterator

from polysome.syntax import ast
from polysome.testing.mutants.faults.base import Fault
from polysome.testing.mutants.written import Edits, Written, between

OTHERS = {"<": ("<=", ">"), "<=": ("<", ">"), ">": (">=", "<"), ">=": (">", "<"), "==": ("!=",), "!=": ("==",)}


def find(written: Written) -> Iterator[Edits]:
    for node, _ in written.nodes:
        if isinstance(node, ast.Binary):
            for other in OTHERS.get(node.op, ()):
                if (edits := between(written, node.left, node.right, node.op, other)) is not None:
                    yield edits


FAULT = Fault("comparison", find)
