"""Methods of state in properties: those that only look (LANGUAGE.md L12.7)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from polysome.ir import program as ir
from polysome.ir import properties as pr
from polysome.ir import types as t
from polysome.semantics import property_state, state_access
from polysome.semantics.allowed import may_write
from polysome.semantics.property_context import PropertyContext
from polysome.syntax import ast


def method(x: PropertyContext, node: ast.Call) -> ir.Expr | None:
    """`p.after.sketch.estimate(k)`, `p.after.map.peek(k)`; None if the callee is no state."""
    assert isinstance(node.callee, ast.Member)
    moment, name = property_state.moment_of(x, node.callee.base), node.callee.name
    if moment is None:
        return _bucket(x, node) if name.text in ("has", "take") else None
    state = moment.state
    if isinstance(state, ir.KindDecl):
        with _state_allowed(x):
            return moment.read(state_access.kind_method(x, state, node))
    if isinstance(state, ir.ScalarDecl) or moment.name.text in moment.scope.config:
        return _bucket(x, node) if name.text in ("has", "take") else None
    if name.text == "peek" and len(node.args) == 1:
        entry = property_state.lookup(x, moment, node.args[0].value, node.span)
        if entry is not None:
            return entry
    if state is None:
        return property_state.unknown(x, moment.scope, moment.name)
    writes = {ir.PoolDecl: "take", ir.MapDecl: "add"}.get(type(state))
    if name.text != writes:
        return property_state.no_member(x, state, name)
    may_write(x, node.span, f"{state.name}.{name.text}")
    return x.wrong(node.span)


@contextmanager
def _state_allowed(x: PropertyContext) -> Iterator[None]:
    """For what types a method as in a handler; `without_time` still guards its arguments."""
    x.allowed |= {"state"}
    yield
    x.allowed -= {"state"}


def _bucket(x: PropertyContext, node: ast.Call) -> ir.Expr | None:
    """`p.before.meters[k].has(n)`; None if there is no token bucket."""
    assert isinstance(node.callee, ast.Member)
    bucket = x.expr(node.callee.base)
    if not isinstance(bucket.type, t.Bucket):
        return None
    snapshot: ir.Expr = bucket
    path: tuple[int, ...] = ()
    while isinstance(snapshot, ir.Get):
        path = (snapshot.index, *path)
        snapshot = snapshot.value
    where = _place(snapshot.read, path) if isinstance(snapshot, pr.Snapshot) else None
    if where is None or not isinstance(snapshot, pr.Snapshot):
        return _lost(x, node)
    with _state_allowed(x):
        found = state_access.bucket_op(x, node, where, bucket.type, node.callee.name.text == "take")
    if found.type == t.WRONG:
        return found
    return pr.Snapshot(found.span, found.type, snapshot.packet, snapshot.when, found)


def _place(read: ir.Expr, path: tuple[int, ...]) -> ir.Place | None:
    """Where the state is that was read."""
    match read:
        case ir.StateRead():
            return ir.Place(read.span, read.state, "scalar", None, path)
        case ir.ArrayRead():
            return ir.Place(read.span, read.state, "array", read.index, path)
        case pr.Lookup(kind="map"):
            return ir.Place(read.span, read.source, "map", read.key, path)
        case _:
            return None


def _lost(x: PropertyContext, node: ast.Call) -> ir.Expr:
    assert isinstance(node.callee, ast.Member)
    name = node.callee.name.text
    x.report.add(
        "E0908",
        f"`{name}` is not written like this",
        node.span,
        why="A bucket fills with time, so it is asked where it is, not as a copy.",
        mend=f"Write for example `p.after.m[k].{name}(n)`.",
    )
    return x.wrong(node.span)
