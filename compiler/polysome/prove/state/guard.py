"""At most so many READs are out on a queue pair, none is counted for ever, and silence is heard (rules 4 and 6).

Of one queue pair; proved by induction over the steps. What is assumed of the world:

- a response answers a READ that is out (a server that sends others harms itself: it may be asked for too much);
- a READ is answered, or lost, within the looks of a rest behind the last READ and the last response;
- none that is out when a sequence NAK comes is answered: servers answer in order, and take nothing behind what they
  miss (InfiniBand, volume 1, chapter 9.7.5); those that the switch still has, it drops (`epochs`);
- a queue pair that has gone silent gets its registers back from the controller before 2^31 looks.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from polysome import smt
from polysome.p4.types import Bits
from polysome.plan.architectures.ribosome.parking import LOOKS_AT_REST, LOOKS_UNTIL_DOWN, LOOKS_UNTIL_SILENT
from polysome.prove.case import GENERATOR, RECIRCULATION, SERVER
from polysome.prove.frames import STATION
from polysome.prove.p4.expressions import as_term
from polysome.prove.p4.store import Access
from polysome.prove.result import NOTHING
from polysome.prove.state.claims import Claim, Missing, one
from polysome.prove.state.memory import Memory, State
from polysome.prove.state.steps import Does, Step
from polysome.prove.window import Term, Window
from polysome_protocol import GENERATOR as GENERATOR_HEADER

OUT = smt.BitVec("READs that are out", 32)
QUIET = smt.BitVec("looks since the last READ or response", 32)
ASKED = smt.Bool("a READ is out without an answer")
LOOKED = smt.BitVec("looks since the first of them", 32)
LONG = 1 << 31
GENERATED = GENERATOR_HEADER["packet"].at  # the number of one of its frames, of 16 bits


@dataclass(frozen=True)
class Guard:
    """`memory`: of registers that queue pairs have to do with."""

    memory: Memory
    most_reads: int

    # ------------------------------------------------------------ what the registers are

    @cached_property
    def reads(self) -> str:
        found = {r for s in self.memory.steps if s.does == Does.reads for r in s.accesses if self.memory.composite(r)}
        return one(found, "counts READs")

    @cached_property
    def silence(self) -> str:
        plain = {r for r in self.memory.registers if not self.memory.composite(r)}
        return one(
            {r for s in self.memory.steps if s.role == GENERATOR for r in plain if s.changes(r)}, "hears silence"
        )

    @cached_property
    def count(self) -> str:
        """The field that a READ adds one to."""
        for step in self.memory.steps:
            access = step.accesses.get(self.reads)
            if step.does == Does.reads and access is not None:
                for field, new in access.new.items():
                    if NOTHING.prove(
                        step.conditions, as_term(new, Bits(32)) == as_term(access.old[field], Bits(32)) + 1
                    ):
                        return field
        raise Missing("no register counts READs")

    @cached_property
    def rests(self) -> str:
        return next(field for field, _ in self.memory.fields(self.reads) if field != self.count)

    # ------------------------------------------------------------ what holds always

    @cached_property
    def state(self) -> State:
        ghosts = {("", "out"): OUT, ("", "quiet"): QUIET, ("", "asked"): ASKED, ("", "looked"): LOOKED}
        return {**self.memory.now, **ghosts}

    @cached_property
    def first(self) -> State:
        zero = smt.BitVecVal(0, 32)
        ghosts = {("", "out"): zero, ("", "quiet"): zero, ("", "asked"): smt.BoolVal(False), ("", "looked"): zero}
        return {**self.memory.first, **ghosts}

    @property
    def later(self) -> tuple[State, tuple[Term, ...]]:
        return self.first, ()

    @cached_property
    def invariants(self) -> tuple[Claim, ...]:
        count, rests = (self.memory.now[self.reads, field] for field in (self.count, self.rests))
        silence = self.memory.now[self.silence, ""]
        heard = silence == smt.If(ASKED, LOOKED + 1, smt.BitVecVal(0, 32))
        return (
            Claim("more READs are out than are counted", smt.ULE(OUT, count)),
            Claim("more READs are counted than may be out", smt.ULE(count, self.most_reads)),
            Claim("a queue pair passes for one at rest that is not", smt.ULE(rests, QUIET)),
            Claim("looks without an answer are not counted as they are", heard),
        )

    def looks(self, step: Step) -> bool:
        return step.role in (GENERATOR, RECIRCULATION) and step.does != Does.reads and self.silence in step.accesses

    def after(self, step: Step) -> tuple[list[Term], State]:
        """What holds if a step is made, and what is then."""
        said, then = self.memory.after(step, self.state)
        said.append(smt.ULT(LOOKED, LONG))
        counts, hears = (self._here(step, register) for register in (self.reads, self.silence))
        zero = smt.BitVecVal(0, 32)
        if step.does == Does.reads:
            then["", "out"] = smt.If(counts, OUT + 1, OUT)
            then["", "quiet"] = smt.If(counts, zero, QUIET)
            begins = smt.And(counts, smt.Not(ASKED))
            then["", "asked"], then["", "looked"] = smt.Or(ASKED, counts), smt.If(begins, zero, LOOKED)
        elif step.role == SERVER:
            if step.changes(self.reads):
                fewer = zero if step.does == Does.sets_psn else smt.If(OUT != 0, OUT - 1, OUT)
                then["", "out"] = smt.If(counts, fewer, OUT)
                then["", "quiet"] = smt.If(counts, zero, QUIET)
            if step.changes(self.silence):
                then["", "asked"] = smt.And(ASKED, smt.Not(hears))
        elif self.looks(step):
            said.append(smt.ULT(QUIET, LONG))
            said.append(smt.Implies(smt.UGE(QUIET, LOOKS_AT_REST), OUT == 0))
            then["", "quiet"] = smt.If(counts, QUIET + 1, QUIET)
            then["", "looked"] = smt.If(smt.And(hears, ASKED), LOOKED + 1, LOOKED)
        return said, then

    def _here(self, step: Step, register: str) -> Term:
        return self.memory.here(step.accesses[register]) if register in step.accesses else smt.BoolVal(False)

    # ------------------------------------------------------------ what each step must be like

    def claims(self, step: Step) -> Iterator[Claim]:
        if step.role == GENERATOR:
            yield from self._looked_at(step)
        if step.does == Does.reads:
            yield from self._read(step)
        elif self.looks(step):
            looked = smt.If(ASKED, LOOKED + 1, smt.BitVecVal(0, 32))
            silent, down = looked == LOOKS_UNTIL_SILENT, looked == LOOKS_UNTIL_DOWN
            right = {
                Does.sets_psn: silent,
                Does.goes_round: down,
                Does.ends: smt.Not(smt.Or(silent, down)),
            }.get(step.does, smt.BoolVal(False))
            why = f"behind a look, {step.does}, and the queue pair's silence is another's"
            yield Claim(why, smt.Implies(self._here(step, self.silence), right))
        elif self.reads in step.accesses:
            access = step.accesses[self.reads]
            here, old, new = self.memory.here(access), *self._counted(access)
            if step.role == SERVER and step.does == Does.sets_psn:
                yield Claim("READs are counted that a NAK gave up", smt.Implies(here, new == 0))
            elif step.role == SERVER:
                less = smt.If(old == 0, old, old - 1)
                yield Claim("a response is not counted as one", smt.Implies(here, new == less))
            else:
                full = smt.And(new == old, smt.UGE(old, self.most_reads))
                yield Claim("a READ waits for which there is room", smt.Implies(here, full))

    def _looked_at(self, step: Step) -> Iterator[Claim]:
        """The generator's frames are numbered: so every queue pair is looked at, one after the other."""
        number = Window(STATION).number(GENERATED, 2)
        for access in step.accesses.values():
            index = as_term(access.index, Bits(number.size()))
            own = smt.Extract(index.size() - 1, 0, number)
            yield Claim("the packet generator's frame looks at a queue pair that is not its own", index == own)

    def _counted(self, access: Access) -> tuple[Term, Term]:
        """READs that are counted before and behind a step."""
        return as_term(access.old[self.count], Bits(32)), as_term(access.new[self.count], Bits(32))

    def _read(self, step: Step) -> Iterator[Claim]:
        access = step.accesses.get(self.reads)
        if access is None or self.silence not in step.accesses:
            yield Claim("a READ is not counted, or its silence not heard", smt.BoolVal(False))
            return
        here, old, new = self.memory.here(access), *self._counted(access)
        yield Claim("a READ is not counted", smt.Implies(here, new == old + 1))
        yield Claim("a READ is let out that is one too many", smt.Implies(here, smt.ULT(old, self.most_reads)))
        same = self.memory.here(access) == self.memory.here(step.accesses[self.silence])
        yield Claim("a READ is counted for one queue pair, and heard for another", same)

    def forgotten(self) -> Claim:
        """After the looks of a rest nothing is counted any more."""
        found = [
            step.accesses[self.reads] for step in self.memory.steps if self.looks(step) and self.reads in step.accesses
        ]
        if not found or any(not _alike(a, found[0]) for a in found):
            return Claim("not every look at a queue pair forgets READs that are not answered", smt.BoolVal(False))
        state = dict(found[0].old)
        for _ in range(LOOKS_AT_REST + 1):
            pairs = [(as_term(found[0].old[f], Bits(32)), as_term(state[f], Bits(32))) for f in state]
            state = {f: smt.substitute(as_term(new, Bits(32)), *pairs) for f, new in found[0].new.items()}
        counted = as_term(state[self.count], Bits(32))
        return Claim("READs that are not answered are counted for ever", counted == 0)

    def bounded(self, bounds: list[Term]) -> list[Term]:
        """Bounds of the queue pair's element as ones of what a look finds."""
        found = next((s.accesses[self.reads] for s in self.memory.steps if self.reads in s.accesses), None)
        assert found is not None
        pairs = [(self.memory.now[self.reads, f], as_term(old, Bits(32))) for f, old in found.old.items()]
        return [smt.substitute(bound, *pairs) for bound in bounds]


def _alike(first: Access, other: Access) -> bool:
    return all(as_term(first.new[f], Bits(32)).eq(as_term(new, Bits(32))) for f, new in other.new.items())
