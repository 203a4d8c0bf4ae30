"""Why an `expect` failed: what it says, what its names are bound to, and the value of every part of it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from types import CodeType
from typing import Any

from polysome.analysis import values_text
from polysome.engines.options import Unsupported
from polysome.ir import program as ir
from polysome.ir import properties as pr
from polysome.ir import types as t
from polysome.testing.execution import Failure
from polysome.testing.judge import conditions, outputs
from polysome.testing.judge.expressions import PropertyCode
from polysome.testing.judge.view import View

MOST = 20  # lines


class Explanation:
    """Explains failures of one `expect` of a property. `kinds`: what the slots stand for, as PropertyCode has them."""

    def __init__(self, program: ir.Program, decl: pr.Property, expect: pr.Expect, kinds: dict[int, str]) -> None:
        self.program, self.expect = program, expect
        self.types: dict[int, t.Type] = {}
        self.names: dict[int, str] = {}
        self._collect(decl.items)
        seen: set[str] = set()
        self._wanted = [e for e in _breadth_first(expect.condition) if self._tells(e, seen)]
        self._code, self._constants = self._compiled(kinds)

    def failure(self, bound: dict[int, Any], view: View, names: dict[str, Any]) -> Failure:
        """With `bound` values by slot; `names` is the namespace of generated code."""
        says = _Says(self.program, view)
        packets = [v for slot, v in bound.items() if self.types[slot] == pr.PACKET and v is not None]
        said = [f"expected: {self.text(self.expect.condition)}"]
        said += [f"{self.names[slot]} = {says.value(bound[slot], self.types[slot], whole=True)}" for slot in bound]
        said += self._differences(bound, view)
        values = names | self._constants | {f"s{slot}": value for slot, value in bound.items()}
        exec(self._code, values)
        parts = []
        for e, part in zip(self._wanted, values["run"](), strict=True):
            with suppress(Unsupported):  # by an engine that another part of the condition asks for
                parts.append(f"{self.text(e)} = {says.value(part(), e.type)}")
        if len(said) + len(parts) > MOST:
            room = max(0, MOST - len(said) - 1)
            parts = [*parts[:room], f"… {len(parts) - room} more values"]
        return Failure(tuple(dict.fromkeys(packets)), tuple(said + parts), self.expect.span)

    def _compiled(self, kinds: dict[int, str]) -> tuple[CodeType, dict[str, Any]]:
        """A function that gives functions for the values of all parts, with the code that judges."""
        c = PropertyCode(self.program)
        c.kinds |= kinds
        c.maybe |= set(kinds)
        codes = [c.value(e).text for e in self._wanted]
        parts = ", ".join(f"lambda: {code}" for code in codes)
        source = "\n".join([*c.lines, "def run():", f"    return [{parts}]"])
        return compile(source, "<explanation>", "exec"), c.constants

    def _collect(self, items: tuple[pr.Item, ...]) -> None:
        """Names and types of all slots."""
        for item in items:
            match item:
                case pr.Let(slot=slot, name=name, value=value):
                    self.names[slot], self.types[slot] = name, value.type
                case pr.ForAll(slots=slots, names=names):
                    for slot, name, type in zip(slots, names, _element_types(item.domain, len(slots)), strict=True):
                        self.names[slot], self.types[slot] = name, type
                    self._collect(item.body)

    # ------------------------------------------------------------ parts

    def _tells(self, e: ir.Expr, seen: set[str]) -> bool:
        """Has it a value of its own, that is not already said?"""
        inside = self.expect.span
        if e.span.file != inside.file or not inside.start <= e.span.start < inside.end:
            return False  # a function's body, whose names are not those of the property
        text = self.text(e)
        if text in seen or isinstance(e, (ir.Const, ir.Local)):
            return False
        if isinstance(e.type, (t.Table, pr.Outputs)) or _literal(e):
            return False
        seen.add(text)
        return True

    def _differences(self, bound: dict[int, Any], view: View) -> list[str]:
        """Where two runs differ."""
        lines = []
        for node in _breadth_first(self.expect.condition):
            if isinstance(node, ir.Binary) and isinstance(node.left.type, pr.Outputs):
                try:
                    lines += self._difference(node, _run(node.left, bound, view), _run(node.right, bound, view))
                except Unsupported as lacking:
                    lines.append(str(lacking))
        return lines

    def _difference(self, e: ir.Binary, *pair: outputs.Outputs) -> list[str]:
        found = outputs.surplus(*pair) if e.op == "<=" else outputs.difference(*pair)
        if found is None:
            return [f"both runs: {pair[0].shown()}"]
        return [f"{self.text(side)}: {said}" for side, said in zip((e.left, e.right), found[1:], strict=True)]

    def text(self, e: ir.Node) -> str:
        """What the spec says there, in one line."""
        source = self.program.sources[e.span.file].text[e.span.start : e.span.end]
        return " ".join(source.split())


class _Says:
    """Values of one run as text."""

    def __init__(self, program: ir.Program, view: View) -> None:
        self.program, self.view = program, view
        self.start = view.fates[0].arrival.time if view.fates else 0

    def value(self, value: Any, type: t.Type, whole: bool = False) -> str:
        """As the language writes it; `whole`: with what became of a packet."""
        if value is None:
            return "undefined"
        match type:
            case pr.Packet(emitted=True):
                made = self.view.made[value]
                return f"emitted packet {value + 1}, to {self._port(made.port)} at {self._time(made.time)}"
            case pr.Packet():
                return self._packet(value) if whole else f"packet {value + 1}"
            case pr.Outputs():
                shown: str = value.shown()
                return shown
            case t.Ratio(rate=rate):
                return f"about {values_text.text(round(value), t.Quantity(rate), self.program, self.start)}"
            case _:
                return values_text.text(value, type, self.program, self.start)

    def _packet(self, number: int) -> str:
        """What a person wants to know first of a packet."""
        fate = self.view.fates[number]
        parts = [f"packet {number + 1}", f"{len(fate.arrival.data)} bytes"]
        if "flow" in self.program.parser.values and (flow := self.view.flow[number]) is not None:
            type = self.program.parser.values["flow"].value.type
            parts.append(values_text.text(flow, type, self.program, self.start))
        if fate.sent:
            became = f"sent to {', '.join(self._port(c.port) for c in fate.copies)}"
            became += f" at {self._time(fate.copies[0].time)}"
        else:
            became = "held" if fate.reason is None else f'dropped, "{fate.reason}"'
        return f"{', '.join(parts)}, from {self._port(fate.arrival.port)} at {self._time(fate.at)}; {became}"

    def _port(self, port: int) -> str:
        return self.program.ports[port]

    def _time(self, time: int) -> str:
        return values_text.moment(time, self.start)


def _element_types(domain: pr.Domain, count: int) -> tuple[t.Type, ...]:
    if domain.source is None:
        return (pr.EMITTED if domain.kind == "emitted" else pr.PACKET,) * count
    match domain.source.type:
        case t.Table(key=key, value=value):
            item: t.Type = t.Entry(key, value)
        case t.ListOf(item=item) | t.SetOf(item=item):
            pass
        case other:
            raise AssertionError(other)
    if count == 1:
        return (item,)
    assert isinstance(item, t.Entry)
    return item.key, item.value


def _breadth_first(e: ir.Expr) -> Iterator[ir.Expr]:
    row = [e]
    while row:
        yield from row
        row = [part for one in row for part in conditions.parts(one)]


def _run(e: ir.Expr, bound: dict[int, Any], view: View) -> outputs.Outputs:
    """A run, or the `let` that stands for it."""
    found = bound[e.slot] if isinstance(e, ir.Local) else view.outputs(e.options) if isinstance(e, pr.Run) else None
    assert isinstance(found, outputs.Outputs)
    return found


def _literal(e: ir.Expr) -> bool:
    """Is it made of constants only?"""
    return isinstance(e, ir.Const) or (isinstance(e, ir.Make) and all(map(_literal, e.items)))
