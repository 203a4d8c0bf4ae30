"""A branch that is always, never, or contrarily taken; an `else` that is not there."""

from __future__ import annotations

from collections.abc import Iterator

from polysome.syntax import ast
from polysome.testing.mutants.faults.base import Fault
from polysome.testing.mutants.written import Edit, Edits, Written


def find(written: Written) -> Iterator[Edits]:
    for node, _ in written.nodes:
        match node:
            case ast.IfExpr(condition=ast.Condition(binding=None) as c, then=then, orelse=orelse):
                said = written.said(c)
                for other in (f"not ({said})", "true", "false"):
                    yield (Edit(c.span.start, c.span.end, other),)
                if orelse is not None:
                    yield (Edit(then.span.end, orelse.span.end, ""),)
            case ast.Require(condition=condition):
                yield (Edit(condition.span.start, condition.span.end, f"not ({written.said(condition)})"),)


FAULT = Fault("branch", find)
