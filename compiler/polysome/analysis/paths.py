"""What the paths through the packet handlers that end in `send` or `bounce` do to the packet.

Facts are kept for a set of parse classes that no header test of the handlers tells apart, so every test of a header
goes one way for all of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import reduce

from polysome.analysis.relevance import members, passing, scheduled
from polysome.ir import program as ir
from polysome.ir import types as t
from polysome.ir.classes import split
from polysome.ir.reads import children

Operation = ir.Push | ir.Pop | ir.Truncate
FieldKey = tuple[int, int]


@dataclass(frozen=True)
class Sending:
    """All sending paths of some classes: fields written on any of them with the first write, on all of them, and the
    different sequences of pushes, pops and truncations; `looped` is an operation in a loop, if there is one."""

    written: dict[FieldKey, ir.FieldWrite]
    always: frozenset[FieldKey]
    operations: tuple[tuple[Operation, ...], ...]
    looped: Operation | None


def distinguishing(program: ir.Program) -> list[int]:
    """Masks of classes that together tell apart what handlers and schedule do not treat alike."""
    tests = _Tests(program.parser)
    for handler in program.packet_handlers:
        tests.body(handler.body, passing(program))
    for e in scheduled(program):
        tests.expression(e, passing(program))
    return list(tests.found)


def statements(body: ir.Body) -> Iterator[ir.Statement]:
    """Every statement in a body, outer ones first."""
    for s in body:
        yield s
        match s:
            case ir.If():
                yield from statements((*s.then, *s.orelse))
            case ir.Lookup():
                yield from statements((*s.found, *s.absent))
            case ir.ForRange() | ir.ForEach():
                yield from statements(s.body)


class _Tests:
    """Collects, as masks, how the header tests of a program divide the classes that get to them."""

    def __init__(self, parser: ir.Parser) -> None:
        self.parser = parser
        self.found: dict[int, None] = {}

    def body(self, body: ir.Body, mask: int) -> int:
        """Walk a body that the classes of `mask` enter; those that may get to its end."""
        for statement in body:
            mask = self._statement(statement, mask) if mask else 0
        return mask

    def _statement(self, s: ir.Statement, mask: int) -> int:
        for e in children(s):
            self.expression(e, mask)
        match s:
            case ir.If():
                yes, no = split(s.condition, mask, self.parser)
                return self.body(s.then, yes) | self.body(s.orelse, no)
            case ir.Lookup():
                return self.body(s.found, mask) | self.body(s.absent, mask)
            case ir.ForRange() | ir.ForEach():
                self.body(s.body, mask)
                return mask
            case ir.Send() | ir.Bounce() | ir.Drop():
                return 0
            case ir.FieldWrite(instance=i):
                self._divide(mask, mask & self.parser.having[i])
            case ir.Pop(first=a, last=b):
                self._divide(mask, mask & self.parser.having[a])
                self._divide(mask, mask & self.parser.having[b])
        return mask

    def _divide(self, mask: int, part: int) -> None:
        if part not in (0, mask):
            self.found[part] = None

    def expression(self, e: ir.Expr, mask: int) -> None:
        """The tests in an expression that is evaluated for the classes of `mask`."""
        if isinstance(e.type, t.Bool):
            yes, no = split(e, mask, self.parser)
            self._divide(mask, yes & ~no)
            self._divide(mask, no & ~yes)
            mask = yes & no if not isinstance(e, ir.Choose) else mask
        if not mask:
            return
        match e:
            case ir.PacketValue(name=name, for_class=for_class):
                value = self.parser.values[name]
                self.expression(value.for_class if for_class else value.value, mask)
            case ir.Choose():
                self.expression(e.condition, mask)
                yes, no = split(e.condition, mask, self.parser)
                self.expression(e.then, yes)
                self.expression(e.orelse, no)
            case ir.Binary(op="and" | "or"):
                self.expression(e.left, mask)
                yes, no = split(e.left, mask, self.parser)
                self.expression(e.right, yes if e.op == "and" else no)
            case _:
                for child in children(e):
                    self.expression(child, mask)


def sending(program: ir.Program, classes: int) -> Sending:
    """The sending paths of `classes`, which `distinguishing` must not tell apart."""
    walk = _Walk(program.parser, classes & passing(program))
    for handler in program.packet_handlers:
        walk.body(handler.body, _Facts({}, frozenset(), ((),)))
    ends = walk.ends
    if not ends:
        return Sending({}, frozenset(), ((),), None)
    everything = reduce(_merge, ends)
    return Sending(everything.written, everything.always, everything.operations, walk.looped)


@dataclass(frozen=True)
class _Facts:
    """At one place: fields that may have been written, that surely were, and the possible operations so far."""

    written: dict[FieldKey, ir.FieldWrite]
    always: frozenset[FieldKey]
    operations: tuple[tuple[Operation, ...], ...]


def _merge(a: _Facts, b: _Facts) -> _Facts:
    operations = tuple(dict.fromkeys((*a.operations, *b.operations)))
    return _Facts(b.written | a.written, a.always & b.always, operations)


class _Walk:
    """Collects the facts at every sending verdict."""

    def __init__(self, parser: ir.Parser, mask: int) -> None:
        self.parser, self.mask = parser, mask
        self.path = parser.classes[next(members(mask))] if mask else ()
        self.ends: list[_Facts] = []
        self.looped: Operation | None = None

    def body(self, body: ir.Body, facts: _Facts | None) -> _Facts | None:
        """The facts behind the body; None if no path gets there."""
        for statement in body:
            if facts is None:
                return None
            facts = self._statement(statement, facts)
        return facts

    def _statement(self, s: ir.Statement, facts: _Facts) -> _Facts | None:
        match s:
            case ir.If():
                yes, no = split(s.condition, self.mask, self.parser)
                return self._branches(s.then if yes else None, s.orelse if no else None, facts)
            case ir.Lookup():
                return self._branches(s.found, s.absent, facts)
            case ir.ForRange() | ir.ForEach():
                return self._loop(s.body, facts)
            case ir.FieldWrite(instance=i, field=f):
                return replace(facts, written={(i, f): s} | facts.written, always=facts.always | {(i, f)})
            case ir.Pop():
                return self._pop(s, facts)
            case ir.Push() | ir.Truncate():
                return replace(facts, operations=tuple((*before, s) for before in facts.operations))
            case ir.Send() | ir.Bounce():
                self.ends.append(facts)
                return None
            case ir.Drop():
                return None
            case _:
                return facts

    def _branches(self, first: ir.Body | None, second: ir.Body | None, facts: _Facts) -> _Facts | None:
        a = self.body(first, facts) if first is not None else None
        b = self.body(second, facts) if second is not None else None
        return _merge(a, b) if a is not None and b is not None else a or b

    def _loop(self, body: ir.Body, facts: _Facts) -> _Facts:
        """None, one or more turns; operations in a loop have no fixed number and are only noted."""
        for statement in statements(body):
            if isinstance(statement, (ir.Push, ir.Pop, ir.Truncate)):
                self.looped = self.looped or statement
        after = self.body(body, replace(facts, operations=((),)))
        merged = facts if after is None else _merge(facts, after)
        return replace(merged, operations=facts.operations)

    def _pop(self, s: ir.Pop, facts: _Facts) -> _Facts:
        """Writes to what was popped have no effect, so its fields count as written: nothing is missing."""
        gone = popped(s, self.path)
        fields = {(i, f) for i in gone for f in range(len(self.parser.instances[i].header.fields))}
        written = {key: write for key, write in facts.written.items() if key not in fields}
        return _Facts(written, facts.always | fields, tuple((*before, s) for before in facts.operations))


def popped(pop: ir.Pop, path: tuple[int, ...]) -> tuple[int, ...]:
    """The instances that a pop takes out of a packet with these headers."""
    if pop.first not in path or pop.last not in path:
        return ()
    return path[path.index(pop.first) : path.index(pop.last) + 1]
