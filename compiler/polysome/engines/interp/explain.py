"""Why a packet got its verdict: every statement that its handler ran, with the values it saw."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from polysome.analysis.values_text import text
from polysome.config.tables import Tables
from polysome.engines.events import Event
from polysome.engines.interp.seen import Eyes, difference
from polysome.engines.interp.teller import Teller
from polysome.engines.interp.tracing_code import Executed, Value, tracing
from polysome.engines.trace import Trace
from polysome.interp.packet import Packet
from polysome.ir import program as ir
from polysome.ir import types as t
from polysome.ir.expression_text import ExpressionText
from polysome.kinds.values import ABSENT
from polysome.syntax.spans import Span

LONGEST = 72  # characters of a statement's source


@dataclass(frozen=True)
class Step:
    """A statement that ran: `place` is `file:line`, `source` its text, `values` what it saw and did, a text each."""

    place: str
    source: str
    values: tuple[str, ...]


@dataclass(frozen=True)
class Explanation:
    """`number` counts from 0. `path`: the headers that the parser found. `verdict`: a port, a set of ports, or why the
    packet was dropped. `leaves`: its bytes after all changes, None if it was dropped; when, is the schedule's to say.
    `changes`: headers and fields that are different then.
    """

    number: int
    port: int
    at: int
    data: bytes
    path: tuple[str, ...]
    steps: tuple[Step, ...]
    verdict: int | frozenset[int] | str
    leaves: bytes | None
    changes: tuple[str, ...]


def explain(program: ir.Program, trace: Trace, number: int) -> Explanation:
    """Runs the trace in the interpreter, up to packet `number` (from 0), and says what that packet's handler did."""
    machine = ExplainingMachine(program, Tables(program, trace.config), [], number)
    for change in trace.changes:
        machine.change_at(change.time, change.values)
    for arrival in trace.arrivals[: number + 1]:
        machine.arrive(arrival.port, arrival.time, arrival.data)
    assert machine.explanation is not None
    return machine.explanation


class ExplainingMachine(Teller):
    """A machine that watches what happens to packet `number` (from 0); `explanation` is there once it arrived."""

    def __init__(self, program: ir.Program, tables: Tables, told: list[Event], number: int) -> None:
        generated, self._tracer = tracing(program)
        super().__init__(program, tables, told, generated)
        self._watched = number
        self.explanation: Explanation | None = None
        self._handled: Packet | None = None
        self._leaves: bytes | None = None
        self._reason: str | None = None
        self._verdict: Any = None

    def _packet(self, port: int, data: bytes) -> None:
        if self.counters.packets_in != self._watched:
            super()._packet(port, data)
            return
        super()._packet(port, data)
        p = self._handled
        leaves = None if self._reason is not None else self._leaves
        changed = None if leaves is None else difference(Eyes(self), port, data, leaves)
        instances = self.program.parser.instances
        self.explanation = Explanation(
            number=self._watched,
            port=port,
            at=self.clock.now,
            data=data,
            path=() if p is None else tuple(instances[i].name for i in p.path),
            steps=tuple(steps(self.program, self._tracer.executed, self.started)),
            verdict=self._reason if self._reason is not None else self._verdict,
            leaves=leaves,
            changes=() if changed is None else (*changed.headers, *changed.fields),
        )

    def _decide(self, p: Packet, handler: Any) -> Any:
        if p.order != self._watched:
            return super()._decide(p, handler)
        self._handled, self._tracer.active = p, True
        self._verdict = super()._decide(p, handler)
        self._tracer.active = False
        return self._verdict

    def _apply(self, p: Packet) -> bytes:
        data = super()._apply(p)
        if p.order == self._watched:
            self._leaves = data
        return data

    def _drop(self, order: int, reason: str) -> None:
        super()._drop(order, reason)
        if order == self._watched:
            self._reason = reason


# ---------------------------------------------------------------- as text


def steps(program: ir.Program, executed: list[Executed], start: int | None) -> Iterator[Step]:
    """The statements, each once for what stands there: several that one line of a spec became are one step."""
    writer = _Writer(program, start)
    waiting: Step | None = None
    for n, done in enumerate(executed):
        behind = executed[n + 1] if n + 1 < len(executed) else None
        if behind is not None and isinstance(done.statement, ir.If) and behind.statement.span == done.statement.span:
            continue  # which header of a group it is: what follows says that
        span = done.statement.span
        step = Step(program.place(span), source(program, span), tuple(writer.values(done)))
        other = n > 0 and executed[n - 1].statement is not done.statement  # not the next turn of a loop
        if waiting is not None and other and (waiting.place, waiting.source) == (step.place, step.source):
            step = Step(step.place, step.source, tuple(dict.fromkeys((*waiting.values, *step.values))))
        elif waiting is not None:
            yield waiting
        waiting = step
    if waiting is not None:
        yield waiting


def source(program: ir.Program, span: Span) -> str:
    """The text of a statement in one line, without the block behind it."""
    found = program.sources[span.file].text[span.start : span.end]
    head = found.split("\n")[0].split("//")[0].strip()
    if "\n" in found:
        head = head.removesuffix("{").rstrip()
    return head if len(head) <= LONGEST else head[: LONGEST - 1].rstrip() + "…"


