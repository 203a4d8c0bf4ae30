"""What frames do to what the switch remembers: every frame that any port may bring, as a step of a state machine.

A step is known by the accesses to registers of a pass through ingress, and by the conditions of the pass that are about
them, the frame's number and the clock. Conditions about other bytes are left out: so a step is made by more frames than
there are, which no proof about all of them minds.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import lru_cache

from polysome import smt
from polysome.p4.types import Bits
from polysome.prove.answers import reads
from polysome.prove.case import CONTROLLER, GENERATOR, NF, PLAIN, RECIRCULATION, SERVER, TRAFFIC
from polysome.prove.frames import STATION, any_frame
from polysome.prove.once import Once
from polysome.prove.p4.expressions import Value, simplified
from polysome.prove.p4.pipe import Passed, bridged, mirrored
from polysome.prove.p4.store import Access
from polysome.prove.traffic import Traffic, known_byte
from polysome.prove.window import LENGTH, Term, Window
from polysome.prove.wire import ANSWER, OPCODE, SEQ, SEQ_SIZE
from polysome_protocol import CLOCK as TICKS
from polysome_protocol import OPCODES

CLOCK = ("prsr", "global_tstamp")
ROLES: Mapping[int, str] = {
    PLAIN: "a station",
    TRAFFIC: "a traffic port",
    NF: "the NF",
    SERVER: "a memory server",
    RECIRCULATION: "the recirculation port",
    GENERATOR: "the packet generator",
    CONTROLLER: "the controller",
}


class Does(StrEnum):
    parks = "a packet is parked"
    reads = "edits become a READ"
    leaves = "a packet leaves"
    goes_round = "it goes round"
    goes_on = "it goes on"
    sets_psn = "the next PSN is set"
    ends = "it is dropped"


@dataclass(frozen=True, eq=False)
class Step:
    """`accesses`: by register; elements before it are symbols named after it (`before`). `seq`: the 32 bits
    in which the frame has its number; `now`: the tick at which it comes, as registers hold ticks.
    """

    role: int
    does: Does
    conditions: tuple[Term, ...]
    accesses: Mapping[str, Access]
    seq: Term
    now: Term

    def changes(self, register: str) -> bool:
        return register in self.accesses and self.accesses[register].changes

    def __str__(self) -> str:
        return f"a frame from {ROLES[self.role]}: {self.does}"


def before(register: str, field: str, bits: int) -> Term:
    """What an element held before a frame touched it."""
    return smt.BitVec(f"before {register}.{field}", bits)


@lru_cache(maxsize=1)
def steps(seen: Traffic) -> tuple[Step, ...]:
    """All of them, each once; programs that differ little have most of them in common."""
    found: dict[Step, None] = {}
    known: set[object] = set()
    for role, passed in _passes(seen):
        key = (role, id(passed.after), passed.lost, id(passed.path) if _tagged(role, passed) else 0)
        if passed.store.accesses and key not in known:
            known.add(key)
            found[_shared(_step(seen, role, passed))] = None
    return tuple(found)


def _shared(step: Step) -> Step:
    """It, or the one of a process that is the same when both are named after registers."""

    def find() -> Step:
        named = _named(step)
        return _STEPS.setdefault(identity(named), named)

    parts = (step.role, step.does, step.conditions, tuple(step.accesses.values()), step.seq, step.now)
    return _NAMED.get(parts, find)


_NAMED: Once[Step] = Once()
_STEPS: dict[object, Step] = {}


def _tagged(role: int, passed: Passed) -> bool:
    """Have registers to do with what the parser found out? It checks tags; of packets and answers it is no matter."""
    return role not in (TRAFFIC, SERVER) and passed.store.mirror is None


def _passes(seen: Traffic) -> Iterator[tuple[int, Passed]]:
    yield from ((TRAFFIC, passed) for passed in seen.passed)
    for role in (PLAIN, NF, SERVER, RECIRCULATION, GENERATOR, CONTROLLER):
        yield from ((role, passed) for passed in any_frame(seen, role))


def _step(seen: Traffic, role: int, passed: Passed) -> Step:
    """With the symbols of its pass, and without conditions that are about none of what a step is about."""
    store = passed.store
    assert passed.after is not None
    said = passed.conditions if _tagged(role, passed) else passed.after.conditions
    accesses = {access.register: access for access in store.accesses}
    assert len(accesses) == len(store.accesses), "a register is touched twice"
    seq, now = _number(seen, role, passed), _ticks(store.term(CLOCK, Bits(48)))
    step = Step(role, _does(seen, role, passed), tuple(_parts(said)), accesses, seq, now)
    return narrowed(step, accesses)


def narrowed(step: Step, accesses: Mapping[str, Access]) -> Step:
    """The step with these accesses only, and the conditions that are about them, its number and the clock."""
    about = symbols(step.seq) | symbols(step.now)
    for access in accesses.values():
        for value in (access.index, *access.old.values()):
            about |= symbols(value)
    conditions = tuple(c for c in step.conditions if symbols(c) <= about)
    return replace(step, accesses=accesses, conditions=conditions)


def _parts(conditions: Iterable[Term]) -> Iterator[Term]:
    for condition in conditions:
        if smt.is_and(condition):
            yield from _parts(condition.children())
        else:
            yield condition


def _ticks(clock: Term) -> Term:
    low = smt.Extract(TICKS.low_bits + TICKS.bits - 1, TICKS.low_bits, clock)
    return smt.simplify(smt.Concat(smt.BitVecVal(1, 2), low))


def _does(seen: Traffic, role: int, passed: Passed) -> Does:
    if passed.store.mirror is not None:
        return Does.parks
    if passed.lost:
        return Does.ends
    if passed.port == seen.case.addresses.recirculation:
        return Does.goes_round
    outs = seen.egress.passes(*bridged(passed, STATION, seen.case.chip))
    if any(known_byte(out.leaves, OPCODE) == OPCODES.read for out in outs if not out.lost):
        return Does.reads
    if any(access.changes for out in outs for access in out.store.accesses):
        return Does.sets_psn
    if not any(not out.lost for out in outs):
        return Does.ends
    return Does.leaves if role == SERVER else Does.goes_on


def _number(seen: Traffic, role: int, passed: Passed) -> Term:
    """Of a packet that is parked, what its fields' tag says; of all others, what stands in the tag, or the cell."""
    if passed.store.mirror is not None:
        window, given = mirrored(passed, passed.store.reader.window.frame, (1 << LENGTH) - 1, seen.case.chip)
        return smt.simplify(
            next(c.leaves for c in seen.egress.passes(window, given) if not c.lost).number(SEQ, SEQ_SIZE)
        )
    if role in (TRAFFIC, PLAIN, GENERATOR):
        return smt.BitVecVal(0, 8 * SEQ_SIZE)
    elsewhere: dict[int, int] = {SERVER: ANSWER, RECIRCULATION: SEQ + _retried(seen)}
    first = elsewhere.get(role, SEQ)
    return smt.simplify(Window(STATION).number(first, SEQ_SIZE))


