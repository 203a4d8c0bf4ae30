"""Expressions as functions of the packet as it arrived.

`resolve` replaces locals, written fields and the port by what they stand for. What is not computed from the packet
alone (state, config, time, rows, a trap) becomes a *hole*. `Normal` makes expressions comparable: functions and the
parser's values are inlined, header tests decided where the parse classes do, spans dropped; so two equal results are
equal for every packet of these classes. The reverse does not hold: what is equal may look different.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, fields, replace
from functools import lru_cache
from typing import Any

from polysome.ir import program as ir
from polysome.ir import types as t
from polysome.ir.classes import split
from polysome.ir.fold import NotConstant, Undefined, fold
from polysome.ir.value_places import members
from polysome.ir.walk import walk
from polysome.syntax.spans import Span

HOLE, KEY = -1, -2  # slots of locals that no program has: what is not known, and the key of the entry at hand
MOST_NODES = 2000  # of an expression; larger ones count as not known
NOWHERE = Span("", 0, 0)

Path = tuple[int, ...]


def hole(e: ir.Expr) -> ir.Expr:
    """An expression of the same type that is not known."""
    return ir.Local(e.span, e.type, HOLE, "?")


def entry_key(span: Span, type: t.Type) -> ir.Expr:
    """The key of the entry that an `on end` or an index is about."""
    return ir.Local(span, type, KEY, "key")


def known(e: ir.Expr) -> bool:
    """Is all of it computed from the packet, or from the entry's key?"""
    for count, node in enumerate(walk(e)):
        if count >= MOST_NODES or (isinstance(node, ir.Local) and node.slot == HOLE):
            return False
    return True


@dataclass
class Env:
    """What locals and header fields hold, and the port of the packet (None: there is no packet)."""

    port: int | None = None
    slots: dict[int, ir.Expr] = field(default_factory=dict)
    fields: dict[tuple[int, int], ir.Expr] = field(default_factory=dict)

    def copy(self) -> Env:
        return Env(self.port, dict(self.slots), dict(self.fields))


def resolve(e: ir.Expr, env: Env) -> ir.Expr:
    """`e` in terms of the packet as it arrived, with holes for what is not."""
    match e:
        case ir.Local(slot=slot):
            return e if slot < 0 else env.slots.get(slot, hole(e))
        case ir.HeaderField(instance=i, field=f):
            return env.fields.get((i, f), e)
        case ir.InPort():
            return hole(e) if env.port is None else ir.Const(e.span, e.type, env.port)
        case ir.LetIn(slot=slot, value=value, body=body):
            inner = env.copy()
            inner.slots[slot] = resolve(value, env)
            return resolve(body, inner)
        case ir.Binary(op="/" | "%", right=right) if not _not_zero(right):
            return hole(e)
        case _ if isinstance(e, _AS_ARRIVED):
            return e
        case _ if isinstance(e, _COMPUTED):
            return simple(rebuilt(e, lambda child: resolve(child, env)))
        case _:
            return hole(e)


_AS_ARRIVED = (ir.Const, ir.PacketValue, ir.Valid, ir.PacketLen, ir.PayloadLen, ir.PayloadBytes, ir.RestBytes)
_COMPUTED = (
    ir.Unary,
    ir.Binary,
    ir.Choose,
    ir.Cast,
    ir.BitSlice,
    ir.Concat,
    ir.Make,
    ir.Get,
    ir.Hash,
    ir.MinMax,
    ir.InPrefix,
    ir.InSet,
    ir.FnCall,
)


def _not_zero(e: ir.Expr) -> bool:
    return isinstance(e, ir.Const) and bool(e.value)


def rebuilt(e: ir.Expr, change: Any) -> ir.Expr:
    """The node with each expression directly inside it changed."""
    new: dict[str, Any] = {}
    for name in _names(type(e)):  # type: ignore[arg-type]  # mypy: a class made with slots is hashable too
        value = getattr(e, name)
        if isinstance(value, ir.Expr):
            new[name] = change(value)
        elif isinstance(value, tuple) and value and isinstance(value[0], ir.Expr):
            new[name] = tuple(change(item) for item in value)
    return replace(e, **new) if new else e


@lru_cache(maxsize=128)
def _names(type: type) -> tuple[str, ...]:
    return tuple(f.name for f in fields(type) if f.name not in ("span", "type"))


