"""Controls and deparsers, statement by statement: one world for each way that a packet can take through them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache

from polysome import smt
from polysome.p4 import program as pr
from polysome.p4.types import BOOL, Composite, Type, width
from polysome.prove.p4 import tables
from polysome.prove.p4.expressions import Value, as_term, evaluate, simplified
from polysome.prove.p4.parser import assign
from polysome.prove.p4.registers import Elements, execute, targets
from polysome.prove.p4.store import Emitted, Hashed, InWindow, Mirror, Ran, Store, Updated, initial, pieces, words
from polysome.prove.p4.tables import Entries
from polysome.prove.p4.world import Feasible, World
from polysome.prove.window import Term


@dataclass(frozen=True)
class Around:
    """What a control meets outside of the packet: entries of tables, elements of registers. What is not said is free.

    Hashes, meters and random numbers are free; counters change nothing that a packet sees.
    """

    entries: Entries = field(default_factory=dict)
    elements: Elements | None = None


FREE = Around()


@dataclass
class _Packet:
    """What expressions ask for (expressions.Reads), of one packet."""

    program: pr.Program
    store: Store
    around: Around

    def value(self, place: pr.Place) -> Value:
        return self.store.value(place)

    def is_valid(self, header: pr.Place) -> bool:
        return self.store.is_valid(header.key)

    def extern(self, e: pr.Expr) -> Value:
        match e:
            case pr.Execute():
                return execute(self.program, e, evaluate(e.index, self), self.store, self.around.elements)
            case pr.HashOf():
                items = [(evaluate(item, self), width(item.type)) for item in e.items]
                found = self.store.symbol("hash", width(e.type))
                self.store.hashed = (*self.store.hashed, Hashed(e.algorithm, byte_terms(pieces(items, 8)), found))
                return found
            case pr.MeterOf():
                return self.store.symbol(e.meter, width(e.type))
            case pr.Random():
                return self.store.symbol("random", width(e.type))
            case pr.ChecksumOf():
                items = [(evaluate(item, self), width(item.type)) for item in e.items]
                return self.store.sum("checksum", Updated(words(items), e.ones))
            case _:
                raise AssertionError(e)


class Walk:
    """The walk of one gress's code."""

    def __init__(self, program: pr.Program, around: Around, feasible: Feasible) -> None:
        self.program, self.around, self.feasible = program, around, feasible

    def block(self, body: tuple[pr.Stmt, ...], world: World, first: int = 0) -> Iterator[World]:
        """The worlds behind statements `first` and later. A world is its walk's own, and changed."""
        for i in range(first, len(body)):
            if _forks(body[i]):
                for after in self._forking(body[i], world):
                    yield from self.block(body, after, i + 1)
                return
            self._straight(body[i], world.store)
        yield world

    def _straight(self, s: pr.Stmt, store: Store) -> None:
        match s:
            case pr.Assign():
                assign(s, self._value(s.value, store), store)
            case pr.SetValid():
                store.validity[s.header.key] = s.valid
            case pr.Do():
                self._value(s.value, store)
            case pr.Declare():
                store.values.pop(s.variable.key, None)
            case pr.Count():
                pass
            case pr.EmitHeader():
                if store.is_valid(s.header.key):
                    store.emitted = (*store.emitted, emitted(s.header, store))
            case pr.EmitMirror():
                items = [(self._value(item, store), width(item.type)) for item in s.items]
                store.mirror = Mirror(self._value(s.session, store), byte_terms(pieces(items, 8)))
            case _:
                raise AssertionError(s)

    def _value(self, e: pr.Expr, store: Store) -> Value:
        return evaluate(e, _Packet(self.program, store, self.around))

    # ------------------------------------------------------------ forks

    def _forking(self, s: pr.Stmt, world: World) -> Iterator[World]:
        match s:
            case pr.If() if _assigns(s):
                yield self._chosen(s, world)
            case pr.If():
                for after, holds in self._branch(s.condition, world):
                    yield from self.block(s.yes if holds else s.no, after)
            case pr.Run():
                yield from self.block(s.body, world)
            case pr.Apply():
                for after, _ in self._apply(s.table, world, seen=False):
                    yield after
            case pr.ApplySwitch():
                for after, ran in self._apply(s.table, world):
                    yield from self.block(_case(s, ran.action), after)
            case _:
                yield from self._hits(s, world)

    def _chosen(self, s: pr.If, world: World) -> World:
        """One world behind a choice between constants: each place that may be written is a term of the condition."""
        condition = self._value(s.condition, world.store)
        sides = [holds for holds, _ in self.feasible.split(condition)]
        if len(sides) == 1:
            self._assignments(s.yes if sides[0] else s.no, world.store)
            return world
        yes, no = world.store.copy(), world.store.copy()
        self._assignments(s.yes, yes)
        self._assignments(s.no, no)
        chosen = as_term(condition, BOOL)
        for place in targets((*s.yes, *s.no)):
            one, other = (as_term(on.value(place), place.type) for on in (yes, no))
            world.store.write(place.key, simplified(smt.If(chosen, one, other)))
        return world

    def _assignments(self, body: tuple[pr.Stmt, ...], store: Store) -> None:
        for s in body:
            if isinstance(s, pr.Run):
                self._assignments(s.body, store)
            else:
                self._straight(s, store)

    def _hits(self, s: pr.Stmt, world: World) -> Iterator[World]:
        """An assignment of `table.apply().hit`; elsewhere than there and in conditions programs do not ask for it."""
        assert isinstance(s, pr.Assign) and isinstance(s.value, pr.Hit), s
        for after, ran in self._apply(s.value.table, world):
            assign(s, int(ran.hit != s.value.miss), after.store)
            yield after

    def _branch(self, e: pr.Expr, world: World) -> Iterator[tuple[World, bool]]:
        """The worlds in which a condition holds or not. Tables are applied only where C++ would come to them."""
        match e:
            case pr.Hit():
                for after, ran in self._apply(e.table, world):
                    yield after, ran.hit != e.miss
            case pr.Unary(op="!") if _applies(e):
                for after, holds in self._branch(e.value, world):
                    yield after, not holds
            case pr.Binary(op="&&" | "||") if _applies(e):
                for after, holds in self._branch(e.left, world):
                    if holds == (e.op == "&&"):
                        yield from self._branch(e.right, after)
                    else:
                        yield after, holds
            case _:
                condition = self._value(e, world.store)
                for holds, said in self.feasible.split(condition):
                    yield world.given(said, last=not holds or isinstance(said, int)), holds

    def _apply(self, name: str, world: World, seen: bool = True) -> Iterator[tuple[World, Ran]]:
        table = self.program.tables[name]
        keys = tuple(self._value(k.value, world.store) for k in table.keys)
        for on, ran in tables.apply(self.program, table, keys, world, self.around.entries, self.feasible, seen):
            for after in self.block(self.program.actions[ran.action].body, on):
                yield after, ran


