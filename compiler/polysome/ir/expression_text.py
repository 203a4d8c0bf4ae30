"""Expressions of the typed program as text: close to how a spec would say them, with nothing left implicit.

Locals are `name.slot`, widths that change show as casts, and a value of the parser that is meant as in a class clause
is `class flow`.
"""

from __future__ import annotations

import ipaddress
from typing import Any

from polysome.ir import program as ir
from polysome.ir import types as t


class ExpressionText:
    """Writes expressions of one program, whose headers and ports have names."""

    def __init__(self, program: ir.Program) -> None:
        self.program = program

    def instance(self, number: int) -> str:
        return self.program.parser.instances[number].name if number >= 0 else "this"

    def field(self, instance: int, index: int) -> str:
        """`ipv4.dst`; in a header's own rules `this.ihl`."""
        if instance < 0:
            return f"this.{index}"
        return f"{self.instance(instance)}.{self.program.parser.instances[instance].header.fields[index].name}"

    def expr(self, e: ir.Expr) -> str:
        """The expression, in parentheses where precedence could matter."""
        match e:
            case ir.Const(type=type, value=value):
                return constant(type, value, self.program.ports)
            case ir.Local(slot=slot, name=name):
                return f"{name}.{slot}"
            case ir.Config(name=name) | ir.StateRead(state=name):
                return name
            case ir.HeaderField(instance=i, field=f):
                return self.field(i, f)
            case ir.Valid(instance=i):
                return self.instance(i)
            case ir.PacketValue(name=name, for_class=for_class):
                return f"class {name}" if for_class else name
            case ir.Unary(op=op, operand=a):
                return f"({op} {self.expr(a)})" if op.isalpha() else f"{op}{self.expr(a)}"
            case ir.Binary(op=op, left=a, right=b):
                return f"({self.expr(a)} {op} {self.expr(b)})"
            case ir.Choose(condition=c, then=a, orelse=b):
                return f"if {self.expr(c)} {{ {self.expr(a)} }} else {{ {self.expr(b)} }}"
            case ir.LetIn(slot=slot, value=v, body=b):
                return f"{{ let {slot} = {self.expr(v)}; {self.expr(b)} }}"
            case ir.Cast(value=v):
                return f"({self.expr(v)} as {e.type})"
            case ir.Make(items=items):
                return self._make(e, items)
            case ir.Get(value=v, index=i):
                return f"{self.expr(v)}.{member(v.type, i)}"
            case ir.Deref(value=v):
                return f"(*{self.expr(v)})"
            case _:
                return self._packet(e)

    def _make(self, e: ir.Make, items: tuple[ir.Expr, ...]) -> str:
        match e.type:
            case t.Struct(name=name, fields=fields):
                pairs = ", ".join(f"{f}: {self.expr(i)}" for (f, _), i in zip(fields, items, strict=True))
                return f"{name} {{ {pairs} }}"
            case t.SetOf():
                return "{" + ", ".join(map(self.expr, items)) + "}"
            case _:
                return "(" + ", ".join(map(self.expr, items)) + ")"

    def _packet(self, e: ir.Expr) -> str:
        match e:
            case ir.Now():
                return "now"
            case ir.PacketLen():
                return "len"
            case ir.InPort():
                return "in_port"
            case ir.PayloadLen():
                return "payload.len"
            case ir.PayloadBytes(low=low, high=high):
                return f"payload[{low}..{'' if high is None else high}]"
            case ir.PacketFrom(instance=i, limit=limit):
                return f"packet_from({self.instance(i)}, {limit}B)"
            case ir.RestBytes(instance=i, field=f, low=low, high=high):
                return self.field(i, f) + (f"[{low}..{high}]" if low is not None else ".len")
            case ir.Peek(bits=bits):
                return f"peek({bits})"
            case ir.HeaderBytes(rest=rest):
                return "rest" if rest else "header"
            case ir.BitSlice(value=v, high=high, low=low):
                return f"{self.expr(v)}[{high}:{low}]"
            case ir.Concat(left=a, right=b):
                return f"({self.expr(a)} ++ {self.expr(b)})"
            case ir.Ratio(amount=a, duration=d):
                return f"({self.expr(a)} / {self.expr(d)})"
            case _:
                return self._call(e)

    def _call(self, e: ir.Expr) -> str:
        match e:
            case ir.Hash(args=args):
                return f"hash({self.list(args)})"
            case ir.MinMax(op=op, left=a, right=b):
                return f"{op}({self.expr(a)}, {self.expr(b)})"
            case ir.FnCall(fn=fn, args=args):
                return f"{fn}({self.list(args)})"
            case ir.InPrefix(address=a, prefix=b) | ir.InSet(item=a, set=b):
                return f"({self.expr(a)} in {self.expr(b)})"
            case ir.ListIndex(table=table, index=index):
                return f"{self.expr(table)}[{self.expr(index)}]"
            case ir.Length(table=table):
                return f"{self.expr(table)}.len"
            case ir.ArrayRead(state=state, index=index):
                return f"{state}[{self.expr(index)}]"
            case ir.Contains(state=state, key=key, index=index_name):
                return f"({self.expr(key)} in {f'{state}.{index_name}' if index_name else state})"
            case ir.StateLen(state=state):
                return f"{state}.len"
            case ir.MethodCall(state=state, method=method, args=args):
                return f"{state}.{method}({self.list(args)})"
            case ir.BucketOp(place=place, take=take, amount=n, rate=r, burst=b):
                name = "take" if take else "has"
                return f"{self.place(place)}.{name}({self.expr(n)}, rate: {self.expr(r)}, burst: {self.expr(b)})"
            case _:
                raise AssertionError(f"{type(e).__name__} has no text")

    def list(self, items: tuple[ir.Expr, ...]) -> str:
        return ", ".join(map(self.expr, items))

    def place(self, place: ir.Place) -> str:
        """`m[k].1`: a place of a token bucket; members by position."""
        key = "" if place.key is None else f"[{self.expr(place.key)}]"
        return place.state + key + "".join(f".{i}" for i in place.path)


