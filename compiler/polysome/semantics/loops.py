"""What loops run over (LANGUAGE.md L9.6)."""

from __future__ import annotations

from polysome.ir import program as ir
from polysome.ir import types as t
from polysome.kinds.state import STATE_KINDS, is_mapping
from polysome.semantics import state_access
from polysome.semantics.context import Context
from polysome.semantics.typed import without_width
from polysome.syntax import ast


def bounds(x: Context, low: ast.Expr, high: ast.Expr) -> tuple[ir.Expr, ir.Expr]:
    """Of `low..high`."""
    bounds = [x.constant(n, t.LITERAL) for n in (low, high)]
    return ir.Const(low.span, t.U64, bounds[0] or 0), ir.Const(high.span, t.U64, bounds[1] or 0)


def iterated(x: Context, node: ast.For) -> tuple[str | None, ir.Expr | None, tuple[t.Type, ...]]:
    """What is iterated: state or table, and the types of the names."""
    decl = state_access.state_of(x, node.domain)
    types: tuple[t.Type, ...] = ()
    table: ir.Expr | None = None
    if isinstance(decl, ir.MapDecl):
        types = (decl.key,) if decl.value is None else (decl.key, decl.value)
    elif isinstance(decl, ir.KindDecl):
        types = tuple(state_access.term(i, decl) for i in STATE_KINDS[decl.kind].iterates)
    elif decl is None:
        table = x.expr(node.domain)
        if isinstance(table.type, t.SetOf) and without_width(table) is not None:
            table = x.value(node.domain)
        if isinstance(table.type, t.ListOf):
            row = t.Ref(table.name, table.type.item) if isinstance(table, ir.Config) else table.type.item
            types = (row,)
        elif isinstance(table.type, t.SetOf):
            types = (table.type.item,)
        elif is_mapping(table.type) and isinstance(table, ir.Config):
            types = (table.type.key, t.Ref(table.name, table.type.value))
    if len(types) != len(node.names):
        if table is None or table.type != t.WRONG:
            wrong_names(x, node, types, table)
        types = (t.WRONG,) * len(node.names)
    return (decl.name if decl else None), table, types


def wrong_names(x: Context, node: ast.For, types: tuple[t.Type, ...], table: ir.Expr | None) -> None:
    """E0603: what is run over has `types`, none if it cannot be run over."""
    x.report.add(
        "E0603",
        f"`for` cannot run over this with {len(node.names)} name{'s' if len(node.names) > 1 else ''}",
        node.domain.span,
        why="Loops run over `a..b` with constant bounds, lists and sets (one name), maps and `top_k` (two).",
        mend=_mend(node, types, table),
    )


def _mend(node: ast.For, types: tuple[t.Type, ...], table: ir.Expr | None) -> str:
    if types:
        return f"Use {len(types)} name{'s' if len(types) > 1 else ''}."
    if isinstance(node.domain, ast.Number):
        return f"Write `0..{node.domain.value}`."
    if table is not None and isinstance(table.type, t.Bits):
        return "Loop up to a constant, `0..64`, and test inside."
    return "Loop over the numbers of its indices, `0..n`, or over what keeps the keys."
