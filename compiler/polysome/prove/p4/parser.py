"""Every path that a frame can take through a parser, as the soft switch and TNA walk it (`p4/translate/parser.py`).

A frame that ends inside a header, a lookahead or an advance is an error there, and so is a select without a match:
what was extracted before stays, and the frame goes on from the last header's end. A program that reads the error gets
it, one that does not loses the frame.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby

from polysome import smt
from polysome.p4 import program as pr
from polysome.p4.architecture import ARCHITECTURES
from polysome.p4.types import Composite, Type, width
from polysome.prove.once import Once
from polysome.prove.p4.code import code
from polysome.prove.p4.expressions import Value, as_term, evaluate, simplified
from polysome.prove.p4.store import InWindow, Key, Reader, Residual, Store, pieces, words
from polysome.prove.p4.world import Feasible, World
from polysome.prove.window import Term, Window

NO_MATCH, PARTIAL = 1, 2  # PARSER_ERROR_NO_MATCH, PARSER_ERROR_PARTIAL_HDR
REJECTED = 0x8000  # the program's own `reject`: the frame is lost


@dataclass(frozen=True)
class Step:
    """In `state`, `case` of its select was taken; -1: an error ended the walk there."""

    state: str
    case: int


@dataclass(frozen=True)
class Path:
    """One path. `store` is what the control finds; `consumed` counts bits of the window; `error` is 0 if there is none.

    In the store `parser_err` is not set yet: the control's walk does that.
    """

    steps: tuple[Step, ...]
    conditions: tuple[Term, ...]
    store: Store
    consumed: int
    error: int

    def __str__(self) -> str:
        walked = " > ".join(step.state for step in self.steps)
        ended = {0: "accept", NO_MATCH: "no match", PARTIAL: "too short", REJECTED: "reject"}[self.error]
        return f"{walked} > {ended}"


def port_metadata(program: pr.Program, name: str = "") -> Term:
    """What stands before a frame in ingress: bits that the controller sets for the port."""
    return smt.BitVec(f"{name}port_metadata", ARCHITECTURES[program.arch].port_metadata)


def paths(
    program: pr.Program,
    gress: pr.Gress,
    window: Window,
    *,
    name: str = "",
    given: Mapping[Key, Value] | None = None,
    metadata: Term | None = None,
    assumptions: Iterable[Term] = (),
) -> tuple[Path, ...]:
    """All feasible paths through the gress's parser, of frames that `window` shows and for which `assumptions` hold.

    `name` stands before the names of all free symbols; `given` are values known before (intrinsic metadata);
    `metadata` is the port's, free unless given. The conditions of the paths exclude each other and leave nothing out.
    """
    port, known, facts = port_metadata(program, name) if metadata is None else metadata, given or {}, tuple(assumptions)

    def find() -> tuple[Path, ...]:
        store = Store(name, Reader(window), dict(known))
        return tuple(_Walk(gress.parser, window, port, Feasible(facts)).run(store))

    return _PATHS.get((code(program, gress).parser, window, name, known, port, facts), find)


_PATHS: Once[tuple[Path, ...]] = Once()


@dataclass
class _At:
    """Where a walk is."""

    world: World
    steps: tuple[Step, ...] = ()
    consumed: int = 0
    running: tuple[tuple[str, tuple[Term, ...]], ...] = ()  # words subtracted, by checksum unit
    deposits: tuple[pr.ChecksumDeposit, ...] = ()

    def given(self, condition: Value, last: bool) -> _At:
        """A copy, on a way on which the condition holds; on the `last` one with what the walk itself has."""
        return _At(self.world.given(condition, last), self.steps, self.consumed, self.running, self.deposits)

    def subtracted(self, unit: str) -> tuple[Term, ...]:
        return dict(self.running).get(unit, ())

    def subtract(self, unit: str, more: tuple[Term, ...]) -> None:
        self.running = tuple((dict(self.running) | {unit: (*self.subtracted(unit), *more)}).items())

    # What expressions ask for (expressions.Reads).

    def value(self, place: pr.Place) -> Value:
        return self.world.store.value(place)

    def is_valid(self, header: pr.Place) -> bool:
        return self.world.store.is_valid(header.key)

    def extern(self, e: pr.Expr) -> Value:
        match e:
            case pr.Lookahead():
                return self.world.store.reader.bits(self.consumed, width(e.type))
            case pr.ChecksumGet():
                return self.world.store.sum("residual", Residual(self.subtracted(e.unit)))
            case _:
                raise AssertionError(e)


class _Walk:
    def __init__(self, parser: pr.Parser, window: Window, port: Term, feasible: Feasible) -> None:
        self.states = {s.name: s for s in parser.states}
        self.window, self.port, self.feasible = window, port, feasible

    def run(self, store: Store) -> Iterator[Path]:
        yield from self._state("start", _At(World(store)))

    def _state(self, name: str, at: _At) -> Iterator[Path]:
        if name in ("accept", "reject"):
            yield self._ended(at, 0 if name == "accept" else REJECTED)
        else:
            state = self.states[name]
            yield from self._body(state, 0, at)

    def _ended(self, at: _At, error: int) -> Path:
        store = at.world.store
        for deposit in at.deposits:
            store.write(deposit.target.key, store.sum("residual", Residual(at.subtracted(deposit.unit))))
        return Path(at.steps, at.world.conditions, store, at.consumed, error)

    def _error(self, state: pr.State, at: _At, error: int) -> Path:
        at.steps = (*at.steps, Step(state.name, -1))
        return self._ended(at, error)

    # ------------------------------------------------------------ statements

    def _body(self, state: pr.State, first: int, at: _At) -> Iterator[Path]:
        """From statement `first` on; `at` is the walk's own, and changed."""
        for i in range(first, len(state.body)):
            s = state.body[i]
            needed = _needed(s, at.consumed)
            if needed > at.consumed:
                for enough, there in self._there(needed, at):
                    if enough:
                        self._do(s, there)
                        yield from self._body(state, i + 1, there)
                    else:
                        yield self._error(state, there, PARTIAL)
                return
            self._do(s, at)
        yield from self._transition(state, at)

    def _there(self, end: int, at: _At) -> Iterator[tuple[bool, _At]]:
        """The walk where the window has `end` bits, and where it has not."""
        for enough, said in self.feasible.split(simplified(self.window.has(end // 8))):
            yield enough, at.given(said, last=not enough or isinstance(said, int))

    def _do(self, s: pr.Stmt, at: _At) -> None:
        store = at.world.store
        match s:
            case pr.Extract():
                self._extract(s, at)
            case pr.Advance():
                at.consumed += s.bits
            case pr.ExtractIntrinsic():
                pass
            case pr.PortMetadata():
                self._port_metadata(s, at)
            case pr.ChecksumSubtract():
                at.subtract(s.unit, words([(evaluate(item, at), width(item.type)) for item in s.items]))
            case pr.ChecksumDeposit():
                at.deposits = (*at.deposits, s)
            case pr.SetValid():
                store.validity[s.header.key] = s.valid
            case pr.Assign():
                assign(s, evaluate(s.value, at), store)
            case pr.Declare():
                store.values.pop(s.variable.key, None)
            case pr.If():  # of a header that is copied: is it valid?
                for inner in s.yes if evaluate(s.condition, at) else s.no:
                    self._do(inner, at)
            case _:
                raise AssertionError(s)

    def _extract(self, s: pr.Extract, at: _At) -> None:
        kind, store = s.header.type, at.world.store
        assert isinstance(kind, Composite)
        place = store.places[s.header.key] = at.consumed
        for name, field_kind in kind.fields:
            store.values[*s.header.key, name] = InWindow(place, width(field_kind))
            place += width(field_kind)
        store.validity[s.header.key] = True
        for unit in dict.fromkeys(d.unit for d in at.deposits):
            whole = store.reader.bits(at.consumed, kind.width)
            at.subtract(unit, words([(whole, kind.width), *([(0, 8)] if kind.width % 16 else [])]))
        at.consumed += kind.width

    def _port_metadata(self, s: pr.PortMetadata, at: _At) -> None:
        if s.target is None or not isinstance(s.target.type, Composite):
            return
        high = self.port.size()
        for name, kind in s.target.type.fields:
            bits = width(kind)
            at.world.store.write((*s.target.key, name), simplified(smt.Extract(high - 1, high - bits, self.port)))
            high -= bits

    # ------------------------------------------------------------ transitions

    def _transition(self, state: pr.State, at: _At) -> Iterator[Path]:
        looked = max((_needed_by(v, at.consumed) for v in state.values), default=0)
        if looked > at.consumed:
            for enough, there in self._there(looked, at):
                if enough:
                    yield from self._select(state, there)
                else:
                    yield self._error(state, there, PARTIAL)
        else:
            yield from self._select(state, at)

    def _select(self, state: pr.State, at: _At) -> Iterator[Path]:
        values = [evaluate(v, at) for v in state.values]
        tests = [(_matches(values, state.values, case), n) for n, case in enumerate(state.cases)]
        runs = [list(run) for _, run in groupby(tests, key=lambda test: state.cases[test[1]].state)]
        yield from self._cases(state, [(_any([test for test, _ in run]), run[0][1]) for run in runs], at)

    def _cases(self, state: pr.State, tests: list[tuple[Value, int]], at: _At) -> Iterator[Path]:
        """The cases, each the first of those that stand together and lead to one state; no one before matched."""
        if not tests:
            yield self._error(state, at, NO_MATCH)
            return
        test, case = tests[0]
        for taken, said in self.feasible.split(test):
            on = at.given(said, last=not taken or isinstance(said, int))
            if taken:
                on.steps = (*on.steps, Step(state.name, case))
                yield from self._state(state.cases[case].state, on)
            else:
                yield from self._cases(state, tests[1:], on)


def _any(tests: list[Value]) -> Value:
    unknown = [test for test in tests if not isinstance(test, int)]
    if len(unknown) < len(tests) and any(test == 1 for test in tests if isinstance(test, int)):
        return 1
    return simplified(smt.Or(*unknown)) if len(unknown) > 1 else unknown[0] if unknown else 0


def assign(s: pr.Assign, value: Value, store: Store) -> None:
    """Writes a place or a slice of one."""
    if isinstance(s.target, pr.Place):
        store.write(s.target.key, value)
        return
    base, high, low = s.target.value, s.target.high, s.target.low
    assert isinstance(base, pr.Place)
    size, old = width(base.type), as_term(store.value(base), base.type)
    parts: list[tuple[Value, int]] = [(value, high + 1 - low)]
    if high + 1 < size:
        parts.insert(0, (simplified(smt.Extract(size - 1, high + 1, old)), size - high - 1))
    if low:
        parts.append((simplified(smt.Extract(low - 1, 0, old)), low))
    store.write(base.key, pieces(parts, size)[0])


def _matches(values: list[Value], exprs: tuple[pr.Expr, ...], case: pr.SelectCase) -> Value:
    if not case.keys:
        return 1
    return matches([(v, e.type, *key) for v, e, key in zip(values, exprs, case.keys, strict=True)])


def matches(keys: Iterable[tuple[Value, Type, int, int]]) -> Value:
    """Is each value, of its type, the number that is wanted where the mask has ones?"""
    tests = []
    for value, kind, wanted, mask in keys:
        if isinstance(value, int):
            if value & mask != wanted:
                return 0
        elif mask == (1 << width(kind)) - 1:
            tests.append(value == as_term(wanted, kind))
        elif mask:
            tests.append(value & mask == wanted)
    if not tests:
        return 1
    return simplified(smt.And(*tests) if len(tests) > 1 else tests[0])


def _needed(s: pr.Stmt, consumed: int) -> int:
    """Up to where, in bits, the frame must reach for a statement."""
    match s:
        case pr.Extract():
            return consumed + width(s.header.type)
        case pr.Advance():
            return consumed + s.bits
        case _:
            return max((_needed_by(e, consumed) for e in pr.reads(s)), default=0)


def _needed_by(e: pr.Expr, consumed: int) -> int:
    seen = [width(part.type) for part in pr.subexpressions(e) if isinstance(part, pr.Lookahead)]
    return consumed + max((bits + 7) // 8 * 8 for bits in seen) if seen else 0