def member(type: t.Type, index: int) -> str:
    """The name of a member of a struct or entry, the position in a tuple."""
    match type:
        case t.Struct(fields=fields):
            return fields[index][0]
        case t.Entry():
            return ("key", "value")[index]
        case _:
            return str(index)


def constant(type: t.Type, value: Any, ports: tuple[str, ...]) -> str:
    """A value of that type as a literal; quantities in their smallest unit."""
    match type:
        case t.Bool():
            return "true" if value else "false"
        case t.Address(name="ipv4"):
            return str(ipaddress.IPv4Address(value))
        case t.Address(name="ipv6"):
            return str(ipaddress.IPv6Address(value))
        case t.Address():
            return ":".join(f"{byte:02x}" for byte in value.to_bytes(6, "big"))
        case t.Quantity(name=name):
            unit = {"time": "ns", "duration": "ns", "bytes": "B", "bitrate": "bps", "packetrate": "pps"}.get(name, "")
            return f"{value}{unit}"
        case t.Port():
            return ports[int(value)]
        case t.SetOf(item=item):
            return "{" + ", ".join(constant(item, v, ports) for v in sorted(value)) + "}"
        case t.Enum(name=name, members=members):
            member_name = next((m for m, n in members if n == value), value)
            return f"{name}.{member_name}"
        case t.Struct(name=name, fields=fields):
            pairs = (f"{f}: {constant(ft, v, ports)}" for (f, ft), v in zip(fields, value, strict=True))
            return f"{name} {{ {', '.join(pairs)} }}"
        case t.Tuple(items=items):
            return "(" + ", ".join(constant(i, v, ports) for i, v in zip(items, value, strict=True)) + ")"
        case _:
            return str(value)
