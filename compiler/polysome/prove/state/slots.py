"""Edits wait in a slot for the packet that they belong to, and only for that one; it leaves once (rules 2, 6 and 8).

Of one packet, with whatever number, and all others; proved by induction over the steps. What is assumed of the world:

- a response brings a packet's number only after that number was given: cells hold ones until they are written;
- when a number is given again, its slot has forgotten the packet that had it before: a round of numbers takes longer
  than T, and does not come to pass a whole round of the clock, or less than T more, after those edits.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from polysome import smt
from polysome.p4.types import Bits
from polysome.prove.case import NF
from polysome.prove.p4.expressions import Value, as_term
from polysome.prove.p4.store import Access
from polysome.prove.result import NOTHING
from polysome.prove.state.claims import Claim, Missing, one
from polysome.prove.state.memory import SEQ, Memory, State, at
from polysome.prove.state.steps import Does, Step
from polysome.prove.window import Term
from polysome_protocol import LAST_SEQ

GIVEN = smt.Bool("the number was given")
WAITS = smt.Bool("its edits wait")
LEFT = smt.Bool("the packet left")
BEFORE = smt.BitVec("packets before", 32)
SKEW = 1  # ticks by which two ports' time stamps may come in the other order (rule 6)
WIDE = 64  # bits in which times do not wrap


@dataclass(frozen=True)
class Slots:
    """`memory`: of registers that packets have to do with. `timeout`: T in ticks; `cells`: of a server's region."""

    memory: Memory
    timeout: int
    cells: int

    # ------------------------------------------------------------ what the registers are

    @cached_property
    def counter(self) -> str:
        found = {r for s in self.memory.steps if s.does == Does.parks for r in s.accesses if self.memory.only(r)}
        return one(found, "gives numbers")

    @cached_property
    def slots(self) -> str:
        found = {r for r in self.memory.registers if self.memory.of_packet(r) and self.memory.composite(r)}
        return one(found, "remembers whose edits wait")

    @cached_property
    def left(self) -> tuple[str, ...]:
        """Of the bits that say whether a packet has left; each cell's is in one of them."""
        return tuple(r for r in self.memory.registers if self.memory.of_packet(r) and self.memory.bits(r) == 1)

    @cached_property
    def words(self) -> tuple[str, ...]:
        return tuple(r for r in self.memory.registers if self.memory.of_packet(r) and r not in (self.slots, *self.left))

    @cached_property
    def owner(self) -> str:
        """The field of a slot that holds a number; the other one holds the time."""
        for step in self.memory.steps:
            if step.does == Does.reads and step.changes(self.slots):
                access = step.accesses[self.slots]
                for field, new in access.new.items():
                    if access.old[field] is not new and _one_of(step, new, access.old[field], step.seq):
                        return field
        raise Missing("no register remembers whose edits wait")

    @cached_property
    def since(self) -> str:
        return next(field for field, _ in self.memory.fields(self.slots) if field != self.owner)

    @cached_property
    def bit(self) -> Term:
        """Of the packet's cell: 1 if it has left."""
        ring = self.cells.bit_length() - 1
        states = [self.memory.now[register, ""] for register in self.left]
        if not states:
            raise Missing("no register remembers which packets have left")
        found = states[0]
        parts = (len(states) - 1).bit_length()
        for k, state in enumerate(states[1:], 1):
            found = smt.If(smt.Extract(ring - 1, ring - parts, SEQ) == k, state, found)
        return found

    # ------------------------------------------------------------ what holds always

    @cached_property
    def state(self) -> State:
        """Registers, and what is known of the packet beside them."""
        return {**self.memory.now, ("", "given"): GIVEN, ("", "waits"): WAITS, ("", "left"): LEFT, **self.ghosts}

    @cached_property
    def ghosts(self) -> State:
        """The words of the edits that the packet's own frame put last."""
        return {("own", r): smt.BitVec(f"{r} of its edits", self.memory.bits(r)) for r in self.words}

    @cached_property
    def first(self) -> State:
        flags = {("", name): smt.BoolVal(False) for name in ("given", "waits", "left")}
        return {**self.memory.first, **flags, **self.ghosts}

    @cached_property
    def later(self) -> tuple[State, tuple[Term, ...]]:
        """When so many packets were parked, of which no edits came, and the packet comes later."""
        counts = [step.accesses[self.counter] for step in self.memory.steps if step.changes(self.counter)]
        both = ((as_term(access.old[""], Bits(32)), as_term(access.new[""], Bits(32))) for access in counts)
        if not NOTHING.prove((), *(smt.Implies(smt.ULT(old, LAST_SEQ), new == old + 1) for old, new in both)):
            return self.first, ()
        return {**self.first, (self.counter, ""): BEFORE}, (smt.ULT(BEFORE, SEQ), smt.ULE(SEQ, LAST_SEQ))

    @cached_property
    def in_the_ring(self) -> Term:
        """Is the packet's cell its own still?"""
        age = self.memory.now[self.counter, ""] - SEQ
        return smt.Extract(LAST_SEQ.bit_length() - 1, self.cells.bit_length() - 1, age) == 0

    @cached_property
    def invariants(self) -> tuple[Claim, ...]:
        now = self.memory.now
        mine = smt.And(now[self.slots, self.owner] == SEQ, now[self.slots, self.since] != 0)
        there = smt.And(self.bit == 0, GIVEN, self.in_the_ring)
        own = [now[r, ""] == self.ghosts["own", r] for r in self.words]
        waits = smt.Implies(smt.And(mine, there), smt.And(WAITS, *own))
        left = smt.Implies(LEFT, smt.And(GIVEN, smt.Implies(self.in_the_ring, self.bit == 1)))
        numbers = smt.Implies(GIVEN, smt.And(SEQ != 0, smt.ULE(SEQ, LAST_SEQ)))
        owned = smt.Implies(now[self.slots, self.since] != 0, now[self.slots, self.owner] != 0)
        return (
            Claim("a packet gets number 0, or all ones", numbers),
            Claim("a slot is given to number 0, and looks free", owned),
            Claim("its slot says that a packet's edits wait, and others do, or none", waits),
            Claim("a packet that has left may leave again", left),
        )

    def after(self, step: Step) -> tuple[list[Term], State]:
        """What holds if a step is made, and what is then."""
        said, then = self.memory.after(step, self.state)
        mine = step.seq == SEQ
        if step.changes(self.counter):
            given = as_term(step.accesses[self.counter].new[""], Bits(32)) == SEQ
            then["", "given"] = smt.Or(GIVEN, given)
            then["", "waits"] = smt.And(WAITS, smt.Not(given))
            then["", "left"] = smt.And(LEFT, smt.Not(given))
            forgets = smt.And(given, then[self.slots, self.owner] == SEQ)
            time = then[self.slots, self.since]
            then[self.slots, self.since] = smt.If(forgets, smt.BitVecVal(0, time.size()), time)
        if self.puts(step):
            then["", "waits"] = smt.Or(WAITS, mine)
            for r in self.words:
                new = as_term(step.accesses[r].new[""], Bits(self.memory.bits(r))) if step.changes(r) else None
                if new is not None:
                    then["own", r] = smt.If(mine, new, self.ghosts["own", r])
        if step.does == Does.leaves:
            said.append(smt.Implies(mine, GIVEN))
            then["", "left"] = smt.Or(LEFT, mine)
            then["", "waits"] = smt.And(WAITS, smt.Not(mine))
        return said, then

    def puts(self, step: Step) -> bool:
        return any(step.changes(register) for register in self.words)

    # ------------------------------------------------------------ what each step must be like

    def claims(self, step: Step) -> Iterator[Claim]:
        """Of what a step does, given what holds before it."""
        mine = step.seq == SEQ
        access = step.accesses.get(self.slots)
        here = self.memory.here(access) if access is not None else smt.BoolVal(False)
        if step.does == Does.parks:
            number = as_term(step.accesses[self.counter].new[""], Bits(32))
            yield Claim("a packet is parked under another number than it got", step.seq == number)
            _, then = self.memory.after(step, self.state)
            there = smt.Implies(number == SEQ, at(self.bit, self.state, then) == 0)
            yield Claim("a packet that is parked counts as one that has left", there)
        if self.puts(step):
            free = smt.BoolVal(False) if access is None else smt.Implies(here, self._free(step, access))
            yield Claim("edits are put into a slot that is not given to them", free)
        if step.does == Does.leaves:
            own = [self._result(step, r) == self.ghosts["own", r] for r in self.words]
            yield Claim("a packet leaves with edits that are not its own", smt.Implies(mine, smt.And(WAITS, *own)))
            yield Claim("a packet leaves twice", smt.Not(smt.And(mine, LEFT)))
        if access is not None:
            found = self._taken(step, access) if step.role == self.taker else self._given(step, access)
            yield from (Claim(claim.why, smt.Implies(here, claim.term)) for claim in found)

    @cached_property
    def taker(self) -> int:
        """The role of ports that packets come back by."""
        return next((step.role for step in self.memory.steps if step.does == Does.leaves), -1)

    def _result(self, step: Step, register: str) -> Term:
        bits = self.memory.bits(register)
        if register not in step.accesses:
            return smt.BitVec("nothing read", bits)
        return as_term(step.accesses[register].result, Bits(bits))

    def _given(self, step: Step, access: Access) -> Iterator[Claim]:
        """A slot is given away if it is free, and only then: since T, or since the clock began anew, or by a packet."""
        owner, since = (access.new[field] for field in (self.owner, self.since))
        old = {field: as_term(access.old[field], Bits(32)) for field in (self.owner, self.since)}
        free = self._free(step, access)
        right = smt.If(
            free,
            smt.And(_is(owner, step.seq), _is(since, step.now)),
            smt.And(_is(owner, old[self.owner]), _is(since, old[self.since])),
        )
        yield Claim("a slot is given away that is in use, or a free one is not", right)
        if step.role == NF and step.does != Does.goes_round:
            waits = smt.And(smt.Not(free), old[self.owner] != step.seq)
            yield Claim("edits are lost that find another packet's in their slot", smt.Not(waits))

    def _taken(self, step: Step, access: Access) -> Iterator[Claim]:
        """Edits are taken by their packet while they wait."""
        owner, since = (access.new[field] for field in (self.owner, self.since))
        old = {field: as_term(access.old[field], Bits(32)) for field in (self.owner, self.since)}
        waits = smt.And(old[self.owner] == step.seq, smt.Not(self._free(step, access)))
        freed = smt.And(_is(owner, old[self.owner]), _is(since, smt.BitVecVal(0, 32)))
        stays = smt.And(_is(owner, old[self.owner]), _is(since, old[self.since]))
        yield Claim("edits that wait for their packet are not taken by it", smt.Implies(waits, freed))
        others = smt.And(smt.Or(freed, stays), smt.Implies(old[self.owner] != step.seq, stays))
        yield Claim("a slot is freed by another packet than its own", others)
        if not any(register in step.accesses for register in self.left):
            stays_behind = smt.And(step.seq == SEQ, waits, self.in_the_ring)
            yield Claim("edits are taken, and their packet does not leave", smt.Not(stays_behind))

    def _free(self, step: Step, access: Access) -> Term:
        """Is a slot free, whose time is 0 or one of the clock's?"""
        since = as_term(access.old[self.since], Bits(32))
        age = smt.SignExt(WIDE - 32, step.now) - smt.SignExt(WIDE - 32, since)
        return smt.Or(since == 0, age > self.timeout, age < smt.BitVecVal(-SKEW & (1 << WIDE) - 1, WIDE))


def _one_of(step: Step, value: Value, *others: Value) -> bool:
    """Is it always one of them?"""
    return NOTHING.prove(step.conditions, smt.Or(*(as_term(value, Bits(32)) == other for other in others)))


def _is(value: Value, wanted: Term) -> Term:
    return as_term(value, Bits(32)) == wanted