class _Writer:
    """Values as text; times count from `start`."""

    def __init__(self, program: ir.Program, start: int | None) -> None:
        self.program, self.start = program, start
        self.expressions = ExpressionText(program)

    def values(self, done: Executed) -> list[str]:
        """What a statement saw, without what it says itself, then what it came to."""
        whole = done.statement.condition if isinstance(done.statement, ir.If) else None  # its outcome is said anyhow
        operands = [v for v in done.values if v.node is not whole or isinstance(v.node, ir.Valid)]
        operands = [v for v in operands if not _written(done.statement, v.node)]
        compared = sum(isinstance(v.node, ir.Binary) for v in operands)
        seen = (self._seen(v) for v in operands if compared > 1 or not isinstance(v.node, ir.Binary))
        return [*dict.fromkeys(seen), *self._result(done)]

    def _seen(self, v: Value) -> str:
        match v.node:
            case ir.Valid(instance=i):
                return f"{'has' if v.value else 'has no'} {self.expressions.instance(i)}"
            case ir.Binary() | ir.InSet() | ir.InPrefix() | ir.Contains() | ir.BucketOp():
                return f"`{self.name(v.node)}` {'holds' if v.value else 'does not hold'}"
            case ir.MethodCall(type=t.Tuple(())):  # for its effect, which has no value
                return self.name(v.node)
            case _:
                return f"{self.name(v.node)} = {self.text(v.value, v.node.type)}"

    def text(self, value: Any, type: t.Type) -> str:
        return text(value, type, self.program, self.start)

    def name(self, e: ir.Expr) -> str:
        """What a person calls it: a header field by its name, all else as the spec has it."""
        match e:
            case ir.HeaderField(instance=i, field=f):
                return self.expressions.field(i, f)
            case ir.Local(name=name):
                return name
        found = source(self.program, e.span)
        return found[1:-1] if found.startswith("(") and found.endswith(")") and found.count("(") == 1 else found

    def _result(self, done: Executed) -> list[str]:
        s, result = done.statement, done.result
        match s:
            case ir.If():
                if result is ABSENT:
                    return []
                if source(self.program, s.span).startswith("require"):
                    return ["so it is met" if result else "so it is not met"]
                return ["so yes" if result else "so no"]
            case ir.SetLocal(name=name, value=v):
                return [f"{name} = {self.text(result, v.type)}"]
            case ir.Lookup():
                return [self._lookup(s, done)]
            case ir.FieldWrite(instance=i, field=f):
                type = self.program.parser.instances[i].header.fields[f].type
                return [f"{self.expressions.field(i, f)}: {self._changed(done, type)}"]
            case ir.MapPut() | ir.MapRemove() | ir.StateWrite():
                return [self._write(s, done)]
            case _:
                return self._verdict(s, result)

    def _changed(self, done: Executed, type: t.Type) -> str:
        return f"{self.text(done.old, type)} -> {self.text(done.result, type)}"

    def _lookup(self, s: ir.Lookup, done: Executed) -> str:
        place = s.source if s.index is None else s.index
        if s.key is not None and s.kind != "pool":
            place += f"[{self.text(done.key, s.key.type)}]"
        elif s.kind == "pool":
            place += ".take()"
        return f"{place} is {self.text(done.result, self._found_type(s))}"

    def _found_type(self, s: ir.Lookup) -> t.Type:
        if s.kind == "table":
            table = self.program.config[s.source].type
            return table.value if isinstance(table, t.Table) else t.WRONG
        decl = self.program.state[s.source]
        if isinstance(decl, ir.PoolDecl):
            return decl.item
        assert isinstance(decl, ir.MapDecl) and decl.value is not None
        return decl.value if s.kind == "map" else t.Entry(decl.key, decl.value)

    def _write(self, s: ir.MapPut | ir.MapRemove | ir.StateWrite, done: Executed) -> str:
        match self.program.state[s.state]:
            case ir.MapDecl(key=key, value=value):
                return f"{s.state}[{self.text(done.key, key)}]: {self._changed(done, value or t.BOOL)}"
            case ir.ArrayDecl(item=item):
                return f"{s.state}[{done.key}]: {self._changed(done, item)}"
            case ir.ScalarDecl(type=type):
                return f"{s.state}: {self._changed(done, type)}"
        raise AssertionError(s)

    def _verdict(self, s: ir.Statement, result: Any) -> list[str]:
        match s:
            case ir.Send(target=target):
                return [f"sent to {self.text(result, target.type)}"]
            case ir.Bounce():
                return ["sent back"]
            case ir.Drop(reason=reason):
                return [f'dropped: "{reason}"']
            case _:
                return []


def _written(s: ir.Statement, e: ir.Expr) -> bool:
    """Is the operand what the statement writes, as in `x += 1`? Old and new value are said anyhow."""
    match s, e:
        case (ir.FieldWrite(), ir.HeaderField()):
            return (s.instance, s.field) == (e.instance, e.field)
        case (ir.StateWrite(), ir.StateRead() | ir.ArrayRead()):
            return s.state == e.state and s.span == e.span
        case _:
            return False