def _applies(e: pr.Expr) -> bool:
    found = _APPLIES.get(id(e))
    if found is None:
        found = _APPLIES[id(e)] = (e, any(isinstance(part, pr.Hit) for part in pr.subexpressions(e)))
    return found[1]


_APPLIES: dict[int, tuple[pr.Expr, bool]] = {}  # with the expression: its number is its own while it lives


def _assigns(s: pr.If) -> bool:
    """Does it set flags, and nothing else?"""
    found = _ASSIGNS.get(id(s))
    if found is None:
        assigns = not any(map(_asks, pr.reads(s))) and all(map(_assignment, (*s.yes, *s.no)))
        found = _ASSIGNS[id(s)] = (s, assigns)
    return found[1]


_ASSIGNS: dict[int, tuple[pr.Stmt, bool]] = {}  # with the statement: its number is its own while it lives


def _assignment(s: pr.Stmt) -> bool:
    if isinstance(s, pr.Run):
        return all(map(_assignment, s.body))
    return isinstance(s, pr.Assign) and isinstance(s.target, pr.Place) and isinstance(s.value, pr.Const)


def _asks(e: pr.Expr) -> bool:
    known = pr.Const | pr.Place | pr.Valid | pr.Slice | pr.Unary | pr.Binary | pr.Conditional | pr.Cast
    return not all(isinstance(part, known) for part in pr.subexpressions(e))


