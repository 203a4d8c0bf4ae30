"""Expressions of properties to Python.

What depends on one packet only is a *column*: a function of the packet's number, whose values are kept. So a condition
on two packets is a few look-ups, however much is behind them. What depends on nothing is computed once.

In the generated code packets are their numbers, `s<n>` are names of the property, `V` is the View, `T_at`, `E_at` the
attributes of packets of the trace and of emitted packets, `c<n>` columns.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from polysome.ir import program as ir
from polysome.ir import properties as pr
from polysome.ir import types as t
from polysome.ir.operators import reduced_text
from polysome.kinds.state import TABLE_KINDS
from polysome.testing.judge import conditions
from polysome.testing.judge.functions import Functions
from polysome.testing.judge.loops import Loops
from polysome.testing.judge.operators import Code
from polysome.testing.judge.wire_code import WireCode, fn_may_trap

LIGHT = (ir.Local, ir.Const, pr.Attribute, ir.InPort, ir.Binary, ir.Unary, ir.MinMax, ir.Make, ir.InSet, ir.Get)
SOMETIMES = ("reason", "left", "place", "out_port", "class", "cause")  # attributes that may be undefined
TRACE, EMITTED, VALUE = "trace", "emitted", "values"


class PropertyCode(Functions):
    """The functions of one property, in `lines`; `loops` writes those of quantifiers."""

    def __init__(self, program: ir.Program) -> None:
        super().__init__(program)
        self.wire = WireCode(program, self.constants)
        self.loops = Loops(self)

    # ------------------------------------------------------------ columns

    def value(self, e: ir.Expr) -> Code:
        slots = self.free(e)
        if slots and self.context.parent is not None and not slots & self.context.bound:
            return self.passed_in(e)
        if self._is_column(e, slots):
            return self._column(e, slots)
        return self._plain(e)

    def _is_column(self, e: ir.Expr, slots: frozenset[int]) -> bool:
        """Is it worth being kept? In a column only what looks into packets and state is a column of its own."""
        if len(slots) > 1 or any(self.kinds[s] == VALUE for s in slots):
            return False
        if isinstance(e, (ir.Local, ir.Const, pr.Attribute, pr.Run, ir.Config)):
            return False
        if self.context.column or not slots:
            return isinstance(e, (pr.Seen, pr.Snapshot, pr.Quantified, pr.Aggregate, pr.Lookup)) and not _light(e)
        return not all(_light(node) for node in _outside(e))

    def _column(self, e: ir.Expr, slots: frozenset[int]) -> Code:
        with self.inside(slots, dict.fromkeys(slots, "x"), column=True):
            if isinstance(e, pr.Seen):
                body, maybe = self._seen(e)
            else:
                found = self._plain(e)
                body, maybe = [f"return {found.text}"], found.maybe
        name = self.memo("Column", self.function("f", "x", body))
        return Code(f"{name}[{self.slot(next(iter(slots))) if slots else '0'}]", maybe)

    def _seen(self, e: pr.Seen) -> tuple[list[str], bool]:
        """The body of the function of a packet's number."""
        kind = _kind(e.packet)
        packet = self.value(e.packet)
        value = self.wire.value(e.value)
        maybe = value.maybe or packet.maybe or (kind == TRACE and e.side == "out")
        column = "emitted" if kind == EMITTED else e.side
        body = []
        if packet.maybe:
            body += [f"n = {packet.text}", "if n is None: return None"]
            packet = Code("n", False)
        body.append(f"p = SEEN_{column}[{packet.text}]")
        if kind == TRACE and e.side == "out":
            body.append("if p is None: return None")
        return [*body, "d = p.data; o = p.offset", f"return {value.text}"], maybe

    # ------------------------------------------------------------ expressions

    def _plain(self, e: ir.Expr) -> Code:
        match e:
            case ir.Local(slot=slot):
                return Code(self.slot(slot), slot in self.maybe)
            case pr.Attribute(packet=packet, name=name):
                return self._attribute(packet, name)
            case pr.Seen(packet=packet, value=ir.InPort()) if _kind(packet) == TRACE and e.side == "in":
                return self._attribute(packet, "in_port")
            case pr.Seen():
                return self._seen_of(e)
            case pr.Undefined():
                return Code("None", True)
            case pr.Written(packet=packet, header=header, field=field):
                return self._of_packet(packet, lambda n: f"V.written({n}, {header!r}, {field})", True)
            case pr.ChecksumsValid(packet=packet, side=side):
                side = "emitted" if _kind(packet) == EMITTED else side
                return self._of_packet(packet, lambda n: f"V.checksums_valid({side!r}, {n})", False)
            case ir.Config(name=name):
                return Code(f"CONFIG[{name!r}]", False)
            case pr.Snapshot():
                return self._snapshot(e)
            case pr.Lookup():
                return self._table(e, "CONFIG")
            case pr.Quantified() | pr.Aggregate():
                return self.loops.call(e)
            case ir.FnCall(fn=fn, args=args) if not fn_may_trap(self.program, fn):
                return self.strict(list(args), lambda *a: f"fn_{fn}({', '.join(a)})")
            case ir.LetIn(slot=slot, value=value, body=body):
                found = self.value(value)
                self.kinds[slot] = VALUE
                self.context.bound.add(slot)
                self.maybe |= {slot} if found.maybe else set()
                inner = self.value(body)
                return Code(f"((s{slot} := {found.text}), {inner.text})[1]", inner.maybe)
            case _:
                return self._whole(e)

    def _whole(self, e: ir.Expr) -> Code:
        """What is said of the trace as a whole."""
        match e:
            case pr.Passed(unit=unit, by=by, key=key, window=window):
                args = self._args(key, window)
                return Code(f"V.passed({unit!r}, {by!r}, {args})", True)
            case pr.NoGap(flow=flow, longest=longest, window=window):
                return Code(f"V.no_gap({self.value(flow).text}, {self._args(longest, window)})", True)
            case pr.Ended(maps=maps, key=key, why=why, window=window):
                shown = "..." if key is None else self.value(key).text
                return Code(f"V.ended({maps!r}, {shown}, {why}{self._window(window)})", True)
            case pr.Full(window=window):
                return Code(f"V.full({self._window(window).removeprefix(', ')})", True)
            case pr.Run(options=options):
                return Code(f"V.outputs({self.constant(options)})", False)
            case _:
                return super().value(e)

    def _args(self, key: ir.Expr, window: pr.Window | None) -> str:
        return self.value(key).text + self._window(window)

    def _window(self, window: pr.Window | None) -> str:
        return "" if window is None else f", {self.value(window.low).text}, {self.value(window.high).text}"

    # ------------------------------------------------------------ packets

    def _of_packet(self, packet: ir.Expr, make: Any, maybe: bool) -> Code:
        """What `make` says of a packet's number; undefined if there is no such packet."""
        code = self.value(packet)
        return Code(self.defined([code], make), maybe or code.maybe)

    def _attribute(self, packet: ir.Expr, name: str) -> Code:
        prefix = "E" if _kind(packet) == EMITTED else "T"
        if name == "number":
            return self._of_packet(packet, lambda n: n, False)
        return self._of_packet(packet, lambda n: f"{prefix}_{name}[{n}]", name in SOMETIMES)

    def _seen_of(self, e: pr.Seen) -> Code:
        """As a column of the packet that some expression names (`e.cause.in.…`)."""
        slot = -1
        self.kinds[slot] = TRACE
        local = ir.Local(e.packet.span, e.packet.type, slot, "x")
        column = self._column(pr.Seen(e.span, e.type, local, e.side, e.value), frozenset((slot,)))
        table = column.text[: column.text.index("[")]
        return self._of_packet(e.packet, lambda n: f"{table}[{n}]", column.maybe)

    # ------------------------------------------------------------ state and config

    def _snapshot(self, e: pr.Snapshot) -> Code:
        packet = self.value(e.packet)
        if packet.maybe:
            name = self.temporary()
            found = self._read(e, name)
            return Code(f"(None if ({name} := {packet.text}) is None else {found.text})", True)
        return self._read(e, packet.text)

    def _read(self, e: pr.Snapshot, number: str) -> Code:
        stamp = f"2 * {number}" + (" + 1" if e.when == "after" else "")
        match e.read:
            case ir.StateRead(state=state):
                return Code(f"V.value({stamp}, {state!r})", True)
            case ir.ArrayRead(state=state, index=index):
                return Code(f"V.element({stamp}, {state!r}, {self.value(index).text})", True)
            case ir.StateLen(state=state):
                return self._length(state, number, stamp, e.type)
            case ir.Contains(state=state, key=key, index=index):
                return Code(f"V.holds({stamp}, {state!r}, {index!r}, {self.value(key).text})", False)
            case pr.Lookup(kind="map", source=source, key=key):
                return Code(f"V.entry({stamp}, {source!r}, {self.value(key).text})", True)
            case pr.Lookup(kind="index", source=source, key=key, index=index):
                return Code(f"V.indexed({stamp}, {source!r}, {index!r}, {self.value(key).text})", True)
            case pr.Lookup():
                return self._table(e.read, f"V.config({stamp})")
            case pr.Entries(state=state):
                return Code(f"V.entries({stamp}, {state!r})", False)
            case ir.Config(name=name):
                return Code(f"V.config({stamp})[{name!r}]", False)
            case ir.MethodCall(state=state, method=method, args=given):
                args = "".join(f", {self.value(a).text}" for a in given)
                return Code(f"V.call({stamp}, {state!r}, {method!r}{args})", True)
            case ir.BucketOp(place=place, amount=amount, rate=rate, burst=burst):
                at = "None" if place.key is None else self.value(place.key).text
                amounts = ", ".join(self.value(a).text for a in (amount, rate, burst))
                unit = "packets" if rate.type == t.PACKETRATE else "bytes"
                where = f"({place.state!r}, {at}, {place.path!r})"
                return Code(f"V.bucket_has({number}, {stamp}, {where}, {amounts}, {unit!r})", True)
            case _:
                raise AssertionError(f"no code for a snapshot of {type(e.read).__name__}")

    def _length(self, state: str, number: str, stamp: str, type: t.Type) -> Code:
        decl = self.program.state[state]
        if not isinstance(decl, ir.PoolDecl):
            return Code(reduced_text(f"V.length({stamp}, {state!r})", type), False)
        if decl.per is None:
            return Code(reduced_text(f"V.free({stamp}, {state!r}, None)", type), False)
        per = self.wire.value(decl.per)
        function = self.function("f", "x", ["p = SEEN_in[x]; d = p.data; o = p.offset", f"return {per.text}"])
        partition = Code(f"{self.memo('Column', function)}[{number}]", per.maybe)
        return Code(
            self.defined([partition], lambda n: reduced_text(f"V.free({stamp}, {state!r}, {n})", type)), per.maybe
        )

    def _table(self, e: pr.Lookup, config: str) -> Code:
        """A config table's value for a key."""
        type = self.program.config[e.source].type
        assert isinstance(type, t.Table)
        table = f"{config}[{e.source!r}]"
        kind = TABLE_KINDS[type.kind]
        asked = "".join(f", {more!r}" for more in kind.asked(e.key.type))
        read = "value_of" if kind.identity == "value" else ""  # a mapping's rows are values here (`view.ConfigMap`)
        return self.strict([e.key], lambda k: f"{read}({table}.get({k}{asked}))", maybe=True)


def _kind(packet: ir.Expr) -> str:
    return EMITTED if packet.type == pr.EMITTED else TRACE


def _light(e: ir.Node) -> bool:
    """Is it as quick to compute as to look up?"""
    if isinstance(e, pr.Seen):
        return isinstance(e.value, ir.InPort)
    return isinstance(e, LIGHT)


def _outside(e: ir.Expr) -> Iterator[ir.Node]:
    """The nodes of an expression but those inside `Seen`."""
    yield e
    if not isinstance(e, pr.Seen):
        for child in conditions.children(e):
            yield from _outside(child)  # type: ignore[arg-type]
