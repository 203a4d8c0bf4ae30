"""What the NF gets of a parked packet is its tag, and the bytes that the program names (DESIGN 14).

The mirror copy is cut where the controller has its session cut, and taken apart by egress; what leaves is compared with
the layout of the class that it names, at the offsets where the spec's parser finds the headers. The NF's C++ is
compared with that layout, too (`offsets.py`).
"""

from __future__ import annotations

from collections.abc import Iterator

from polysome import smt
from polysome.analysis.layout import WIRE, ClassLayout
from polysome.analysis.relevance import PAYLOAD
from polysome.p4.types import Bits
from polysome.prove.offsets import offsets
from polysome.prove.p4.expressions import as_term
from polysome.prove.p4.pipe import Passed, mirrored
from polysome.prove.p4.store import Ran, pieces
from polysome.prove.result import NOTHING, Facts, Result, Status, answered
from polysome.prove.spec.packet import PLACE, Parsed
from polysome.prove.spec.parse import TooManySizes
from polysome.prove.traffic import Parked, Traffic, to_the_nf
from polysome.prove.window import LENGTH, Term, Window, same
from polysome.prove.wire import CLASS, CONTENT, FIELDS, KIND, SEQ, SEQ_SIZE
from polysome_protocol import LAST_SEQ


def fields(seen: Traffic) -> Iterator[Result]:
    """One result for each path through the switch's parser that parks packets, and for each class that the NF knows."""
    numbered: dict[object, bool] = {}  # by the terms of a seq, which `seen` keeps
    for path, passes in seen.by_path:
        try:
            outcomes = seen.outcomes(path)
        except TooManySizes as error:
            yield Result("fields", str(path), Status.undecided, str(error))
        else:
            yield _Fields(seen, str(path), outcomes, Facts(*path.conditions), numbered).result(passes)
    yield from offsets(seen.case.program, seen.case.layouts, seen.case.nf)


