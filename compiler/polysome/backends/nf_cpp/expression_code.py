"""Expressions of the typed program to C++ expressions.

Read each case beside LANGUAGE.md section 3 and `interp/expression_code.py`, which is the meaning. In the generated
code `f` is the Fields struct, `e` the Edits, `a` what was computed ahead; locals have the spec's names.

What may end the handler (a division by zero, an index past the end) is a statement expression, `({ … })`, that
returns: clang and g++ both have it, and nothing is thrown on a packet's path.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from polysome.backends.nf_cpp import types_code as tc
from polysome.backends.nf_cpp.constants_code import Reasons, instance_name, port_names
from polysome.backends.nf_cpp.names import OWN, identifier
from polysome.backends.nf_cpp.reads import Leaf, leaf_name
from polysome.backends.nf_cpp.types_code import Unsupported, cpp, number
from polysome.ir import program as ir
from polysome.ir import types as t
from polysome.ir.operators import COMPARISONS, MAPPED
from polysome.ir.reads import children
from polysome.kinds.values import Prefix


@dataclass
class Shared:
    """What all functions of one generated NF share."""

    program: ir.Program
    reasons: Reasons = field(default_factory=Reasons)
    leaves: dict[str, Leaf] = field(default_factory=dict)
    written: set[tuple[int, int]] = field(default_factory=set)
    types: dict[t.Type, None] = field(default_factory=dict)
    trapping: dict[str, bool] = field(default_factory=dict)

    def cpp(self, type: t.Type) -> str:
        self.types.setdefault(type)
        return cpp(type)


class PlainExpressions:
    """Translates the expressions of one function, but for those over state.

    `trap(reason)` is the statement that ends the function. `arrival`: fields as they arrived, not as last
    written.
    `ahead` maps the C++ text of a value computed before the handler to where it is.
    """

    def __init__(self, shared: Shared, trap: Callable[[str], str], arrival: bool = False) -> None:
        self.shared = shared
        self.program = shared.program
        self.trap = trap
        self.arrival = arrival
        self.locals: dict[tuple[int, str], str] = {}  # by slot and C++ type: a slot may hold a row, then its value
        self.used: set[str] = set(OWN)
        self.temporary = 0

    # ------------------------------------------------------------ names

    def local(self, slot: int, name: str, type: t.Type) -> str:
        place = slot, cpp(type)
        if place not in self.locals:
            self.locals[place] = identifier(name, self.used)
            self.used.add(self.locals[place])
        return self.locals[place]

    def temp(self, name: str) -> str:
        """A name that nothing in this function has yet."""
        while True:
            self.temporary += 1
            if (found := f"{name}_{self.temporary}") not in self.used:
                return found

    def condition(self, e: ir.Expr) -> str:
        """`e` for between the parentheses of an `if`."""
        text = self.code(e)
        return text[1:-1] if _wrapped(text) else text

    def reason(self, text: str, node: ir.Node | None = None) -> str:
        return self.shared.reasons.name(text if node is None else f"{text} ({self.program.place(node.span)})")

    def config(self, name: str) -> str:
        return f"config.{identifier(name)}"

    # ------------------------------------------------------------ dispatch

    def code(self, e: ir.Expr) -> str:
        """The C++ expression for `e`, in parentheses wherever precedence could matter."""
        match e:
            case ir.Const():
                return self.const(e)
            case ir.Local(slot=slot, name=name):
                return self.local(slot, name, e.type)
            case ir.Config(name=name):
                return self.config(name)
            case ir.Now():
                return "clock.now"
            case ir.PacketLen():
                return self._sized("f.len", e.type)
            case ir.InPort():
                return "f.in_port"
            case ir.Valid(instance=i):
                return f"f.has({self.instance(i)})"
            case ir.HeaderField(instance=i, field=n):
                return self._field(e, i, n)
            case ir.PayloadLen() | ir.PayloadBytes() | ir.PacketFrom() | ir.RestBytes():
                return f"f.{self.leaf(e)}"
            case ir.PacketValue(name=name, for_class=for_class):
                return self._value(name, for_class)
            case ir.Unary(op="not", operand=x):
                return f"!{self.code(x)}"
            case ir.Unary(operand=x):
                return self._reduced(f"~{self.code(x)}", e.type)
            case ir.Binary():
                return self._binary(e)
            case ir.Choose(condition=c, then=a, orelse=b):
                return f"({self.code(c)} ? {self.code(a)} : {self.code(b)})"
            case ir.LetIn(slot=slot, value=v, body=b):
                value = self.code(v)
                name = self.local(slot, "let", v.type)
                return f"({{ const auto {name} = {value}; {self.code(b)}; }})"
            case ir.Cast():
                return self._cast(e)
            case ir.BitSlice(value=v, high=h, low=low):
                mask = number((1 << (h - low + 1)) - 1, cpp(v.type))
                return f"static_cast<{cpp(e.type)}>({self.code(v)} >> {low} & {mask})"
            case ir.Concat(left=a, right=b):
                wide = cpp(e.type)
                shift = t.width(b.type)
                return f"static_cast<{wide}>(static_cast<{wide}>({self.code(a)}) << {shift} | {self.code(b)})"
            case ir.Make(items=items):
                return self._make(e, items)
            case ir.Get(value=v, index=i):
                return self._get(v, i)
            case ir.Deref(value=v):
                return self._deref(v)
            case ir.MinMax(op=op, left=a, right=b):
                return self.in_order([a, b], lambda x: f"std::{op}<{self.shared.cpp(e.type)}>({x[0]}, {x[1]})")
            case _:
                return self._rare(e)

    def _rare(self, e: ir.Expr) -> str:
        match e:
            case ir.Hash(args=args):
                return self.hashed([(a.type, self.code(a)) for a in args])
            case ir.InPrefix(address=a, prefix=p):
                return f"{self.code(p)}.contains({self.code(a)}, {t.width(a.type)})"
            case ir.InSet(item=x, set=s):
                return self._in_set(x, s)
            case ir.ListIndex():
                return self._list_index(e)
            case ir.Length(table=table):
                return self._sized(f"{self.code(table)}.size()", e.type)
            case ir.FnCall(fn=fn, args=args):
                return self._call(fn, [self.code(a) for a in args])
            case _:
                return self.stateful(e)

    def stateful(self, e: ir.Expr) -> str:
        """What reads or changes state: `state_expressions.py`."""
        raise Unsupported(f"{type(e).__name__} at {self.program.place(e.span)}")

    # ------------------------------------------------------------ order and traps

    def in_order(self, operands: list[ir.Expr], build: Callable[[list[str]], str]) -> str:
        """`build` over the operands; those that may end the handler or change state come first, left to right."""
        if sum(self.acts(o) for o in operands) < 2:
            return build([self.code(o) for o in operands])
        names, lines = [], []
        for o in operands:
            names.append(self.temp("operand"))
            lines.append(f"const auto {names[-1]} = {self.code(o)};")
        return f"({{ {' '.join(lines)} {build(names)}; }})"

    def acts(self, e: ir.Expr) -> bool:
        """May `e` end the handler, or does it change state?"""
        match e:
            case ir.Binary(op="/" | "%", right=right) if not (isinstance(right, ir.Const) and right.value):
                return True
            case ir.ListIndex() | ir.ArrayRead() | ir.BucketOp() | ir.MethodCall() | ir.Ratio():
                return True
            case ir.FnCall(fn=fn) if self.traps(f"fn {fn}", self.program.fns[fn].body):
                return True
            case ir.PacketValue(name=name, for_class=c):
                value = self.program.parser.values[name]
                if self.traps(f"value {name} {c}", value.for_class if c else value.value):
                    return True
        return any(self.acts(child) for child in children(e))

    def traps(self, name: str, body: ir.Expr) -> bool:
        """Does a function or value with that body need a way to end its caller?"""
        known = self.shared.trapping
        if name not in known:
            known[name] = False
            known[name] = self.acts(body)
        return known[name]

    def guard(self, condition: str, reason: str) -> str:
        return f"if ({condition}) [[unlikely]] {self.trap(reason)}"

    def _call(self, fn: str, args: list[str]) -> str:
        name = f"fn_{identifier(fn)}"
        if not self.traps(f"fn {fn}", self.program.fns[fn].body):
            return f"{name}({', '.join(args)})"
        return self._trapping(name, args)

    def _trapping(self, name: str, args: list[str]) -> str:
        why, value = self.temp("why"), self.temp("value")
        call = f"{name}({', '.join([*args, why])})"
        stop = f"if ({why}) [[unlikely]] {self.trap(why)}"
        return f"({{ uint16_t {why} = 0; const auto {value} = {call}; {stop} {value}; }})"

    def _value(self, name: str, for_class: bool) -> str:
        plain = identifier(name) + ("_class" if for_class else "")
        value = self.program.parser.values[name]
        if self.traps(f"value {name} {for_class}", value.for_class if for_class else value.value):
            return self._trapping(f"value_{plain}", ["f"])
        return f"value_{plain}(f)"

    # ------------------------------------------------------------ constants

    def const(self, e: ir.Const) -> str:
        return self.constant(e.value, e.type)

    def constant(self, value: object, type: t.Type) -> str:
        match type:
            case t.Bool():
                return "true" if value else "false"
            case t.Port():
                assert isinstance(value, int)
                return port_names(self.program)[value]
            case t.SetOf(t.Port()):
                assert isinstance(value, frozenset)
                return number(sum(1 << int(p) for p in value), "uint64_t")
            case t.Prefix():
                assert isinstance(value, Prefix)
                return f"Prefix{{{number(value.value, 'u128')}, {value.bits}, {value.length}}}"
            case t.Struct(_, fields):
                assert isinstance(value, tuple)
                inner = [self.constant(v, m) for v, (_, m) in zip(value, fields, strict=True)]
                return f"{self.shared.cpp(type)}{{{', '.join(inner)}}}"
            case t.Tuple(items):
                assert isinstance(value, tuple)
                inner = [self.constant(v, m) for v, m in zip(value, items, strict=True)]
                return f"{self.shared.cpp(type)}{{{', '.join(inner)}}}"
            case t.Bucket():
                return "Bucket{}"
            case t.Ref() | t.FromPool():
                return f"{self.shared.cpp(type)}{{}}"
        assert isinstance(value, int), (value, type)
        return number(int(value), cpp(type))

    # ------------------------------------------------------------ the packet

    def instance(self, i: int) -> str:
        return instance_name(self.program.parser, i)

    def leaf(self, e: ir.Expr) -> str:
        """The member of Fields that holds what `e` reads."""
        name = leaf_name(e, self.program.parser)
        self.shared.leaves.setdefault(name, Leaf(name, e))
        return name

    def _field(self, e: ir.Expr, i: int, n: int) -> str:
        name = self.leaf(e)
        if self.arrival or (i, n) not in self.shared.written:
            return f"f.{name}"
        return f"(e.has_{name} ? e.{name} : f.{name})"

    # ------------------------------------------------------------ arithmetic

    def _sized(self, text: str, type: t.Type) -> str:
        return self._reduced(text, type)

    def _reduced(self, text: str, type: t.Type) -> str:
        """`text`, modulo 2^width of the type, as its C++ type."""
        width = 64 if isinstance(type, t.Literal) else t.width(type)
        assert width is not None, type
        if width in (*tc.SIZES, 128):
            return f"static_cast<{cpp(type)}>({text})"
        return f"static_cast<{cpp(type)}>(({text}) & {number((1 << width) - 1, cpp(type))})"

    def _binary(self, e: ir.Binary) -> str:
        op = e.op
        if isinstance(e.left, ir.Ratio) or isinstance(e.right, ir.Ratio):
            return self._ratio(e)
        if op in ("and", "or"):
            return f"({self.code(e.left)} {'&&' if op == 'and' else '||'} {self.code(e.right)})"
        if op in ("/", "%"):
            return self._division(e)
        return self.in_order([e.left, e.right], lambda x: self._operator(e, *x))

    def _operator(self, e: ir.Binary, a: str, b: str) -> str:
        op, width = e.op, t.width(e.type)
        if op in COMPARISONS:
            return f"({a} {op} {b})"
        if isinstance(e.type, t.SetOf):
            return f"({a} | {b})" if op == "+" else f"({a} & ~{self._as_set(e.right, b)})"
        match op:
            case "*" if width is not None and width <= 16:
                return self._reduced(f"uint32_t{{{a}}} * {b}", e.type)
            case "<<" | ">>":
                wide = cpp(e.type)
                shifted = self._reduced(f"static_cast<{wide}>({a}) {op} {b}", e.type)
                return f"({b} >= {width} ? {wide}{{0}} : {shifted})"
            case "&" | "|" | "^":
                return f"static_cast<{cpp(e.type)}>({a} {op} {b})"
            case _:
                return self._reduced(f"{a} {op} {b}", e.type)

    def _as_set(self, e: ir.Expr, text: str) -> str:
        return f"(uint64_t{{1}} << {text})" if isinstance(e.type, t.Port) else text

    def _division(self, e: ir.Binary) -> str:
        wide = cpp(e.type)
        if isinstance(e.right, ir.Const) and e.right.value:
            return f"static_cast<{wide}>({self.code(e.left)} {e.op} {self.code(e.right)})"
        left, right = self.temp("left"), self.temp("right")
        stop = self.guard(f"{right} == 0", self.reason("division by zero", e))
        return (
            f"({{ const {wide} {left} = {self.code(e.left)}; const auto {right} = {self.code(e.right)}; {stop} "
            f"static_cast<{wide}>({left} {e.op} {right}); }})"
        )

    def _ratio(self, e: ir.Binary) -> str:
        """amount / duration against a rate, cross-multiplied: 64 bits and a scale of 33, so exact in 128 bits."""
        sides: list[tuple[str, str]] = []
        lines: list[str] = []
        for side in (e.left, e.right):
            if isinstance(side, ir.Ratio):
                bits = isinstance(side.type, t.Ratio) and side.type.rate == "bitrate"
                top, below = self.temp("amount"), self.temp("duration")
                lines.append(f"const u128 {top} = u128{{{self.code(side.amount)}}} * {8 * 10**9 if bits else 10**9}u;")
                lines.append(f"const uint64_t {below} = {self.code(side.duration)};")
                lines.append(self.guard(f"{below} == 0", self.reason("division by zero", side)))
                sides.append((top, below))
            else:
                rate = self.temp("rate")
                lines.append(f"const uint64_t {rate} = {self.code(side)};")
                sides.append((rate, ""))
        (a, under_a), (b, under_b) = sides
        if under_a and under_b:
            compared = f"compare_ratios({a}, {under_a}, {b}, {under_b}) {e.op} 0"
        else:
            left = a if not under_b else f"u128{{{a}}} * {under_b}"
            right = b if not under_a else f"u128{{{b}}} * {under_a}"
            compared = f"{left} {e.op} {right}"
        return f"({{ {' '.join(lines)} {compared}; }})"

    def _cast(self, e: ir.Cast) -> str:
        value = self.code(e.value)
        if e.mapped:
            return f"(u128{{{MAPPED:#x}}} | {value})"
        have, want = t.width(e.value.type), t.width(e.type)
        if have is not None and want is not None and have <= want:
            return f"static_cast<{cpp(e.type)}>({value})"
        return self._reduced(value, e.type)

    # ------------------------------------------------------------ structures

    def _make(self, e: ir.Make, items: tuple[ir.Expr, ...]) -> str:
        if isinstance(e.type, t.SetOf):
            if not isinstance(e.type.item, t.Port):
                raise Unsupported(f"a set of {e.type.item} at {self.program.place(e.span)}")
            return "(" + (" | ".join(f"uint64_t{{1}} << {self.code(i)}" for i in items) or "uint64_t{0}") + ")"
        name = self.shared.cpp(e.type)
        return self.in_order(list(items), lambda x: f"{name}{{{', '.join(x)}}}")

    def _get(self, v: ir.Expr, i: int) -> str:
        if isinstance(v.type, t.Struct):
            return f"{self.code(v)}.{identifier(v.type.fields[i][0])}"
        return f"std::get<{i}>({self.code(v)})"

    def _deref(self, v: ir.Expr) -> str:
        if isinstance(v.type, t.Ref):
            return f"{self.config(v.type.table)}.value({self.code(v)})"
        return f"{self.code(v)}.value"

    def _in_set(self, x: ir.Expr, s: ir.Expr) -> str:
        if isinstance(s.type, t.SetOf) and isinstance(s.type.item, t.Port) and not isinstance(s, ir.Config):
            return f"({self.code(s)} >> {self.code(x)} & 1)"
        if isinstance(s, ir.Make | ir.Const):
            name = self.temp("item")
            if isinstance(s, ir.Make):
                tests = [f"{name} == {self.code(i)}" for i in s.items]
            else:
                tests = [f"{name} == {self.constant(v, x.type)}" for v in sorted(s.value)]
            return f"({{ const auto {name} = {self.code(x)}; {' || '.join(tests) or 'false'}; }})"
        if isinstance(s, ir.Config):
            return self.in_order([x], lambda c: f"{self.code(s)}.contains({c[0]})")
        return f"(std::ranges::find({self.code(s)}, {self.code(x)}) != {self.code(s)}.end())"

    def _list_index(self, e: ir.ListIndex) -> str:
        table, index, past = self.code(e.table), self.temp("index"), self.reason("index past the end", e)
        empty = self.reason("empty list", e)
        lines = f"const uint64_t {index} = {self.code(e.index)};"
        if isinstance(e.table.type, t.Table):
            return f"({{ {lines} {self.guard(f'{table}.size() == 0', empty)} *{table}.at({index}); }})"
        stop = f"{self.guard(f'{table}.size() == 0', empty)} {self.guard(f'{index} >= {table}.size()', past)}"
        read = f"{table}.at({index})" if isinstance(e.table, ir.Config) else f"{table}[{index}]"
        return f"({{ {lines} {stop} {read}; }})"

    def hashed(self, parts: list[tuple[t.Type, str]]) -> str:
        """SipHash of the parts' canonical bytes, keyed by `param seed`."""
        buffer, writer = self.temp("bytes"), self.temp("writer")
        most = sum(tc.canonical_size(type) for type, _ in parts)
        written = " ".join(self.written(parts, buffer, writer))
        return f"({{ uint8_t {buffer}[{max(most, 1)}]; {written} siphash(SEED, {buffer}, {writer}.size()); }})"

    def written(self, parts: list[tuple[t.Type, str]], buffer: str, writer: str) -> list[str]:
        """Statements that write the parts' canonical bytes, by a Writer of this name."""
        lines = [f"Writer {writer}({buffer});"]
        for type, text in parts:
            name = self.temp("part")
            lines.append(f"const auto {name} = {text};")
            lines += tc.canonical(type, name, writer)
        return lines


def _wrapped(text: str) -> bool:
    """Is the whole text inside one pair of parentheses, which is no statement expression?"""
    if not text.startswith("(") or text.startswith("({"):
        return False
    depth = 0
    for i, c in enumerate(text):
        depth += (c == "(") - (c == ")")
        if depth == 0:
            return i == len(text) - 1
    return False