def _retried(seen: Traffic) -> int:
    """How many bytes stand before a frame of edits that goes round."""
    return max((len(window.prefix) - window.first for window in reads(seen).round), default=0)


# ---------------------------------------------------------------- the same names in all steps


def _named(step: Step) -> Step:
    """With symbols that are named after registers."""
    pairs = [
        (old, before(access.register, field, old.size()))
        for access in step.accesses.values()
        for field, old in access.old.items()
        if isinstance(old, smt.Term)
    ]
    return renamed(step, pairs)


def renamed(step: Step, pairs: Iterable[tuple[Term, Term]]) -> Step:
    """The step with other terms for symbols, each of another name."""
    by_name = {old.name: (old, new) for old, new in pairs}

    def term(old: Term) -> Term:
        return _renamed(old, [by_name[name] for name in _symbols(old) if name in by_name])

    def value(old: Value) -> Value:
        return old if isinstance(old, int) else simplified(term(old))

    def element(old: Mapping[str, Value]) -> dict[str, Value]:
        return {field: value(one) for field, one in old.items()}

    def access(a: Access) -> Access:
        parts = (value(a.index), element(a.old), element(a.new), value(a.result))
        return Access(a.action, a.register, *parts, element(a.wrapped), value(a.wrapped_result))

    conditions = tuple(smt.simplify(term(c)) for c in step.conditions)
    accesses = {name: access(a) for name, a in step.accesses.items()}
    seq, now = (smt.simplify(term(t)) for t in (step.seq, step.now))
    return replace(step, conditions=conditions, accesses=accesses, seq=seq, now=now)


def _renamed(term: Term, pairs: list[tuple[Term, Term]]) -> Term:
    """With other terms for these symbols of it; steps have most of their terms in common."""
    key = (term.get_id(), *(pair[k].get_id() for pair in pairs for k in (0, 1)))
    found = _RENAMED.get(key)
    if found is None:
        found = _RENAMED[key] = (smt.substitute(term, *pairs), (term, pairs))
    return found[0]


# With what the key is of: the numbers are those of these terms while they live.
_RENAMED: dict[tuple[int, ...], tuple[Term, object]] = {}


def identity(step: Step) -> object:
    """Equal for steps that are the same."""
    parts: list[Value] = [step.seq, step.now]
    for a in step.accesses.values():
        parts += [a.index, *a.old.values(), *a.new.values(), a.result, *a.wrapped.values(), a.wrapped_result]
    told = tuple(p.get_id() if isinstance(p, smt.Term) else p for p in parts)
    return step.role, step.does, tuple(step.accesses), frozenset(c.get_id() for c in step.conditions), told


def symbols(value: Value) -> frozenset[str]:
    """The names of a term's symbols."""
    return frozenset(_symbols(value))


def symbols_of(step: Step) -> list[Term]:
    """All symbols of a step."""
    parts: list[Value] = [*step.conditions, step.seq, step.now]
    for a in step.accesses.values():
        parts += [a.index, *a.old.values(), *a.new.values(), a.result, *a.wrapped.values(), a.wrapped_result]
    return list({name: symbol for part in parts for name, symbol in _symbols(part).items()}.values())


def _symbols(value: Value) -> dict[str, Term]:
    if isinstance(value, int):
        return {}
    number = value.get_id()
    if number not in _SYMBOLS:
        found = {value.name: value} if smt.is_symbol(value) else {}
        for child in value.children():
            found |= _symbols(child)
        _SYMBOLS[number] = (value, found)
    return _SYMBOLS[number][1]


_SYMBOLS: dict[int, tuple[Term, dict[str, Term]]] = {}  # with the term: its number is its own while it lives