class _Fields:
    """The obligations of one path."""

    def __init__(
        self, seen: Traffic, subject: str, outcomes: tuple[Parsed, ...], facts: Facts, known: dict[object, bool]
    ) -> None:
        self.seen, self.subject, self.outcomes, self.facts, self.known = seen, subject, outcomes, facts, known
        self.wanted: dict[tuple[int, int], list[tuple[str, Term]]] = {}  # by what `seen` keeps
        self.proved: dict[tuple[int, ...], Term] = {}  # by numbers of terms, which last as long as the terms

    def result(self, passes: tuple[Parked, ...]) -> Result:
        sent = 0
        for parked in passes:
            session = _session(parked.passed, self.seen.port)
            if session is None:
                continue  # the controller has set no session for such packets: there is no copy
            if not 0 < session <= len(self.seen.case.sessions):
                return self._refuted(f"its mirror session is one of way {session}, which the plan does not know")
            sent += 1
            found = self._copied(parked, self.seen.case.sessions[session - 1])
            if found.status != Status.proved:
                return found
        return Result("fields", self.subject, Status.proved) if sent else self._refuted("no copy goes to the NF")

    def _refuted(self, why: str) -> Result:
        frame = self.seen.case.frame
        return answered(
            "fields", self.subject, why, frame, (), smt.BoolVal(False), port=self.seen.port, facts=self.facts
        )

    def _copied(self, parked: Parked, most: int) -> Result:
        """The copies that a session makes which lets `most` bytes through."""
        case = self.seen.case
        window, given = mirrored(parked.passed, case.frame, most, case.chip)
        for copy in self.seen.egress.passes(window, given):
            for parsed in self.outcomes:
                known = (*parked.passed.conditions[len(parked.passed.path.conditions) :], *copy.conditions)
                if not copy.lost and not self._numbered(parked.passed, copy):
                    why = "the seq of its fields may be 0, or more than 30 bits"
                    return self._answered(why, known, smt.BoolVal(False))
                for why, wanted in self._all_wanted(copy, parsed):
                    found = self._answered(why, (*known, *parsed.conditions), wanted)
                    if found.status != Status.proved:
                        return found
        return Result("fields", self.subject, Status.proved)

    def _answered(self, why: str, known: tuple[Term, ...], wanted: Term) -> Result:
        frame, port = self.seen.case.frame, self.seen.port
        if smt.is_true(wanted):
            return Result("fields", self.subject, Status.proved)
        key = (wanted.get_id(), *(c.get_id() for c in known if self.seen.outside.of_packet(c)))
        if key in self.proved:
            return Result("fields", self.subject, Status.proved)
        found = answered("fields", self.subject, why, frame, known, wanted, port=port, facts=self.facts)
        if found.status == Status.proved:
            self.proved[key] = wanted
        return found

    # ------------------------------------------------------------ what must hold

    def _all_wanted(self, copy: Passed, parsed: Parsed) -> list[tuple[str, Term]]:
        """Once for each copy that egress makes: packets that differ behind what it parses share them."""
        key = (id(copy), id(parsed))
        if key not in self.wanted:
            self.wanted[key] = list(self._wanted(copy, parsed))
        return self.wanted[key]

    def _wanted(self, copy: Passed, parsed: Parsed) -> Iterator[tuple[str, Term]]:
        if copy.lost:
            frame = smt.ZeroExt(PLACE - LENGTH, self.seen.case.frame.length)
            claimed = parsed.claimed if parsed.claimed is not None else smt.BitVecVal(0, PLACE)
            yield "all of it is there, and its fields do not reach the NF", smt.simplify(smt.ULT(frame, claimed))
            return
        left = copy.leaves
        number = smt.simplify(left.byte(CLASS))
        layout = self.seen.case.layout(number.as_long()) if smt.is_bv_value(number) else None
        if layout is None or not layout.classes >> parsed.number & 1:
            yield "its frame to the NF does not name its class", smt.BoolVal(False)
            return
        tag = smt.And(left.byte(KIND) == FIELDS, to_the_nf(self.seen, copy))
        yield "its tag is wrong, or its frame is not addressed to the NF", smt.simplify(tag)
        yield "the NF gets other bytes than those that its program names", _content(left, layout, parsed)
        end = max(WIRE.minimum, CONTENT + layout.fields_size)
        zeros = [left.byte(k) == 0 for k in range(CONTENT + layout.fields_size, end)]
        yield "behind the fields there are no zeros up to 60 bytes", smt.simplify(smt.And(*zeros))
        there = end - len(left.prefix) + left.first
        ends = left.frame.length == there if there > left.first else smt.ULE(left.frame.length, left.first)
        yield "its frame to the NF ends before or behind the fields", smt.simplify(ends)

    def _numbered(self, passed: Passed, copy: Passed) -> bool:
        """Is the tag's seq never 0 or all ones, whichever it was that came before?"""
        left = copy.leaves
        seq = left.number(SEQ, SEQ_SIZE)
        key = ("seq", *(left.byte(SEQ + k).get_id() for k in range(SEQ_SIZE)))
        if key not in self.known:
            wanted = (seq != 0, smt.ULE(seq, LAST_SEQ))
            self.known[key] = NOTHING.prove(self._counted(passed, copy), *wanted)
        return self.known[key]

    def _counted(self, passed: Passed, copy: Passed) -> list[Term]:
        """That the number before was a seq, or 0 at first: of a register that nothing else writes, so by induction."""
        registers, actions = self.seen.case.p4.registers, self.seen.case.p4.register_actions
        for access in passed.store.accesses:
            alone = sum(a.register == access.register for a in actions.values()) == 1
            starts = registers[access.register].initial[0] <= LAST_SEQ
            fits = isinstance(access.result, smt.Term) and access.result.size() == 32 and "" in access.old
            octets = pieces([(access.result, 32)], 8) if alone and starts and fits else ()
            if octets and all(same(octet, copy.leaves.byte(SEQ + k)) for k, octet in enumerate(octets)):
                return [smt.ULE(as_term(access.old[""], Bits(32)), LAST_SEQ)]
        return []


def _session(passed: Passed, port: Term) -> int | None:
    """The way whose session the controller gives a packet: the last key of the entry that names it, behind its port."""
    mirror = passed.store.mirror
    assert mirror is not None
    for ran in passed.store.ran:
        if isinstance(mirror.session, smt.Term) and any(same(arg, mirror.session) for arg in ran.args):
            if not same(ran.keys[0], port):
                return 0
            return _last_key(ran)
    return None


def _last_key(ran: Ran) -> int | None:
    return ran.keys[-1] if ran.keys and isinstance(ran.keys[-1], int) else None


def _content(left: Window, layout: ClassLayout, parsed: Parsed) -> Term:
    """The fields, in their order, are the packet's bytes at the places where the program finds them."""
    wanted = []
    for piece in layout.fields:
        placed = parsed.placed.get(piece.instance)
        start = parsed.pos if piece.instance == PAYLOAD else placed.offset if placed is not None else None
        if start is None or (placed is not None and placed.size is None):
            return smt.BoolVal(False)
        for k in range(piece.length):
            wanted.append(left.byte(CONTENT + piece.offset + k) == parsed.frame.byte(start + piece.first + k))
    return smt.simplify(smt.And(*wanted))
