"""What the switch does with the NF's edits: the READ that an edits frame becomes, and what waits for its packet."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

from polysome import smt
from polysome.prove.case import NF, RECIRCULATION, port_metadata
from polysome.prove.literals import literals
from polysome.prove.once import key_of
from polysome.prove.p4.expressions import Value
from polysome.prove.p4.pipe import Passed, bridged, passes
from polysome.prove.p4.store import Access
from polysome.prove.result import NOTHING
from polysome.prove.traffic import Traffic, known_byte
from polysome.prove.window import Frame, Term, Window, same
from polysome.prove.wire import (
    ADDRESS,
    CONTENT,
    FIELDS,
    KIND,
    LENGTH_AT,
    OPCODE,
    PORT,
    TOTAL_LENGTH,
    TYPE,
    UDP_LENGTH,
)
from polysome_protocol import FRAMES, OPCODES, VERDICTS

EDITS = Frame("edits")


@dataclass(frozen=True)
class Answer:
    """An edits frame that becomes a READ: its last pass through ingress, and the READ's through egress.

    `accesses` and `conditions` are those of all passes, also of the one before if it goes round once.
    """

    passed: Passed
    read: Passed
    conditions: tuple[Term, ...]
    accesses: tuple[Access, ...]


@dataclass(frozen=True, eq=False)
class Touched:
    """What registers hold once an edits frame has become a READ; equal if it is the same (`registers.Elements`)."""

    accesses: tuple[Access, ...]

    def of(self, register: str, index: Value) -> dict[str, Value] | None:
        """Of the registers that the frame wrote, at the same index; all others may hold anything."""
        for access in reversed(self.accesses):
            if access.register == register and same(access.index, index):
                return dict(access.new)
        return None

    @cached_property
    def _key(self) -> Hashable:
        return tuple((a.register, key_of(a.index), key_of(a.new)) for a in self.accesses)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Touched) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)


@dataclass(frozen=True)
class Waiting:
    """An edits frame has become a READ; `conditions` hold whichever way it became one."""

    elements: Touched
    conditions: tuple[Term, ...]


@dataclass(frozen=True)
class Reads:
    """All ways in which an edits frame becomes a READ. `lost`: in words, why one might never become one."""

    answers: tuple[Answer, ...]
    lost: str = ""
    refused: tuple[Passed, ...] = ()  # passes that drop a frame at once: no register is touched
    round: tuple[Window, ...] = ()  # what comes back by the recirculation port

    @cached_property
    def distinct(self) -> list[Answer]:
        """Each request once, with what holds whichever way it became one."""
        return [replace(group[0], conditions=common(group)) for group in grouped(self.answers, _asks)]

    @cached_property
    def waiting(self) -> list[Waiting]:
        """Each state of the registers once, those without recirculation first: most answers differ outside of it."""

        groups = grouped(self.answers, lambda answer: Touched(answer.accesses))
        return [Waiting(Touched(group[0].accesses), common(group)) for group in groups]


def _asks(answer: Answer) -> object:
    """What a READ asks for, and what it says of its length; not whom."""
    asks = answer.read.leaves
    said = ((TOTAL_LENGTH, 2), (UDP_LENGTH, 2), (ADDRESS, 8), (LENGTH_AT, 4))
    return tuple(asks.byte(first + k).get_id() for first, size in said for k in range(size))


def grouped(answers: Iterable[Answer], key: Callable[[Answer], object]) -> list[list[Answer]]:
    groups: dict[object, list[Answer]] = {}
    for answer in answers:
        groups.setdefault(key(answer), []).append(answer)
    return list(groups.values())


def common(answers: list[Answer]) -> tuple[Term, ...]:
    """The conditions that all have."""
    shared = frozenset.intersection(*(literals(answer.conditions) for answer in answers))
    return tuple(c for c in answers[0].conditions if literals((c,)) <= shared)


@lru_cache(maxsize=1)
def reads(seen: Traffic) -> Reads:
    """Walks ingress and egress for every edits frame, and again for those that come back by the recirculation port.

    A frame may go round more than once; it differs then from one that goes round once in how often it did.
    """
    known = nf_frame(FIELDS)
    first, round_, others = _read(seen, Window(EDITS), NF, known, "edits.")
    if not _may_come(first):
        return Reads(tuple(first), "a frame of edits never becomes a READ")
    if any(not passed.lost for passed in others):
        return Reads(tuple(first), "a frame of edits goes on as something else")
    again: list[Answer] = []
    if not round_:
        return Reads(tuple(first), "a frame of edits that has to wait does not go round")
    for before, window in round_:
        found, more, _ = _read(seen, window, RECIRCULATION, before.conditions, "again.")
        if any(_alike(window, later) for _, later in more):
            return Reads(tuple(first), "a frame of edits goes round for ever")
        if not _may_come(found):
            return Reads(tuple(first), "a frame of edits that goes round never becomes a READ")
        accesses = before.store.accesses
        again += [replace(one, accesses=(*accesses, *one.accesses)) for one in found]
    refused = tuple(passed for passed in others if not passed.store.accesses)
    return Reads((*first, *again), "", refused, tuple(window for _, window in round_))


def _may_come(found: list[Answer]) -> bool:
    """Is there one of edits without a byte behind them?"""
    exact = ((*a.conditions, a.read.leaves.frame.length == a.read.leaves.first) for a in found)
    return any(not NOTHING.prove(conditions) for conditions in exact)


def _read(
    seen: Traffic, window: Window, role: int, known: tuple[Term, ...], name: str
) -> tuple[list[Answer], list[tuple[Passed, Window]], list[Passed]]:
    """The READs that frames from a port of this role become; passes that go round, with what comes back; all others."""
    case = seen.case
    metadata = port_metadata(case.p4, role)
    walked = passes(case.p4, case.p4.ingress, window, name=name, metadata=metadata, assumptions=known)
    found: list[Answer] = []
    again: list[tuple[Passed, Window]] = []
    others: list[Passed] = []
    for passed in walked:
        if passed.lost or passed.port is None:
            others.append(passed)
            continue
        before = len(found) + len(again)
        for out in seen.egress.passes(*bridged(passed, window, case.chip)):
            conditions = (*known, *passed.conditions, *out.conditions)
            if not out.lost and known_byte(out.leaves, OPCODE) == OPCODES.read:
                found.append(Answer(passed, out, conditions, passed.store.accesses))
            elif not out.lost and passed.port == case.addresses.recirculation:
                again.append((replace(passed, conditions=conditions), out.leaves))
        if len(found) + len(again) == before:
            others.append(passed)
    return found, again, others


def _alike(one: Window, other: Window) -> bool:
    return one.first == other.first and [b.get_id() for b in one.prefix] == [b.get_id() for b in other.prefix]


def nf_frame(kind: int, to_the_controller: bool = False) -> tuple[Term, ...]:
    """What the NF sends: a tag whose first byte is `kind`, and content, with zeros up to the smallest frame.

    `to_the_controller`: with a verdict that is none of the NF's (PROTOCOL.md, rule 14)."""
    high, low = divmod(FRAMES.ether_type, 256)
    verdict = smt.Concat(EDITS.byte(PORT), EDITS.byte(PORT + 1))
    behind = verdict.size() - VERDICTS.proof_bits
    others = smt.Extract(verdict.size() - 1, behind, verdict) == VERDICTS.proof >> behind
    return (
        others if to_the_controller else smt.Not(others),
        EDITS.byte(TYPE) == high,
        EDITS.byte(TYPE + 1) == low,
        EDITS.byte(KIND) == kind,
        smt.UGE(EDITS.length, FRAMES.smallest),
    )


def edited(first: int, size: int, width: int) -> Term:
    """The value of `width` bits that stands right-aligned in `size` bytes of the edits, from their byte `first` on."""
    joined = [EDITS.byte(CONTENT + first + k) for k in range(size)]
    whole = joined[0] if size == 1 else smt.Concat(*joined)
    return smt.simplify(smt.Extract(width - 1, 0, whole))
