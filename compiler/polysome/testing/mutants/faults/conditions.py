"""A condition with a part too few, with `or` for `and`, negated or not, a value too few in a set."""

from __future__ import annotations

from collections.abc import Iterator

from polysome.syntax import ast
from polysome.testing.mutants.faults.base import Fault
from polysome.testing.mutants.written import Edits, Written, between, replaced


def find(written: Written) -> Iterator[Edits]:
    for node, _ in written.nodes:
        match node:
            case ast.Binary(op="and" | "or" as op, left=left, right=right):
                yield replaced(node, written.said(left))
                yield replaced(node, written.said(right))
                if (edits := between(written, left, right, op, "or" if op == "and" else "and")) is not None:
                    yield edits
            case ast.Unary(op="not", operand=operand):
                yield replaced(node, written.said(operand))
            case ast.SetExpr(items=items) if len(items) > 1:
                for left_out in items:
                    kept = ", ".join(written.said(i) for i in items if i is not left_out)
                    yield replaced(node, f"{{{kept}}}")


FAULT = Fault("condition", find)
