"""A statement left out, or there twice."""

from __future__ import annotations

from collections.abc import Iterator

from polysome.syntax import ast
from polysome.testing.mutants.faults.base import Fault
from polysome.testing.mutants.written import Edit, Edits, Written, replaced

_LEFT_OUT = (
    ast.Assign,
    ast.ExprStatement,
    ast.Remove,
    ast.Require,
    ast.Emit,
    ast.Push,
    ast.Pop,
    ast.Truncate,
    ast.For,
)


def find(written: Written) -> Iterator[Edits]:
    for node, above in written.nodes:
        if isinstance(node, _LEFT_OUT) or (isinstance(node, ast.IfExpr) and _is_statement(node, above)):
            yield replaced(node, "")
        if isinstance(node, (ast.ExprStatement, ast.Emit)) or (isinstance(node, ast.Assign) and node.op != "="):
            yield (Edit(node.span.end, node.span.end, " " + written.said(node)),)


def _is_statement(node: ast.Node, above: tuple[ast.Node, ...]) -> bool:
    return isinstance(above[-1], ast.Block) and node in above[-1].statements and above[-1].span != node.span


FAULT = Fault("statement", find)
