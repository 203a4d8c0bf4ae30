"""What answers of memory servers do to what is remembered of their queue pair, and how PSNs go on (rules 3 to 5).

Of each pass of an answer by itself; the frames are those of RoCEv2 (PROTOCOL.md, "Frames between switch and RDMA
servers"), from a queue pair of ours.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from enum import Enum

from polysome import smt
from polysome.p4.types import Bits
from polysome.prove.case import GENERATOR, RECIRCULATION, SERVER
from polysome.prove.frames import STATION, any_frame
from polysome.prove.p4.expressions import Value, as_term
from polysome.prove.p4.pipe import Passed, bridged, passes
from polysome.prove.p4.store import Access, Ran
from polysome.prove.result import NOTHING, Result, Status
from polysome.prove.state.claims import STATE, Missing, one
from polysome.prove.state.epochs import Epochs
from polysome.prove.state.guard import Guard
from polysome.prove.state.steps import Does, Step
from polysome.prove.stations import EARLY, INGRESS_PORT
from polysome.prove.traffic import Traffic
from polysome.prove.window import Frame, Term, Window, same
from polysome.prove.wire import ANSWER, OPCODE, PSN, SEQ_SIZE, at
from polysome_protocol import AETH, BTH, OPCODES, SYNDROMES

SYNDROME, PSN_BITS = at(AETH, "syndrome"), BTH["psn"].bits
WHOLE = ANSWER + SEQ_SIZE  # bytes of a response that says whose cell it is


class Kind(Enum):
    """Opcode, and of an acknowledgement the syndrome: mask, value (InfiniBand, volume 1, 9.7.5.1.3)."""

    response = (OPCODES.response, 0, 0)
    acknowledgement = (OPCODES.acknowledge, SYNDROMES.kind, SYNDROMES.ack)
    sequence_nak = (OPCODES.acknowledge, 0xFF, SYNDROMES.sequence_nak)
    fatal_nak = (OPCODES.acknowledge, SYNDROMES.kind, SYNDROMES.nak)

    @property
    def condition(self) -> Term:
        opcode, mask, value = self.value
        whole = smt.UGE(STATION.length, WHOLE) if self == Kind.response else smt.BoolVal(True)
        return smt.And(STATION.byte(OPCODE) == opcode, STATION.byte(SYNDROME) & mask == value, whole)


@dataclass
class Answered:
    """`up`: the registers that say which queue pairs are; `acknowledged`: the one that says where one goes on."""

    seen: Traffic
    guard: Guard
    up: tuple[str, ...]
    acknowledged: str
    epochs: Epochs
    _kinds: dict[tuple[int, ...], tuple[tuple[Term, ...], Kind | None]] = field(default_factory=dict)
    _known: dict[object, tuple[Passed, Result]] = field(default_factory=dict)

    def results(self) -> Iterator[Result]:
        """One result for each kind of answer, and for each pass in which a queue pair is given a PSN."""
        met = set()
        for passed in any_frame(self.seen, SERVER):
            if any(access.changes for access in passed.store.accesses):
                kind = self._kind(passed)
                met.add(kind)
                result = self._result(kind, passed)
                if result.status != Status.proved:
                    yield result
        for kind in Kind:
            why = "" if kind in met else "no answer of this kind is heard"
            yield Result(STATE, kind.name.replace("_", " "), Status.refuted if why else Status.proved, why)
        for role in (SERVER, GENERATOR, RECIRCULATION):
            yield from self._set(role)
        yield from self._next()

    # ------------------------------------------------------------ what an answer changes

    def _kind(self, passed: Passed) -> Kind | None:
        early = passed.conditions[:EARLY]
        key = tuple(c.get_id() for c in early)
        if key not in self._kinds:
            found = (kind for kind in Kind if NOTHING.prove(early, kind.condition))
            self._kinds[key] = (early, next(found, None))
        return self._kinds[key][1]

    def _result(self, kind: Kind | None, passed: Passed) -> Result:
        """`kind`: None for a frame of another kind, which may only say where its queue pair goes on."""
        key = (kind, id(passed.after))
        if key not in self._known:
            by = {access.register: access for access in passed.store.accesses if access.changes}
            why = self._wrong(kind, by, tuple(passed.conditions[:EARLY]))
            self._known[key] = (passed, _of(passed, why))
        return self._known[key][1]

    def _wrong(self, kind: Kind | None, by: dict[str, Access], known: tuple[Term, ...]) -> str:
        """What is wrong with what it changes, in words."""
        psn = Window(STATION).number(PSN, 3)
        counted, heard, down = self.guard.reads in by, self.guard.silence in by, [r for r in self.up if r in by]
        if counted != (kind in (Kind.response, Kind.sequence_nak)):
            return "an answer that is none to a READ is counted as one, or one that is, is not"
        if heard != (kind in (Kind.response, Kind.acknowledgement, Kind.sequence_nak)):
            return "an answer is not heard, or none is"
        if (kind == Kind.sequence_nak) != any(self.epochs.begins(access) for access in by.values()):
            return "READs are given up that are answered, or not those that a NAK left"
        if heard and not same(by[self.guard.silence].new[""], 0):
            return "a queue pair that has answered is silent still"
        if bool(down) != (kind == Kind.fatal_nak) or len(down) not in (0, len(self.up)):
            return "a queue pair goes down that is not refused, or does not that is"
        if any(not same(by[r].new[""], 0) for r in down):
            return "a queue pair that is refused is up still"
        if kind is None:
            return ""
        after = psn + 1 if kind in (Kind.response, Kind.acknowledgement) else psn
        if kind != Kind.fatal_nak:
            there = by.get(self.acknowledged)
            if there is None or not NOTHING.prove(known, _low(there.new[""]) == after):
                return "a queue pair does not go on from the PSN after the last answer"
        return ""

    # ------------------------------------------------------------ PSNs

    def _set(self, role: int) -> Iterator[Result]:
        """What PSN a queue pair is given by a frame in egress."""
        for passed in any_frame(self.seen, role):
            if passed.lost or not passed.store.accesses:
                continue
            outs = self.seen.egress.passes(*bridged(passed, STATION, self.seen.case.chip))
            changed = [a for out in outs for a in out.store.accesses if a.changes]
            given = [a for out in outs if out.lost for a in out.store.accesses if a.changes]
            for access in given:
                if access.register != self.epochs.egress:
                    yield _of(passed, self._wrong_psn(role, passed, access))
            if given:
                yield _of(passed, self.epochs.wrong(passed, given))
            if role == SERVER and not changed and self._kind(passed) == Kind.sequence_nak:
                yield _of(passed, "the PSN that is expected is not given")

    def _wrong_psn(self, role: int, passed: Passed, access: Access) -> str:
        there = next((a for a in passed.store.accesses if a.register == self.acknowledged), None)
        if there is None or not _same_place(there.index, access.index):
            return "another queue pair is given a PSN"
        came_by = role == SERVER and same(passed.port, passed.store.term(INGRESS_PORT, Bits(9)))
        if not came_by and not any(_names(ran, there.index, passed.port) for ran in passed.store.ran):
            return "a queue pair is given a PSN in another pipe than that of its port"
        wanted = Window(STATION).number(PSN, 3) if role == SERVER else _low(there.old[""])
        if role == SERVER and self._kind(passed) != Kind.sequence_nak:
            return "a queue pair is given a PSN for another answer than a sequence NAK"
        right = NOTHING.prove(passed.conditions[:EARLY], _low(access.new[""]) == wanted)
        return "" if right else "a queue pair is given another PSN than goes on"

    def _next(self) -> Iterator[Result]:
        """Egress gives each request the next PSN, and nothing else any."""
        p4, frame = self.seen.case.p4, Frame("bridged")
        met = False
        for passed in passes(p4, p4.egress, Window(frame), name="bridged."):
            for access in passed.store.accesses:
                if access.changes and not passed.lost and access.register == self.epochs.egress:
                    yield _of(passed, "a request begins an epoch of READs")
                elif access.changes and not passed.lost:
                    met = True
                    old = as_term(access.old[""], Bits(32))
                    goes_on = NOTHING.prove((), as_term(access.new[""], Bits(32)) == old + 1)
                    shown = same(smt.simplify(passed.leaves.number(PSN, 3)), smt.simplify(_low(old)))
                    yield _of(passed, "" if goes_on and shown else "a request has not the next PSN")
        if not met:
            yield Result(STATE, "egress", Status.refuted, "no request gets a PSN")


def pairs_up(steps: Iterable[Step], guard: Guard) -> tuple[str, ...]:
    """The registers that say which queue pairs are up: those that a packet that is parked looks at."""
    found = {r for s in steps if s.does == Does.parks for r in s.accesses if r in guard.memory.registers}
    if not found:
        raise Missing("no register says which queue pairs are up")
    return tuple(sorted(found))


def acknowledged(steps: Iterable[Step], guard: Guard, others: Iterable[str]) -> str:
    """The register that has where a queue pair goes on. `others`: what is known of those that answers change."""
    theirs = {guard.reads, guard.silence, *others}
    return one(
        {r for s in steps if s.role == SERVER for r in guard.memory.registers if s.changes(r)} - theirs,
        "has the PSN that is next",
    )


def _of(passed: Passed, why: str) -> Result:
    return Result(STATE, str(passed.path), Status.refuted if why else Status.proved, why)


def _low(value: Value) -> Term:
    return smt.Extract(PSN_BITS - 1, 0, as_term(value, Bits(32)))


def _names(ran: Ran, pair: Value, port: Value | None) -> bool:
    """Does a table's entry of a queue pair say the port? The pair is what it was looked up by, or it says that too."""
    of_port = any(same(arg, port) for arg in ran.args)
    return of_port and any(_same_place(value, pair) for value in (*ran.keys, *ran.args))


def _same_place(one_: Value, other: Value) -> bool:
    """Are both the same queue pair's, as far as they are counted?"""
    if not isinstance(one_, smt.Term) or not isinstance(other, smt.Term):
        return same(one_, other)
    bits = min(one_.size(), other.size())
    return NOTHING.prove((), smt.Extract(bits - 1, 0, one_) == smt.Extract(bits - 1, 0, other))
