"""What of the switch's memory one packet and one queue pair have to do with, as symbols before and after a frame.

Registers are known by what steps do with them, not by their names: where their index comes from, and who changes them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from polysome import smt
from polysome.p4 import program as pr
from polysome.p4.types import Bits
from polysome.p4.walk import expressions, statements
from polysome.prove.p4.expressions import as_term
from polysome.prove.p4.registers import fields_of
from polysome.prove.p4.store import Access
from polysome.prove.places import is_at
from polysome.prove.result import NOTHING
from polysome.prove.state.steps import Step, identity, narrowed
from polysome.prove.window import Term
from polysome_protocol import CLOCK

SEQ = smt.BitVec("the packet's seq", 32)
PAIR = smt.BitVec("the queue pair", 16)
FIRST_TIME = 1 << CLOCK.bits  # of the times that registers hold; 0 is none (PROTOCOL.md, rule 6)
Cell = tuple[str, str]  # register, field
State = dict[Cell, Term]


@dataclass(frozen=True)
class Memory:
    """What the steps touch; of each register the element of one packet, or of one queue pair, whichever they are."""

    p4: pr.Program
    steps: tuple[Step, ...]

    @cached_property
    def registers(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(name for step in self.steps for name in step.accesses))

    def of_packet(self, register: str) -> bool:
        """Is its element the packet's slot, or its cell?"""
        return register in self._of_packets

    @cached_property
    def _of_packets(self) -> set[str]:
        found = ((name, a.index, s.seq) for s in self.steps for name, a in s.accesses.items())
        return {name for name, index, seq in found if is_at(index, seq)}

    def only(self, register: str) -> bool:
        """Has it one element?"""
        return all(isinstance(s.accesses[register].index, int) for s in self.steps if register in s.accesses)

    def here(self, access: Access) -> Term:
        """Is it the element of the packet, or of the queue pair?"""
        if self.only(access.register):
            return smt.BoolVal(True)
        whole = SEQ if self.of_packet(access.register) else PAIR
        index = access.index
        bits = index.size() if isinstance(index, smt.Term) else max(1, index.bit_length())
        place = smt.Extract(bits - 1, 0, whole)
        return smt.simplify(place == index)

    def fields(self, register: str) -> tuple[tuple[str, int], ...]:
        """Of an element: names ("" of a plain value) and bits."""
        return tuple((f, t.width) for f, t in fields_of(self.p4.registers[register]) if isinstance(t, Bits))

    def composite(self, register: str) -> bool:
        return len(self.fields(register)) == 2

    def bits(self, register: str) -> int:
        return sum(width for _, width in self.fields(register))

    def constants(self, register: str) -> list[int]:
        """Numbers in the bodies of its actions."""
        actions = [a for a in self.p4.register_actions.values() if a.register == register]
        every = (e for a in actions for s in statements(self.p4, a.body) for e in expressions(self.p4, s))
        return sorted({e.value for e in every if isinstance(e, pr.Const)})

    # ------------------------------------------------------------ states

    @cached_property
    def now(self) -> State:
        """The elements before a step."""
        cells = ((r, f, w) for r in self.registers for f, w in self.fields(r))
        return {(r, f): smt.BitVec(f"{r}.{f} of its own", width) for r, f, width in cells}

    @cached_property
    def first(self) -> State:
        """The elements when nothing was sent yet."""
        return {cell: smt.BitVecVal(0, term.size()) for cell, term in self.now.items()}

    def after(self, step: Step, state: State) -> tuple[list[Term], State]:
        """What holds if the step is made in a state; the state then."""
        said, then = list(step.conditions), dict(state)
        for register, access in step.accesses.items():
            here = self.here(access)
            for field, width in self.fields(register):
                own, old = state[register, field], access.old[field]
                new = as_term(access.new[field], Bits(width))
                said.append(smt.Implies(here, as_term(old, Bits(width)) == own))
                then[register, field] = smt.If(here, new, own)
        return said, then

    def only_about(self, registers: Iterable[str]) -> Memory:
        """Its steps as far as they are about these registers."""
        kept = set(registers)
        return replace(self, steps=tuple(_projected(self.steps, kept)))


def _projected(steps: Iterable[Step], kept: set[str]) -> Iterator[Step]:
    known = set()
    for step in steps:
        accesses = {name: a for name, a in step.accesses.items() if name in kept}
        if not accesses:
            continue
        made = narrowed(step, accesses)
        if (key := identity(made)) not in known:
            known.add(key)
            yield made


# ---------------------------------------------------------------- what always holds of an element


Bound = tuple[str, Term]  # in words; of a memory's `now`


def bounds(memory: Memory) -> list[Bound]:
    """What holds of single elements from the beginning on, whatever is sent: ranges, found by trying."""
    return [bound for register in memory.registers for bound in _bounds(memory.only_about([register]), register)]


def _bounds(memory: Memory, register: str) -> list[Bound]:
    found = [b for field, width in memory.fields(register) for b in _candidates(memory, register, field, width)]
    changing = [step for step in memory.steps if step.changes(register)]
    while True:
        known = [term for _, term in found]
        kept = [b for b in found if all(_keeps(memory, step, known, b[1]) for step in changing)]
        if len(kept) == len(found):
            return found
        found = kept


def _keeps(memory: Memory, step: Step, known: list[Term], bound: Term) -> bool:
    said, then = memory.after(step, memory.now)
    return NOTHING.prove((*known, *said), at(bound, memory.now, then))


def _candidates(memory: Memory, register: str, field: str, width: int) -> Iterator[Bound]:
    value, name = memory.now[register, field], f"{register}.{field}".rstrip(".")
    most = {c for c in memory.constants(register) if 0 < c < 1 << width - 1}
    for constant in sorted(most):
        yield f"{name} is at most {constant}", smt.ULE(value, constant)
    if width == 32:
        time = smt.And(smt.UGE(value, FIRST_TIME), smt.ULT(value, 2 * FIRST_TIME))
        yield f"{name} is 0, or a time", smt.Or(value == 0, time)


def at(term: Term, state: Mapping[Cell, Term], then: Mapping[Cell, Term]) -> Term:
    """The same of another state."""
    pairs = [(own, then[cell]) for cell, own in state.items() if not own.eq(then[cell])]
    return smt.simplify(smt.substitute(term, *pairs))
