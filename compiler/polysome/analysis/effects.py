"""Effects: what each handler does to state, to packets and to their fate, in program order (DESIGN section 5).

Order is that of evaluation: operands before the operation, left to right.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache

from polysome.analysis.words import duration
from polysome.ir import program as ir
from polysome.ir import types as t
from polysome.ir.fold import NotConstant, Undefined, fold
from polysome.ir.reads import children
from polysome.kinds.state import STATE_KINDS
from polysome.syntax.spans import Span


@dataclass(frozen=True)
class Occurrence:
    """Something that a handler does at `span`: `conditional` if some path through the handler does not, at most
    `times` times (None: as often as a table or a map has entries)."""

    span: Span
    conditional: bool
    times: int | None


@dataclass(frozen=True)
class Access(Occurrence):
    """An operation on `state`, or with `table` on a config table.

    `action`: read, write (a value in place), insert (a new entry, or over the old one), remove, take (from a pool or a
    bucket). `key` is the source text of key, index or element, "" if there is none; `index` the map's index that is
    used. `refreshes`: a use in the sense of `idle`.
    """

    state: str
    action: str
    key: str
    index: str
    refreshes: bool
    table: bool = False


@dataclass(frozen=True)
class Verdict(Occurrence):
    """`kind` send, bounce or drop; `what` is the source text of the target, or the reason."""

    kind: str
    what: str


@dataclass(frozen=True)
class Emission(Occurrence):
    """An `emit` of these headers, to the port that `target` says."""

    headers: tuple[str, ...]
    target: str


@dataclass(frozen=True)
class FieldEffect(Occurrence):
    """A header field that is written."""

    instance: int
    field: int


@dataclass(frozen=True)
class PacketOperation(Occurrence):
    """A push, pop or truncation: `push vxlan before outer.ethernet`."""

    what: str


@dataclass(frozen=True)
class HandlerEffects:
    """`name` as the source says it: `on packet from inside`, `on end sticky`, `every 10s`, `schedule`."""

    name: str
    span: Span
    ports: tuple[int, ...]
    accesses: tuple[Access, ...]
    verdicts: tuple[Verdict, ...]
    emissions: tuple[Emission, ...]
    writes: tuple[FieldEffect, ...]
    operations: tuple[PacketOperation, ...]


@dataclass(frozen=True)
class Effects:
    """All handlers in declaration order, then the schedule; `lacking` is the verdict of `relevant … else`."""

    handlers: tuple[HandlerEffects, ...]
    lacking: Verdict | None


@lru_cache(maxsize=1)  # the checks and what is printed ask for the same
def effects(program: ir.Program) -> Effects:
    """What every handler of the program does."""
    found = []
    for handler in program.packet_handlers:
        ports = ", ".join(program.ports[p] for p in handler.ports)
        found.append(_handler(program, f"on packet from {ports}", handler.span, handler.body, handler.ports))
    for end in program.end_handlers.values():
        found.append(_handler(program, f"on end {end.map}", end.span, end.body, ()))
    for timer in program.timers:
        found.append(_handler(program, f"every {duration(timer.period)}", timer.span, timer.body, ()))
    schedule = program.schedule
    walk = _Walk(program)
    for e in (schedule.cls, *schedule.args):
        walk.expression(e)
    found.append(walk.result("schedule", schedule.span, ()))
    lacking = _Walk(program)
    if program.contract is not None:
        lacking.body((program.contract.orelse,))
    return Effects(tuple(found), lacking.verdicts[0] if lacking.verdicts else None)


def _handler(program: ir.Program, name: str, span: Span, body: ir.Body, ports: tuple[int, ...]) -> HandlerEffects:
    walk = _Walk(program)
    walk.body(body)
    return walk.result(name, span, ports)


def text(program: ir.Program, span: Span) -> str:
    """The source text of a span, on one line."""
    return " ".join(program.sources[span.file].text[span.start : span.end].split())


def operation_words(operation: ir.Push | ir.Pop | ir.Truncate, program: ir.Program) -> str:
    """`push vxlan before outer.ethernet`, `pop a..b`, `truncate len`."""
    names = [instance.name for instance in program.parser.instances]
    match operation:
        case ir.Push(header=header, before=before):
            return f"push {header} before {names[before] if before is not None else 'payload'}"
        case ir.Pop(first=first, last=last):
            return f"pop {names[first]}" if first == last else f"pop {names[first]}..{names[last]}"
        case ir.Truncate(size=size):
            return f"truncate {text(program, size.span)}"


@dataclass
class _Walk:
    """Collects the effects of one handler. `sure`: every path gets here; `times`: the turns of the loops around."""

    program: ir.Program
    accesses: list[Access] = field(default_factory=list)
    verdicts: list[Verdict] = field(default_factory=list)
    emissions: list[Emission] = field(default_factory=list)
    writes: list[FieldEffect] = field(default_factory=list)
    operations: list[PacketOperation] = field(default_factory=list)
    sure: bool = True
    times: int | None = 1

    def result(self, name: str, span: Span, ports: tuple[int, ...]) -> HandlerEffects:
        return HandlerEffects(
            name=name,
            span=span,
            ports=ports,
            accesses=tuple(self.accesses),
            verdicts=tuple(self.verdicts),
            emissions=tuple(self.emissions),
            writes=tuple(self.writes),
            operations=tuple(self.operations),
        )

    def _here(self, span: Span) -> tuple[Span, bool, int | None]:
        return span, not self.sure, self.times

    @contextmanager
    def _unsure(self) -> Iterator[None]:
        before, self.sure = self.sure, False
        yield
        self.sure = before

    # ------------------------------------------------------------ statements

    def body(self, body: ir.Body) -> bool:
        """Walk the statements; does a path get to the end? If one ends before, what follows is conditional."""
        return all(self._statement(statement) for statement in body)

    def _statement(self, s: ir.Statement) -> bool:
        for e in children(s):
            if not isinstance(s, ir.MapPut) or e is not s.value:
                self.expression(e)
        match s:
            case ir.If():
                return self._branches(s.then, s.orelse)
            case ir.Lookup():
                self._lookup(s)
                return self._branches(s.found, s.absent)
            case ir.ForRange() | ir.ForEach():
                self._loop(s)
            case ir.MapPut() | ir.MapRemove() | ir.StateWrite():
                self._state(s)
            case ir.FieldWrite(span=span, instance=i, field=f):
                self.writes.append(FieldEffect(*self._here(span), i, f))
            case ir.Push() | ir.Pop() | ir.Truncate():
                self.operations.append(PacketOperation(*self._here(s.span), operation_words(s, self.program)))
            case ir.Emit(span=span, headers=headers, target=target):
                names = tuple(name for name, _ in headers)
                self.emissions.append(Emission(*self._here(span), names, text(self.program, target.span)))
            case ir.Send() | ir.Bounce() | ir.Drop():
                self._verdict(s)
                return False
        return True

    def _branches(self, first: ir.Body, second: ir.Body) -> bool:
        ends = []
        for branch in (first, second):
            with self._unsure():
                before = len(self.verdicts)
                goes_on = self.body(branch)
                ends.append((goes_on, len(self.verdicts) > before))
        if any(verdict for _, verdict in ends):
            self.sure = False
        return any(goes_on for goes_on, _ in ends)

    def _loop(self, s: ir.ForRange | ir.ForEach) -> None:
        turns = None
        if isinstance(s, ir.ForRange):
            try:
                turns = max(0, fold(s.high) - fold(s.low))
            except (NotConstant, Undefined):
                turns = None
        elif s.state is not None:
            self._access(s, s.state, "read")
        elif isinstance(s.table, ir.Config):
            self._access(s, s.table.name, "read", table=True)
        before, self.times = self.times, None if turns is None or self.times is None else self.times * turns
        sure = self.sure
        self.sure = sure and bool(turns)
        verdicts = len(self.verdicts)
        self.body(s.body)
        self.times, self.sure = before, sure and len(self.verdicts) == verdicts

    def _verdict(self, s: ir.Send | ir.Bounce | ir.Drop) -> None:
        match s:
            case ir.Send(target=target):
                kind, what = "send", text(self.program, target.span)
            case ir.Drop(reason=reason):
                kind, what = "drop", reason
            case _:
                kind, what = "bounce", ""
        self.verdicts.append(Verdict(*self._here(s.span), kind, what))

    # ------------------------------------------------------------ state

    def _access(
        self,
        node: ir.Node,
        state: str,
        action: str,
        key: ir.Expr | None = None,
        index: str | None = None,
        refreshes: bool = False,
        table: bool = False,
    ) -> None:
        words = text(self.program, key.span) if key is not None else ""
        self.accesses.append(Access(*self._here(node.span), state, action, words, index or "", refreshes, table))

    def _lookup(self, s: ir.Lookup) -> None:
        if s.kind == "table":
            self._access(s, s.source, "read", s.key, table=True)
        else:
            action = "take" if s.kind == "pool" else "read"
            refreshes = s.kind != "pool" and s.refresh
            self._access(s, s.source, action, s.key, s.index, refreshes)

    def _state(self, s: ir.MapPut | ir.MapRemove | ir.StateWrite) -> None:
        match s:
            case ir.MapPut(state=m, key=key, value=value, current=current):
                if current is not None:
                    self._access(s, m, "read", key)
                self.expression(value)
                self._access(s, m, "insert", key, refreshes=True)
            case ir.MapRemove(state=m, key=key):
                self._access(s, m, "remove", key)
            case ir.StateWrite(state=name, index=index):
                self._access(s, name, "write", index)

    # ------------------------------------------------------------ expressions

    def expression(self, e: ir.Expr) -> None:
        """The accesses in an expression, operands first."""
        match e:
            case ir.Binary(op="and" | "or", left=left, right=right):
                self.expression(left)
                with self._unsure():
                    self.expression(right)
                return
            case ir.Choose(condition=condition, then=then, orelse=orelse):
                self.expression(condition)
                with self._unsure():
                    self.expression(then)
                    self.expression(orelse)
                return
        for child in children(e):
            self.expression(child)
        match e:
            case ir.StateRead(state=state) | ir.StateLen(state=state):
                self._access(e, state, "read")
            case ir.ArrayRead(state=state, index=index):
                self._access(e, state, "read", index)
            case ir.Contains(state=state, key=key, index=name):
                self._access(e, state, "read", key, name)
            case ir.MethodCall():
                self._method(e)
            case ir.BucketOp():
                self._bucket(e)
            case ir.Config(name=name) if not isinstance(e.type, (t.Table, t.ListOf, t.SetOf)):
                pass
            case ir.Config(name=name):
                self._access(e, name, "read", table=True)

    def _method(self, e: ir.MethodCall) -> None:
        decl = self.program.state[e.state]
        key = e.args[0] if e.args else None
        if isinstance(decl, ir.MapDecl):  # `add` of a set
            self._access(e, e.state, "insert", key, refreshes=True)
            return
        assert isinstance(decl, ir.KindDecl)
        method = next(m for m in STATE_KINDS[decl.kind].methods if m.name == e.method)
        self._access(e, e.state, "write" if method.writes else "read", key)

    def _bucket(self, e: ir.BucketOp) -> None:
        place = e.place
        if e.take and place.kind == "map":
            self._access(e, place.state, "insert", place.key, refreshes=True)
        self._access(e, place.state, "take" if e.take else "read", place.key)