def _forks(s: pr.Stmt) -> bool:
    """May several worlds be behind the statement?"""
    found = _FORKS.get(id(s))
    if found is None:
        forks = isinstance(s, pr.If | pr.Run | pr.Apply | pr.ApplySwitch) or any(_applies(e) for e in pr.reads(s))
        found = _FORKS[id(s)] = (s, forks)
    return found[1]


_FORKS: dict[int, tuple[pr.Stmt, bool]] = {}  # with the statement: its number is its own while it lives


def _case(s: pr.ApplySwitch, action: str) -> tuple[pr.Stmt, ...]:
    default: tuple[pr.Stmt, ...] = ()
    for labels, body in s.cases:
        if action in labels:
            return body
        default = body if "" in labels else default
    return default


# ------------------------------------------------------------ bytes


def emitted(header: pr.Place, store: Store) -> Emitted:
    assert isinstance(header.type, Composite)
    return Emitted(header, tuple(store.raw((*header.key, name)) for name, _ in header.type.fields))


def header_bytes(of: Emitted, store: Store) -> tuple[Term, ...]:
    """A header as it was emitted: a term of 8 bits for each byte."""
    assert isinstance(of.header.type, Composite)
    if (extracted := _place_of(of.values)) is not None:
        return store.reader.octets(extracted, of.header.type.width // 8)
    key = (store.name, of.header.key, id(of.header.type), *map(id, of.values))
    known = store.reader.emitted.get(key)
    if known is None:
        known = store.reader.emitted[key] = (of, _header_bytes(of, of.header.type, store))
    return known[1]


def _header_bytes(of: Emitted, kind: Composite, store: Store) -> tuple[Term, ...]:
    found: list[Term] = []
    done = 0
    for group in _groups(kind):
        values = of.values[done : done + len(group)]
        done += len(group)
        first = _place_of(values)
        if first is not None:
            bits = sum(width(kind) for _, kind in group)
            found += store.reader.octets(first, bits // 8)
        else:
            items = [(_read(of.header, *f, value, store), width(f[1])) for f, value in zip(group, values, strict=True)]
            found += byte_terms(pieces(items, 8))
    return tuple(found)


def _read(header: pr.Place, name: str, kind: Type, value: Value | InWindow | None, store: Store) -> Value:
    if isinstance(value, InWindow):
        return store.reader.bits(value.at, value.width)
    return initial(store.name, (*header.key, name), kind) if value is None else value


def byte_terms(values: tuple[Value, ...]) -> tuple[Term, ...]:
    return tuple(_NUMBERS[value] if isinstance(value, int) else value for value in values)


_NUMBERS = tuple(smt.BitVecVal(value, 8) for value in range(256))


@cache
def _groups(of: Composite) -> tuple[tuple[tuple[str, Type], ...], ...]:
    """The fields of a header, as few together as begin and end at a byte's boundary."""
    found, group, bits = [], [], 0
    for name, kind in of.fields:
        group.append((name, kind))
        bits += width(kind)
        if bits % 8 == 0:
            found.append(tuple(group))
            group = []
    return tuple(found)


def _place_of(values: tuple[Value | InWindow | None, ...]) -> int | None:
    """The bit of the window where values lie as they were extracted, one after the other; None if they do not."""
    first = values[0]
    if not isinstance(first, InWindow):
        return None
    at = first.at
    for value in values:
        if not isinstance(value, InWindow) or value.at != at:
            return None
        at += value.width
    return first.at
