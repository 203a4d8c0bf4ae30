"""What the switch does with the NF's edits: the READ that an edits frame becomes, and what waits for its packet."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property, lru_cache

import z3

from polysome.prove.case import NF, port_metadata
from polysome.prove.p4.expressions import Value
from polysome.prove.p4.parser import paths
from polysome.prove.p4.pipe import Onward, Passed, bridged
from polysome.prove.p4.store import Access
from polysome.prove.traffic import CONTENT, FIELDS, KIND, Traffic, known_byte
from polysome.prove.window import Frame, Term, Window

EDITS = Frame("edits")
SEQ, SIZE = KIND + 2, KIND + 8  # in the tag (runtime/PROTOCOL.md)
ETHER_TYPE, SMALLEST = 0x88B5, 60
OPCODE, READ = 42, 0x0C  # behind Ethernet 14, IPv4 20, UDP 8: BTH


@dataclass(frozen=True)
class Answer:
    """An edits frame that becomes a READ at once: its pass through ingress, and the READ's through egress."""

    passed: Passed
    read: Passed
    conditions: tuple[Term, ...]


@dataclass(frozen=True)
class Waiting:
    """What registers hold once an edits frame has become a READ; `conditions` hold whichever way it became one."""

    accesses: tuple[Access, ...]
    conditions: tuple[Term, ...]

    def elements(self, register: str, index: Value) -> dict[str, Value] | None:
        """Of the registers that the frame wrote, at the same index; all others may hold anything."""
        for access in self.accesses:
            if access.register == register and same(access.index, index):
                return dict(access.new)
        return None


@dataclass(frozen=True)
class Reads:
    """All ways in which an edits frame becomes a READ."""

    answers: tuple[Answer, ...]

    @cached_property
    def distinct(self) -> list[Answer]:
        """Each request once, with what holds whichever way it became one."""
        return [Answer(group[0].passed, group[0].read, common(group)) for group in grouped(self.answers, _asks)]

    @cached_property
    def waiting(self) -> list[Waiting]:
        """Each state of the registers once: most answers differ in what is outside of it."""

        def state(answer: Answer) -> tuple[object, ...]:
            accesses = answer.passed.store.accesses
            return tuple((a.register, _id(a.index), *((f, _id(v)) for f, v in a.new.items())) for a in accesses)

        return [Waiting(group[0].passed.store.accesses, common(group)) for group in grouped(self.answers, state)]


def _asks(answer: Answer) -> object:
    """What a READ asks for, and what it says of its length; not whom."""
    prefix = answer.read.leaves.prefix
    return tuple(prefix[k].get_id() for k in (16, 17, 38, 39, *range(54, 62), *range(66, 70)))


def grouped(answers: Iterable[Answer], key: Callable[[Answer], object]) -> list[list[Answer]]:
    groups: dict[object, list[Answer]] = {}
    for answer in answers:
        groups.setdefault(key(answer), []).append(answer)
    return list(groups.values())


def common(answers: list[Answer]) -> tuple[Term, ...]:
    """The conditions that all have."""
    shared = frozenset.intersection(*(literals(answer.conditions) for answer in answers))
    return tuple(c for c in answers[0].conditions if literals((c,)) <= shared)


def _id(value: Value) -> object:
    return ("term", value.get_id()) if isinstance(value, z3.AstRef) else value


def same(one: Value, other: Value) -> bool:
    return _id(one) == _id(other)


@lru_cache(maxsize=1)
def reads(seen: Traffic) -> Reads:
    """Walks ingress and egress for every edits frame."""
    case, known = seen.case, edits_frame()
    onward = Onward(case.p4, case.p4.ingress, assumptions=known)
    metadata = port_metadata(case.p4, NF)
    walked = paths(case.p4, case.p4.ingress, Window(EDITS), name="edits.", metadata=metadata, assumptions=known)
    found = []
    for passed in (passed for path in walked for passed in onward.of(path)):
        if not passed.lost and passed.port is not None:
            window, given = bridged(passed, EDITS, case.chip)
            for out in seen.egress.passes(window, given):
                if not out.lost and known_byte(out.leaves, OPCODE) == READ:
                    found.append(Answer(passed, out, (*passed.conditions, *out.conditions)))
    return Reads(tuple(found))


def edits_frame() -> tuple[Term, ...]:
    """What the NF sends: a tag, and content, with zeros up to the smallest frame."""
    high, low = divmod(ETHER_TYPE, 256)
    return (
        EDITS.byte(12) == high,
        EDITS.byte(13) == low,
        EDITS.byte(KIND) == FIELDS,
        z3.UGE(EDITS.length, SMALLEST),
    )


def edited(first: int, size: int, width: int) -> Term:
    """The value of `width` bits that stands right-aligned in `size` bytes of the edits, from their byte `first` on."""
    joined = [EDITS.byte(CONTENT + first + k) for k in range(size)]
    whole = joined[0] if size == 1 else z3.Concat(*joined)
    return z3.simplify(z3.Extract(width - 1, 0, whole))


def contradict(some: frozenset[tuple[int, bool]], others: frozenset[tuple[int, bool]]) -> bool:
    """Does one list of conditions say the opposite of what stands in the other?"""
    return not denied(some).isdisjoint(others)


@lru_cache(maxsize=4096)
def denied(some: frozenset[tuple[int, bool]]) -> frozenset[tuple[int, bool]]:
    return frozenset((term, not said) for term, said in some)


def literals(conditions: tuple[Term, ...]) -> frozenset[tuple[int, bool]]:
    """Conditions as terms that must be true or false; lists of which one denies what the other says exclude each other.

    The terms live as long as the conditions.
    """
    return frozenset(map(_literal, conditions))


_LITERALS: dict[int, tuple[Term, tuple[int, bool]]] = {}  # with the condition: its number is its own while it lives


def _literal(condition: Term) -> tuple[int, bool]:
    number = condition.get_id()
    if number not in _LITERALS:
        term, said = condition, True
        while z3.is_not(term):
            term, said = term.arg(0), not said
        _LITERALS[number] = (condition, (term.get_id(), said))
    return _LITERALS[number][1]
