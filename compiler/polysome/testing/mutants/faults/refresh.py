"""A look that keeps an entry alive where it should not, or does not where it should."""

from __future__ import annotations

from collections.abc import Iterator

from polysome.syntax import ast
from polysome.testing.mutants.faults.base import Fault
from polysome.testing.mutants.written import Edits, Written, replaced


def find(written: Written) -> Iterator[Edits]:
    for node, above in written.nodes:
        match node:
            case ast.Index(base=ast.Name() as base, index=key) if not _is_written(node, above):
                yield replaced(node, f"{base.text}.peek({written.said(key)})")
            case ast.Call(callee=ast.Member(base=ast.Name() as base, name=ast.Ident(text="peek")), args=(key,)):
                yield replaced(node, f"{base.text}[{written.said(key)}]")


def _is_written(node: ast.Node, above: tuple[ast.Node, ...]) -> bool:
    """Does it stand left of an assignment, or behind `remove`?"""
    around = next((a for a in reversed(above) if not isinstance(a, (ast.Member, ast.Index))), None)
    return isinstance(around, (ast.Assign, ast.Remove)) and around.target.span.start == node.span.start


FAULT = Fault("refresh", find)