def simple(e: ir.Expr) -> ir.Expr:
    """One step: the member of what is made here, the branch of a constant condition, constants folded."""
    match e:
        case ir.Get(value=value, index=index):
            return member(value, index, e.type)
        case ir.Choose(condition=ir.Const(value=value), then=then, orelse=orelse):
            return then if value else orelse
        case ir.Choose(then=then, orelse=orelse) if then == orelse:
            return then
        case ir.Binary(op="and" | "or" as op, left=left, right=right):
            decides = op == "or"
            for one, other in ((left, right), (right, left)):
                if isinstance(one, ir.Const):
                    return one if bool(one.value) == decides else other
    if isinstance(e, (ir.Unary, ir.Binary, ir.Cast, ir.BitSlice, ir.Concat, ir.MinMax)):
        try:
            return ir.Const(e.span, e.type, fold(e))
        except (NotConstant, Undefined):
            return e
    return e


def member(e: ir.Expr, index: int, type: t.Type | None = None) -> ir.Expr:
    """Member `index` of a struct or tuple."""
    match e:
        case ir.Make(items=items) if not isinstance(e.type, t.SetOf):
            return items[index]
        case ir.Const(value=tuple() as value):
            return ir.Const(e.span, type or members(e.type)[index], value[index])
        case ir.Choose(condition=condition, then=then, orelse=orelse):
            a, b = member(then, index, type), member(orelse, index, type)
            return a if a == b else ir.Choose(e.span, a.type, condition, a, b)
        case ir.Local(slot=-1):
            return ir.Local(e.span, type or e.type, HOLE, "?")
    return ir.Get(e.span, type or members(e.type)[index], e, index)


def leaves(type: t.Type) -> Iterator[tuple[Path, t.Type, str]]:
    """The places of a key that hold a single value: path, type, and name as in `key.flow.src`."""
    inner = members(type)
    names = [n for n, _ in type.fields] if isinstance(type, t.Struct) else [str(i) for i in range(len(inner))]
    if not inner:
        yield (), type, ""
    for i, (name, one) in enumerate(zip(names, inner, strict=True)):
        for path, leaf, rest in leaves(one):
            yield (i, *path), leaf, f"{name}.{rest}" if rest else name


def part(e: ir.Expr, path: Path) -> ir.Expr:
    for i in path:
        e = member(e, i)
    return e


def build(span: Span, type: t.Type, values: dict[Path, ir.Expr], path: Path = ()) -> ir.Expr:
    """A value of `type` of its leaves' values; a hole for a leaf that has none."""
    inner = members(type)
    if not inner:
        return values.get(path, ir.Local(span, type, HOLE, "?"))
    return ir.Make(span, type, tuple(build(span, m, values, (*path, i)) for i, m in enumerate(inner)))


class Normal:
    """Normal forms of the expressions of one program."""

    def __init__(self, program: ir.Program) -> None:
        self.program = program
        self._seen: dict[tuple[ir.Expr, int], ir.Expr] = {}
        self._whole: dict[ir.Expr, ir.Expr] = {}

    def inlined(self, e: ir.Expr) -> ir.Expr:
        """Without calls of functions."""
        e = rebuilt(e, self.inlined)
        if isinstance(e, ir.FnCall):
            fn = self.program.fns[e.fn]
            return self.inlined(resolve(fn.body, Env(slots=dict(zip(fn.slots, e.args, strict=True)))))
        return simple(e)

    def of(self, e: ir.Expr, mask: int) -> ir.Expr:
        """The normal form for packets of the parse classes in `mask`."""
        found = self._seen.get((e, mask))
        if found is None:
            if e not in self._whole:
                self._whole[e] = self._expanded(self.inlined(e))
            found = self._seen[e, mask] = self._decided(self._whole[e], mask)
        return found

    def _expanded(self, e: ir.Expr) -> ir.Expr:
        """Without values of the parser, and without spans."""
        if isinstance(e, ir.PacketValue):
            value = self.program.parser.values[e.name]
            return self._expanded(self.inlined(resolve(value.for_class if e.for_class else value.value, Env())))
        return simple(replace(rebuilt(e, self._expanded), span=NOWHERE))

    def _decided(self, e: ir.Expr, mask: int) -> ir.Expr:
        """With the branches that packets of `mask` take."""
        parser = self.program.parser
        match e:
            case ir.Valid(instance=i):
                has = mask & parser.having[i]
                return e if has and has != mask else ir.Const(NOWHERE, e.type, bool(has))
            case ir.Choose(condition=condition, then=then, orelse=orelse):
                yes, no = split(condition, mask, parser)
                if not yes or not no:
                    return self._decided(then if yes else orelse, mask)
                decided = self._decided(condition, mask)
                new = ir.Choose(NOWHERE, e.type, decided, self._decided(then, yes), self._decided(orelse, no))
                return simple(new)
            case ir.Binary(op="and" | "or", left=left, right=right):
                yes, no = split(left, mask, parser)
                first = self._decided(left, mask)
                return simple(replace(e, left=first, right=self._decided(right, yes if e.op == "and" else no)))
            case _:
                return simple(rebuilt(e, lambda child: self._decided(child, mask)))
