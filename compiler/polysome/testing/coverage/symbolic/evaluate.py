"""Expressions of the typed program to terms: the meaning of interp/expression_code, for all packets at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import z3

from polysome.interp.statement_code import owns
from polysome.ir import program as ir
from polysome.ir import types as t
from polysome.ir.fold import zero
from polysome.kinds.state.token_bucket import FULL, SCALE
from polysome.kinds.values import Prefix
from polysome.testing.coverage.points import Points, operands
from polysome.testing.coverage.symbolic.values import (
    FALSE,
    TIME,
    TOKENS,
    TRUE,
    UNKNOWN,
    Boxed,
    Rows,
    Term,
    Unknown,
    anything,
    bits,
    choose,
    conj,
    disj,
    equal,
    lift,
    neg,
)

if TYPE_CHECKING:
    from polysome.testing.coverage.symbolic.packet import AnyPacket
    from polysome.testing.coverage.symbolic.world import World

_COMPARE = {"<": z3.ULT, "<=": z3.ULE, ">": z3.UGT, ">=": z3.UGE}
_WIDE = 160  # bits in which no product of a ratio or a token bucket overflows


class Evaluator:
    """Terms of expressions, and under which conditions the outcomes of branch points happen on the way.

    `guard` is the condition under which the present place is reached; `traps` the conditions under which the present
    statement ends the handler; `reached[n]` all conditions under which outcome n happens.
    """

    def __init__(self, program: ir.Program, points: Points, packet: AnyPacket, world: World) -> None:
        self.program, self.points, self.packet, self.world = program, points, packet, world
        self.guard: Term = TRUE
        self.traps: list[Term] = []
        self.reached: dict[int, list[Term]] = {}
        self.locals: dict[int, Any] = {}
        self.edits: dict[tuple[int, int], Term] = {}
        self._arrival = False
        self._values: dict[tuple[str, bool], Any] = {}

    # ------------------------------------------------------------ conditions

    def happens(self, number: int, condition: Term = TRUE) -> None:
        """Outcome `number` happens here under a condition."""
        whole = conj(self.guard, neg(disj(*self.traps)), condition)
        if not z3.is_false(whole):
            self.note(number, whole)

    def note(self, number: int, condition: Term) -> None:
        """Outcome `number` happens if the whole condition holds."""
        self.reached.setdefault(number, []).append(condition)

    def decided(self, first: int | None, condition: Term) -> Term:
        """The condition of a point whose outcomes are `first` (it holds) and the one after."""
        condition = z3.simplify(condition)
        if first is not None:
            self.happens(first, condition)
            self.happens(first + 1, neg(condition))
        return condition

    def trap(self, condition: Term) -> None:
        self.traps.append(conj(self.guard, condition))

    def unknown(self, type: t.Type) -> Any:
        """A value that may be anything of the type."""
        return anything(type, self.world.limits, len(self.program.ports))

    def under(self, condition: Term, e: ir.Expr) -> Any:
        """The value of `e`, which is only evaluated if the condition holds."""
        before, self.guard = self.guard, conj(self.guard, condition)
        value = self.value(e)
        self.guard = before
        return value

    # ------------------------------------------------------------ dispatch

    def value(self, e: ir.Expr) -> Any:
        match e:
            case ir.Const(type=type, value=v):
                return lift(type, v)
            case ir.Local(slot=slot):
                return self.locals[slot] if slot in self.locals else self.unknown(e.type)
            case ir.Config(name=name):
                return self.world.config(name)
            case ir.Now():
                return self.world.now
            case ir.HeaderField(instance=i, field=f):
                return self._field(i, f)
            case ir.Valid(instance=i):
                return self.packet.valid[i]
            case ir.PacketValue(name=name, for_class=for_class):
                return self._value(name, for_class)
            case ir.Unary(op="not", operand=x):
                return neg(self.value(x))
            case ir.Unary(operand=x):
                return ~self.value(x)
            case ir.Binary(op="and" | "or"):
                return self._logic(e)
            case ir.Binary():
                return self._binary(e)
            case ir.Choose(condition=c, then=a, orelse=b):
                condition = self.decided(self.points.first(e), self.value(c))
                return choose(condition, self.under(condition, a), self.under(neg(condition), b))
            case ir.LetIn(slot=slot, value=v, body=b):
                self.locals[slot] = self.value(v)
                return self.value(b)
            case ir.FnCall(fn=fn, args=args):
                return self._call(self.program.fns[fn], [self.value(a) for a in args])
            case _:
                return self._bits(e)

    def _bits(self, e: ir.Expr) -> Any:
        match e:
            case ir.Cast():
                return self._cast(e)
            case ir.BitSlice(value=v, high=h, low=low):
                return z3.Extract(h, low, self.value(v))
            case ir.Concat(left=a, right=b):
                return z3.Concat(self.value(a), self.value(b))
            case ir.Make(items=items):
                values = tuple(self.value(i) for i in items)
                return Rows(tuple((TRUE, None, v) for v in values)) if isinstance(e.type, t.SetOf) else values
            case ir.Get(value=v, index=i):
                whole = self.value(v)
                return whole[i] if isinstance(whole, tuple) else self.unknown(e.type)
            case ir.Deref(value=v):
                boxed = self.value(v)
                return boxed.value if isinstance(boxed, Boxed) else self.unknown(e.type)
            case ir.MinMax(op=op, left=a, right=b):
                first, second = self.value(a), self.value(b)
                return z3.If(z3.ULE(first, second) if op == "min" else z3.UGE(first, second), first, second)
            case ir.PacketLen():
                return resized(self.packet.length, _width(e.type))
            case ir.InPort():
                return self.packet.in_port
            case ir.PayloadLen():
                return resized(self.packet.payload_length, _width(e.type))
            case ir.PayloadBytes(low=low, high=high) if high is not None and not isinstance(e.type, t.ByteString):
                return self.packet.payload(low, high)
            case ir.RestBytes(instance=i, low=low, high=high) if not isinstance(e.type, t.ByteString):
                return self._rest(e.type, i, low, high)
            case ir.Peek(bits=count):
                return self.packet.peeked(count)
            case _:
                return self._tables(e)

    def _tables(self, e: ir.Expr) -> Any:
        match e:
            case ir.InPrefix(address=a, prefix=p):
                return in_prefix(self.value(a), self.value(p))
            case ir.InSet(item=x, set=s):
                item, rows = self.value(x), self.value(s)
                return member(item, rows) if isinstance(rows, Rows) else self.unknown(t.BOOL)
            case ir.ListIndex(table=table, index=i):
                return self._index(e, self.value(table), self.value(i), isinstance(table.type, t.Table))
            case ir.Length(table=table):
                rows = self.value(table)
                if isinstance(rows, Rows):
                    return rows.count(_width(e.type))
                return self.world.unknown_length(table, _width(e.type))
            case ir.StateRead(state=s):
                return self.world.scalar(s)
            case ir.ArrayRead(state=s, index=i):
                index = self.value(i)
                self.trap(self._beyond(s, index))
                return self.world.element(s, index)
            case ir.Contains(state=s, key=k, index=index_name):
                return self._contains(s, self.value(k), index_name)
            case ir.StateLen(state=s):
                return resized(self.world.length(s), _width(e.type))
            case ir.MethodCall(state=s, args=args):
                return self._method(e, s, [self.value(a) for a in args])
            case ir.BucketOp():
                return self._bucket(e)
            case _:  # hashes, byte strings, what only the parser has
                for child in getattr(e, "args", ()):
                    self.value(child)
                return self.unknown(e.type)

    # ------------------------------------------------------------ the packet

    def _field(self, i: int, f: int) -> Term:
        if not self._arrival and (i, f) in self.edits:
            return self.edits[i, f]
        return self.packet.field(i, f)

    def _value(self, name: str, for_class: bool) -> Any:
        """Computed once per packet, on what arrived."""
        found = self._values.get((name, for_class))
        if found is None:
            before = self.guard, self._arrival, self.locals
            self.guard, self._arrival, self.locals = TRUE, True, {}
            decl = self.program.parser.values[name]
            found = self._values[name, for_class] = self.value(decl.for_class if for_class else decl.value)
            self.guard, self._arrival, self.locals = before
        return found

    def _rest(self, type: t.Type, i: int, low: int | None, high: int | None) -> Term:
        if low is None or high is None:
            return resized(self.packet.rest_length(i), _width(type))
        return self.packet.rest(i, low, high)

    def _call(self, fn: ir.Fn, args: list[Any]) -> Any:
        before, self.locals = self.locals, dict(zip(fn.slots, args, strict=True))
        value = self.value(fn.body)
        self.locals = before
        return value

    # ------------------------------------------------------------ operators

    def _logic(self, e: ir.Binary) -> Term:
        counted = list(operands(e))
        left = self._operand(e.left, self.value(e.left), counted)
        before, self.guard = self.guard, conj(self.guard, left if e.op == "and" else neg(left))
        right = self._operand(e.right, self.value(e.right), counted)
        self.guard = before
        return conj(left, right) if e.op == "and" else disj(left, right)

    def _operand(self, e: ir.Expr, value: Term, counted: list[ir.Expr]) -> Term:
        return self.decided(self.points.condition(e) if any(e is c for c in counted) else None, value)

    def _binary(self, e: ir.Binary) -> Any:
        if isinstance(e.left, ir.Ratio) or isinstance(e.right, ir.Ratio):
            return self._ratio(e)
        a, b = self.value(e.left), self.value(e.right)
        if isinstance(e.type, t.SetOf):
            return _sets(e.op, a, b)
        if e.op in ("==", "!="):
            return equal(a, b) if e.op == "==" else neg(equal(a, b))
        if isinstance(a, (Unknown, tuple)) or isinstance(b, (Unknown, tuple)):
            return self.unknown(e.type)
        if e.op in _COMPARE:
            return _COMPARE[e.op](a, b)
        if e.op in ("/", "%"):
            self.trap(equal(b, bits(0, b.size())))
        return arithmetic(e.op, a, b)

    def _ratio(self, e: ir.Binary) -> Term:
        """amount / duration against a rate, exactly: amount · scale against rate · duration."""
        left, right, op = e.left, e.right, e.op
        if not (isinstance(left, ir.Ratio) and not isinstance(right, ir.Ratio)):
            return self.unknown(t.BOOL)
        amount, duration, rate = self.value(left.amount), self.value(left.duration), self.value(right)
        self.trap(equal(duration, bits(0, duration.size())))
        per_second = isinstance(left.type, t.Ratio) and left.type.rate == "bitrate"
        scale = SCALE["bytes" if per_second else "packets"]
        a = resized(amount, _WIDE) * bits(scale, _WIDE)
        b = resized(rate, _WIDE) * resized(duration, _WIDE)
        if op in ("==", "!="):
            return a == b if op == "==" else a != b
        return _COMPARE[op](a, b)

    def _cast(self, e: ir.Cast) -> Term:
        value = self.value(e.value)
        width = _width(e.type)
        if z3.is_bool(value):
            return z3.If(value, bits(1, width), bits(0, width))
        if e.mapped:
            return resized(value, width) | bits(0xFFFF_0000_0000, width)
        return resized(value, width)

    # ------------------------------------------------------------ tables and state

    def _index(self, e: ir.ListIndex, rows: Any, index: Term, hashed: bool) -> Any:
        if not isinstance(rows, Rows):
            self.trap(self.unknown(t.BOOL))
            return self.unknown(e.type)
        width = index.size()
        if hashed:  # a row of a maglev table: any
            index = self.unknown(t.Bits(width))
            self.world.limits.append(disj(z3.ULT(index, rows.count(width)), rows.count(width) == 0))
        self.trap(neg(disj(*(conj(there, index == n) for n, (there, _, _) in enumerate(rows.rows)))))
        boxed = isinstance(e.type, t.Ref)
        value: Any = None
        for n, (_, _, row) in enumerate(rows.rows):
            value = row if value is None else choose(index == n, row, value)
        if value is None:
            return self.unknown(e.type)
        return Boxed(value) if boxed else value

    def _contains(self, state: str, key: Any, index: str | None) -> Term:
        if not isinstance(self.program.state[state], ir.MapDecl):
            return self.unknown(t.BOOL)
        return (self.world.get(state, key) if index is None else self.world.find(state, index, key))[0]

    def _beyond(self, state: str, index: Term) -> Term:
        """Is the index past the end of an array?"""
        decl = self.program.state[state]
        assert isinstance(decl, ir.ArrayDecl)
        return FALSE if decl.size >> index.size() else z3.UGE(index, decl.size)

    def _method(self, e: ir.MethodCall, state: str, args: list[Any]) -> Any:
        if isinstance(self.program.state[state], ir.MapDecl):
            self.put(state, args[0], ())
            return ()
        return () if e.type == t.Tuple(()) else self.unknown(e.type)

    def put(self, state: str, key: Any, value: Any) -> None:
        """`m[k] = v`, and what the map computes of it."""
        raise NotImplementedError

    def _bucket(self, e: ir.BucketOp) -> Term:
        place = e.place
        key = self.value(place.key) if place.key is not None else None
        n, rate, burst = self.value(e.amount), self.value(e.rate), self.value(e.burst)
        whole = self._whole(place, key)
        bucket = _member(whole, place.path)
        if not self.world.exact or not isinstance(bucket, tuple):
            return self.unknown(t.BOOL)
        scale = bits(SCALE["packets" if e.rate.type == t.PACKETRATE else "bytes"], _WIDE)
        held = self._refilled(bucket, resized(rate, _WIDE), resized(burst, _WIDE) * scale)
        wanted = resized(n, _WIDE) * scale
        untouched = z3.is_bv_value(bucket[0]) and bucket[0].as_long() == FULL[0]
        there = z3.simplify(z3.UGE(resized(burst, _WIDE), resized(n, _WIDE)) if untouched else z3.UGE(held, wanted))
        if e.take:
            left = (z3.Extract(TOKENS - 1, 0, held - wanted), resized(self.world.now, TIME))
            self._store(place, key, _with_member(whole, place.path, choose(there, left, bucket)))
        return there

    def _refilled(self, bucket: tuple[Term, Term], rate: Term, full: Term) -> Term:
        """What the bucket holds now; one that was never used is full."""
        tokens, last = bucket
        if z3.is_bv_value(tokens) and tokens.as_long() == FULL[0]:
            return full
        held = resized(tokens, _WIDE) + resized(self.world.now - last, _WIDE) * rate
        return z3.If(z3.ULE(full, held), full, held)

    def _whole(self, place: ir.Place, key: Any) -> Any:
        """The value that a bucket is part of."""
        match self.program.state[place.state]:
            case ir.ScalarDecl():
                return self.world.scalar(place.state)
            case ir.ArrayDecl():
                self.trap(self._beyond(place.state, key))
                return self.world.element(place.state, key)
            case _:
                return self.present(place.state, key)

    def present(self, state: str, key: Any) -> Any:
        """An entry's value, or the initial one (L7.3)."""
        decl = self.program.state[state]
        assert isinstance(decl, ir.MapDecl) and decl.value is not None
        found, value = self.world.get(state, key)
        if owns(decl.value):
            self.trap(neg(found))
            return value
        return choose(found, value, lift(decl.value, zero(decl.value)))

    def _store(self, place: ir.Place, key: Any, value: Any) -> None:
        if isinstance(self.program.state[place.state], ir.MapDecl):
            self.put(place.state, key, value)
        else:
            self.world.write(self.guard, place.state, key, value)


