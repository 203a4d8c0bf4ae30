"""Expressions of the typed program to Python expressions.

The program is translated once, to Python source, and compiled; this is what makes the reference interpreter fast enough
for real captures. Each case below is the meaning of one node; read it beside LANGUAGE.md section 3.

In the generated code `p` is the Packet, `d` its bytes, `o` the offsets of its headers; `s<n>` are locals; the names of
`runtime_names` are functions of `interp.support` and objects of the machine.
"""

from __future__ import annotations

from typing import Any

from polysome.ir import operators
from polysome.ir import program as ir
from polysome.ir import types as t


class ExpressionCode:
    """Translates expressions. `constants` collects values that have no literal; `written` the fields ever written."""

    def __init__(self, program: ir.Program) -> None:
        self.program = program
        self.constants: dict[str, Any] = {}
        self.written: set[tuple[int, int]] = set()
        self.value_numbers = {name: i for i, name in enumerate(program.parser.values)}
        self.arrival = False  # read fields as they arrived, not as last written

    def constant(self, value: Any) -> str:
        """A name for a value in the generated code's globals."""
        name = f"K{len(self.constants)}"
        self.constants[name] = value
        return name

    def place(self, node: ir.Node) -> str:
        return repr(self.program.place(node.span))

    # ------------------------------------------------------------ dispatch

    def code(self, e: ir.Expr) -> str:
        """The Python expression for `e`; always parenthesised where precedence could matter."""
        match e:
            case ir.Const(value=v):
                return repr(v) if isinstance(v, (int, bool, str)) else self.constant(v)
            case ir.Local(slot=slot):
                return f"s{slot}"
            case ir.Config(name=name):
                return f"CFG[{name!r}]"
            case ir.Now():
                return "clock.now"
            case ir.PacketLen():
                return "p.length"
            case ir.InPort():
                return "p.in_port"
            case ir.HeaderField():
                return self._field(e)
            case ir.Valid(instance=i):
                return f"(o[{i}] >= 0)"
            case ir.PacketValue(name=name, for_class=for_class):
                return f"value_{self.value_numbers[name]}{'c' if for_class else ''}(p)"
            case ir.Unary(op="not", operand=x):
                return f"(not {self.code(x)})"
            case ir.Unary(operand=x):
                return operators.inverted_text(e, self.code(x))
            case ir.Binary():
                return self._binary(e)
            case ir.Choose(condition=c, then=a, orelse=b):
                return f"({self.code(a)} if {self.code(c)} else {self.code(b)})"
            case ir.LetIn(slot=slot, value=v, body=b):
                return f"((s{slot} := {self.code(v)}), {self.code(b)})[1]"
            case ir.Cast(value=v):
                return operators.cast_text(e, self.code(v))
            case ir.BitSlice(value=v):
                return operators.slice_text(e, self.code(v))
            case ir.Concat(left=a, right=b):
                return operators.concat_text(e, self.code(a), self.code(b))
            case ir.Make(items=items):
                inner = "(" + "".join(self.code(i) + ", " for i in items) + ")"
                return f"frozenset({inner})" if isinstance(e.type, t.SetOf) else inner
            case ir.Get(value=v, index=i):
                return f"{self.code(v)}[{i}]"
            case ir.Deref(value=v):
                return f"{self.code(v)}.value"
            case ir.MinMax(left=a, right=b):
                return operators.minmax_text(e, self.code(a), self.code(b))
            case _:
                return self._rare(e)

    def _rare(self, e: ir.Expr) -> str:
        match e:
            case ir.PayloadLen():
                return "(p.end - p.payload)"
            case ir.PayloadBytes(low=low, high=high):
                if isinstance(e.type, t.ByteString):
                    stop = "p.end" if high is None else f"min(p.payload + {high}, p.end)"
                    return f"d[p.payload + {low} : {stop}]"
                return f"slice_bits(d, {low}, {high}, p.payload, p.end)"
            case ir.PacketFrom(instance=i, limit=limit):
                return f"d[o[{i}] : min(o[{i}] + {limit}, p.end)]"
            case ir.RestBytes():
                return self._rest(e)
            case ir.Peek(bits=bits):
                return f"read_bits(d, p.pos * 8, {bits}, p.room)"
            case ir.Hash(args=args):
                encode = self.constant(t.Tuple(tuple(a.type for a in args)))
                return f"hash64(encoders[{encode}](({''.join(self.code(a) + ', ' for a in args)})))"
            case ir.InPrefix(address=a, prefix=p):
                return f"in_prefix({self.code(a)}, {self.code(p)}, {t.width(a.type)})"
            case ir.InSet(item=x, set=s):
                if isinstance(s.type, t.ListOf):
                    rows = f"[row.value for row in {self.code(s)}]" if isinstance(s, ir.Config) else self.code(s)
                    return f"({self.code(x)} in {rows})"
                return f"({self.code(x)} in {self.code(s)})"
            case ir.ListIndex(table=table, index=i):
                return f"{self._index_function(table)}({self.code(table)}, {self.code(i)}, {self.place(e)})"
            case ir.Length(table=table):
                return operators.reduced_text(f"len({self.code(table)})", e.type)
            case ir.FnCall(fn=fn, args=args):
                return f"fn_{fn}({', '.join(self.code(a) for a in args)})"
            case _:
                return self._state(e)

    def _state(self, e: ir.Expr) -> str:
        match e:
            case ir.StateRead(state=s):
                return f"scalars[{s!r}]"
            case ir.ArrayRead(state=s, index=i):
                return f"at(STATE[{s!r}].get, {self.code(i)}, {self.place(e)})"
            case ir.Contains(state=s, key=k, index=index):
                if index is not None:
                    return f"STATE[{s!r}].has({index!r}, {self.code(k)})"
                if isinstance(self.program.state[s], ir.MapDecl):
                    return f"STATE[{s!r}].contains({self.code(k)})"
                return f"({self.code(k)} in STATE[{s!r}])"
            case ir.StateLen(state=s):
                return operators.reduced_text(self._state_len(self.program.state[s]), e.type)
            case ir.MethodCall(state=s, method=m, args=args):
                if isinstance(self.program.state[s], ir.MapDecl):
                    return f"at(STATE[{s!r}].put, {self.code(args[0])}, {self.place(e)}, None)"
                return f"STATE[{s!r}].{m}({', '.join(self.code(a) for a in args)})"
            case ir.BucketOp():
                return self._bucket(e)
            case ir.Ratio():
                raise AssertionError("ratios stand only in comparisons")
            case _:
                raise AssertionError(f"no code for {type(e).__name__}")

    def _state_len(self, decl: ir.AnyState) -> str:
        if isinstance(decl, ir.PoolDecl):
            return f"state_len({decl.name!r}, {'None' if decl.per is None else 'p'})"
        return f"len(STATE[{decl.name!r}])"

    # ------------------------------------------------------------ header fields

    def _field(self, e: ir.HeaderField) -> str:
        """As last written, if it is ever written and this is not about the packet as it arrived."""
        load = self._load(e.instance, e.field)
        if self.arrival or (e.instance, e.field) not in self.written:
            return load
        key = e.instance << 16 | e.field
        return f"(p.edits[{key}] if {key} in p.edits else {load})"

    def _load(self, i: int, index: int) -> str:
        instance = self.program.parser.instances[i]
        f = instance.header.fields[index]
        if instance.cut is not None:
            value = f"read_bits(d, o[{i}] * 8 + {f.offset}, {f.width}, p.header_end[{i}])"
        else:
            first, last = f.offset // 8, (f.offset + f.width + 7) // 8
            if last - first == 1:
                value = f"d[o[{i}] + {first}]"
            else:
                value = f"from_bytes(d[o[{i}] + {first} : o[{i}] + {last}], 'big')"
            shift = last * 8 - f.offset - f.width
            if shift:
                value = f"({value} >> {shift})"
            if (last - first) * 8 - shift != f.width:
                value = f"({value} & {(1 << f.width) - 1})"
        return f"({value} != 0)" if isinstance(f.type, t.Bool) else value

    def _rest(self, e: ir.RestBytes) -> str:
        start = f"o[{e.instance}] + {self.program.parser.instances[e.instance].header.fixed}"
        if e.low is None:
            if isinstance(e.type, t.ByteString):
                return f"d[{start} : p.header_end[{e.instance}]]"
            return f"max(0, p.header_end[{e.instance}] - ({start}))"
        if isinstance(e.type, t.ByteString):
            return f"d[{start} + {e.low} : min({start} + {e.high}, p.header_end[{e.instance}])]"
        return f"slice_bits(d, {e.low}, {e.high}, {start}, p.header_end[{e.instance}])"

    # ------------------------------------------------------------ arithmetic

    def _binary(self, e: ir.Binary) -> str:
        if isinstance(e.left, ir.Ratio) or isinstance(e.right, ir.Ratio):
            return self._ratio(e)
        a, b, op = self.code(e.left), self.code(e.right), e.op
        if op in ("and", "or"):
            return f"({a} {op} {b})"
        if op in operators.COMPARISONS:
            return operators.comparison_text(op, a, b)
        if op in operators.DIVISIONS and not (isinstance(e.right, ir.Const) and e.right.value):
            return f"{'divide' if op == '/' else 'modulo'}({a}, {b}, {self.place(e)})"
        return operators.arithmetic_text(e, a, b)

    def _ratio(self, e: ir.Binary) -> str:
        """amount / duration against a rate: as fractions, so exactly."""
        sides = []
        for side in (e.left, e.right):
            if isinstance(side, ir.Ratio):
                scale = 8 * 10**9 if isinstance(side.type, t.Ratio) and side.type.rate == "bitrate" else 10**9
                sides.append(f"per({self.code(side.amount)} * {scale}, {self.code(side.duration)}, {self.place(side)})")
            else:
                sides.append(self.code(side))
        return f"({sides[0]} {e.op} {sides[1]})"

    def _index_function(self, table: ir.Expr) -> str:
        return "hashed_row" if isinstance(table.type, t.Table) else "list_row"

    def _bucket(self, e: ir.BucketOp) -> str:
        place = e.place
        unit = "packets" if e.rate.type == t.PACKETRATE else "bytes"
        key = self.code(place.key) if place.key is not None else "None"
        args = (self.code(e.amount), self.code(e.rate), self.code(e.burst))
        return (
            f"bucket_{'take' if e.take else 'has'}({place.state!r}, {key}, {place.path!r}, {', '.join(args)}, "
            f"{unit!r}, {self.place(e)})"
        )
