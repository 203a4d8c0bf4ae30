"""Expressions of the typed program to terms: the meaning of interp/expression_code, for all packets at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

from polysome import smt
from polysome.ir import program as ir
from polysome.ir import types as t
from polysome.ir.operators import MAPPED
from polysome.kinds.state.token_bucket import SCALE
from polysome.symbolic.terms import COMPARE, arithmetic, in_prefix, member, resized, sets, width
from polysome.symbolic.values import (
    TRUE,
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

WIDE = 160  # bits in which no product of a ratio or a token bucket overflows


class PacketTerms(Protocol):
    """A packet as expressions read it. Lengths in bytes, of any width; fields of headers that are absent: anything."""

    @property
    def in_port(self) -> Term: ...

    @property
    def valid(self) -> Sequence[Term]:
        """By header instance."""

    @property
    def length(self) -> Term: ...

    @property
    def payload_length(self) -> Term: ...

    def field(self, i: int, f: int) -> Term:
        """A field of header instance i: a Bool if that is its type."""

    def payload(self, low: int, high: int) -> Term:
        """Bytes of the payload, zeros beyond its end."""

    def rest(self, i: int, low: int, high: int) -> Term:
        """Bytes of a header's `rest`, zeros beyond its end."""

    def rest_length(self, i: int) -> Term: ...

    def peeked(self, count: int) -> Term:
        """The next bits, where the parser is."""


class Expressions:
    """Terms of the expressions that are computed of a packet; all others are anything of their type."""

    def __init__(self, program: ir.Program, packet: PacketTerms) -> None:
        self.program, self.packet = program, packet
        self.locals: dict[int, Any] = {}
        self._values: dict[tuple[str, bool], Any] = {}

    # ------------------------------------------------------------ for subclasses

    def unknown(self, type: t.Type) -> Any:
        """A value that may be anything of the type."""
        return anything(type)

    def trap(self, condition: Term) -> None:
        """If the condition holds here, the value is not defined and the handler ends."""

    @contextmanager
    def guarded(self, condition: Term) -> Iterator[None]:
        """What is evaluated inside is only evaluated if the condition holds."""
        yield

    def under(self, condition: Term, e: ir.Expr) -> Any:
        """The value of `e`, which is only evaluated if the condition holds; else it does not matter."""
        with self.guarded(condition):
            return self.value(e)

    @contextmanager
    def arrival(self) -> Iterator[None]:
        """What is evaluated inside is about the packet as it arrived, once."""
        before, self.locals = self.locals, {}
        yield
        self.locals = before

    def decision(self, e: ir.Choose, condition: Term) -> Term:
        """The condition of a choice, as the choice is to use it."""
        return condition

    def operand(self, e: ir.Binary, side: ir.Expr, value: Term) -> Term:
        """The value of a side of `and` or `or`, as that is to use it."""
        return value

    def other(self, e: ir.Expr) -> Any:
        """What is not computed of the packet alone."""
        for child in getattr(e, "args", ()):
            self.value(child)
        return self.unknown(e.type)

    # ------------------------------------------------------------ dispatch

    def value(self, e: ir.Expr) -> Any:
        match e:
            case ir.Const(type=type, value=v):
                return lift(type, v)
            case ir.Local(slot=slot):
                return self.locals[slot] if slot in self.locals else self.unknown(e.type)
            case ir.HeaderField(instance=i, field=f):
                return self.field(i, f)
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
                condition = self.decision(e, self.value(c))
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
                return smt.Extract(h, low, self.value(v))
            case ir.Concat(left=a, right=b):
                return smt.Concat(self.value(a), self.value(b))
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
                return smt.If(smt.ULE(first, second) if op == "min" else smt.UGE(first, second), first, second)
            case ir.InPrefix(address=a, prefix=p):
                return in_prefix(self.value(a), self.value(p))
            case ir.InSet(item=x, set=s):
                item, rows = self.value(x), self.value(s)
                return member(item, rows) if isinstance(rows, Rows) else self.unknown(t.BOOL)
            case _:
                return self._packet(e)

    def _packet(self, e: ir.Expr) -> Any:
        match e:
            case ir.PacketLen():
                return resized(self.packet.length, width(e.type))
            case ir.InPort():
                return self.packet.in_port
            case ir.PayloadLen():
                return resized(self.packet.payload_length, width(e.type))
            case ir.PayloadBytes(low=low, high=high) if high is not None and not isinstance(e.type, t.ByteString):
                return self.packet.payload(low, high)
            case ir.RestBytes(instance=i, low=low, high=high) if not isinstance(e.type, t.ByteString):
                if low is None or high is None:
                    return resized(self.packet.rest_length(i), width(e.type))
                return self.packet.rest(i, low, high)
            case ir.Peek(bits=count):
                return self.packet.peeked(count)
            case _:
                return self.other(e)

    # ------------------------------------------------------------ parts

    def field(self, i: int, f: int) -> Term:
        return self.packet.field(i, f)

    def _value(self, name: str, for_class: bool) -> Any:
        """Computed once per packet, on what arrived."""
        found = self._values.get((name, for_class))
        if found is None:
            decl = self.program.parser.values[name]
            with self.arrival():
                found = self._values[name, for_class] = self.value(decl.for_class if for_class else decl.value)
        return found

    def _call(self, fn: ir.Fn, args: list[Any]) -> Any:
        before, self.locals = self.locals, dict(zip(fn.slots, args, strict=True))
        value = self.value(fn.body)
        self.locals = before
        return value

    # ------------------------------------------------------------ operators

    def _logic(self, e: ir.Binary) -> Term:
        left = self.operand(e, e.left, self.value(e.left))
        with self.guarded(left if e.op == "and" else neg(left)):
            right = self.operand(e, e.right, self.value(e.right))
        return conj(left, right) if e.op == "and" else disj(left, right)

    def _binary(self, e: ir.Binary) -> Any:
        if isinstance(e.left, ir.Ratio) or isinstance(e.right, ir.Ratio):
            return self._ratio(e)
        a, b = self.value(e.left), self.value(e.right)
        if isinstance(e.type, t.SetOf):
            return sets(e.op, a, b)
        if e.op in ("==", "!="):
            return equal(a, b) if e.op == "==" else neg(equal(a, b))
        if isinstance(a, (Unknown, tuple)) or isinstance(b, (Unknown, tuple)):
            return self.unknown(e.type)
        if e.op in COMPARE:
            return COMPARE[e.op](a, b)
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
        a = resized(amount, WIDE) * bits(scale, WIDE)
        b = resized(rate, WIDE) * resized(duration, WIDE)
        if op in ("==", "!="):
            return a == b if op == "==" else a != b
        return COMPARE[op](a, b)

    def _cast(self, e: ir.Cast) -> Term:
        value = self.value(e.value)
        size = width(e.type)
        if smt.is_bool(value):
            return smt.If(value, bits(1, size), bits(0, size))
        if e.mapped:
            return resized(value, size) | bits(MAPPED, size)
        return resized(value, size)