# ---------------------------------------------------------------- terms


def resized(term: Term, width: int) -> Term:
    """Truncated, or extended with zeros."""
    have = term.size()
    if have == width:
        return term
    return z3.Extract(width - 1, 0, term) if have > width else z3.ZeroExt(width - have, term)


def arithmetic(op: str, a: Term, b: Term) -> Term:
    """`a op b` as LANGUAGE.md L3.4 and L3.6 have it; a division by zero is the caller's business."""
    match op:
        case "+":
            return a + b
        case "-":
            return a - b
        case "*":
            return a * b
        case "/":
            return z3.UDiv(a, b)
        case "%":
            return z3.URem(a, b)
        case "&":
            return a & b
        case "|":
            return a | b
        case "^":
            return a ^ b
    width = max(a.size(), b.size())
    wide, by = resized(a, width), resized(b, width)
    return resized(wide << by if op == "<<" else z3.LShR(wide, by), a.size())


def in_prefix(address: Term, prefix: Any) -> Term:
    """Is the address inside?"""
    if not isinstance(prefix, Prefix):
        return anything(t.BOOL)
    if prefix.bits != address.size():
        return FALSE
    if prefix.length == 0:
        return TRUE
    low = prefix.bits - prefix.length
    return z3.Extract(prefix.bits - 1, low, address) == z3.Extract(prefix.bits - 1, low, prefix.value)


def member(item: Any, rows: Rows) -> Term:
    return disj(*(conj(there, equal(item, value)) for there, _, value in rows.rows))


def _sets(op: str, a: Any, b: Any) -> Any:
    if not isinstance(a, Rows) or not isinstance(b, Rows):
        return UNKNOWN
    if op == "+":
        return Rows((*a.rows, *b.rows))
    return Rows(tuple((conj(there, neg(member(v, b))), key, v) for there, key, v in a.rows))


def _member(value: Any, path: tuple[int, ...]) -> Any:
    for i in path:
        value = value[i] if isinstance(value, tuple) else UNKNOWN
    return value


def _with_member(value: Any, path: tuple[int, ...], new: Any) -> Any:
    if not path:
        return new
    i = path[0]
    return (*value[:i], _with_member(value[i], path[1:], new), *value[i + 1 :])


def _width(type: t.Type) -> int:
    width = t.width(type)
    return 64 if width is None else width
