"""A packet is written into its cell and read from it again, whole, and nothing else is (DESIGN 14).

The WRITE is what egress makes of the packet that is parked, the READ what it makes of the edits frame that answers the
same packet's fields: their tags name the same seq, queue pair and length. What stands before the packet in its cell is
taken from the WRITE itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache

from polysome import smt
from polysome.prove.answers import EDITS, Answer, Reads, reads
from polysome.prove.literals import literals
from polysome.prove.p4.pipe import Passed
from polysome.prove.result import NOTHING, Result, Status, answered
from polysome.prove.traffic import Parked, Traffic, known_byte
from polysome.prove.window import LENGTH, Term, Window
from polysome.prove.wire import (
    ADDRESS,
    LENGTH_AT,
    OPCODE,
    REQUEST,
    SAID,
    SAID_SEQ,
    SAID_SIZE,
    SEQ_SIZE,
    TOTAL_LENGTH,
    UDP_LENGTH,
)
from polysome_protocol import OPCODES

MOST_BEFORE = 8  # bytes of a cell that no packet may have: PROTOCOL.md, rule 1
LONGEST = 10_000  # bytes that a MAC takes
ENOUGH = 1024  # bytes of an edits frame that has all edits
WIDE = 32  # bits in which lengths do not wrap


@dataclass(frozen=True)
class Written:
    """A WRITE that egress makes of a packet: `window` is the request, `before` the cell's bytes before the packet."""

    out: Passed
    window: Window

    @property
    def before(self) -> tuple[Term, ...]:
        return self.window.prefix[REQUEST:]

    @cached_property
    def pad(self) -> tuple[int, ...] | None:
        """The bytes between the cell's head and the packet; None if they depend on the packet, or it is not whole."""
        known = [known_byte(self.window, k) for k in range(REQUEST + SEQ_SIZE, len(self.window.prefix))]
        numbers = tuple(k for k in known if k is not None)
        whole = self.window.first == 0 and len(self.before) >= SEQ_SIZE
        return numbers if whole and len(numbers) == len(known) else None


@dataclass(frozen=True)
class Unwritten:
    """A parked packet of which egress makes no WRITE: dropped there, or sent on as it is."""

    out: Passed


@dataclass(frozen=True, eq=False)
class Shape:
    """What egress gets of a parked packet and what its fields' tag says, each byte that is not known as a symbol.

    Packets that differ only in what the symbols stand for have one shape, and what holds of it holds of them.
    """

    window: Window
    tag: tuple[Term, ...]  # bytes of seq, queue pair and length: those of SAID

    @cached_property
    def key(self) -> tuple[int, ...]:
        """Equal for equal shapes, as long as one of them is kept."""
        return (self.window.first, len(self.tag), *(t.get_id() for t in (*self.tag, *self.window.prefix)))


@cache
def _symbol(number: int) -> Term:
    return smt.BitVec(f"known[{number}]", 8)


def shape(parked: Parked) -> Shape:
    window = parked.passed.leaves.trimmed
    names: dict[int, Term] = {}

    def symbol(byte: Term) -> Term:
        if smt.is_bv_value(byte):
            return byte
        found = names.get(byte.get_id())
        if found is None:
            found = names[byte.get_id()] = _symbol(len(names))
        return found

    said = [parked.copy.leaves.byte(k) for k in SAID]
    prefix = tuple(symbol(byte) for byte in window.prefix)
    return Shape(Window(window.frame, prefix, window.first), tuple(symbol(byte) for byte in said))


class Writes:
    """The WRITEs of parked packets, by what egress gets of them."""

    def __init__(self, seen: Traffic) -> None:
        self.seen = seen
        self.known: dict[tuple[int, ...], tuple[Shape, list[Written | Unwritten]]] = {}
        self._of: dict[int, tuple[tuple[Parked, ...], list[tuple[Shape, Written | Unwritten]]]] = {}

    def of(self, passes: tuple[Parked, ...]) -> list[tuple[Shape, Written]]:
        return [(of, one) for of, one in self._all(passes) if isinstance(one, Written)]

    def unwritten(self, passes: tuple[Parked, ...]) -> list[tuple[Shape, Unwritten]]:
        return [(of, one) for of, one in self._all(passes) if isinstance(one, Unwritten)]

    def _all(self, passes: tuple[Parked, ...]) -> list[tuple[Shape, Written | Unwritten]]:
        if id(passes) not in self._of:
            found = {}
            for one in map(shape, passes):
                if one.key not in self.known:
                    self.known[one.key] = (one, list(writes(self.seen, one)))
                found[one.key] = self.known[one.key]
            self._of[id(passes)] = (passes, [(of, one) for of, all_of in found.values() for one in all_of])
        return self._of[id(passes)][1]


@lru_cache(maxsize=1)
def written(seen: Traffic) -> Writes:
    """What is written of all its packets."""
    return Writes(seen)


def writes(seen: Traffic, of: Shape) -> Iterator[Written | Unwritten]:
    """What becomes of it; the WRITEs that a packet may become: of those that differ in their addresses only, one."""
    length = seen.case.frame.length + smt.BitVecVal(seen.case.chip.length_extra, LENGTH)
    known = set()
    for out in seen.egress.passes(of.window, {("eg_intr_md", "pkt_length"): length}):
        if out.lost or known_byte(out.leaves, OPCODE) != OPCODES.write:
            yield Unwritten(out)
        else:
            written = Written(out, out.leaves.trimmed)
            key = (literals(out.conditions), *(t.get_id() for t in relevant(written.window)))
            if key not in known:
                known.add(key)
                yield written


def relevant(request: Window) -> list[Term]:
    """What says where and how much, and what stands before the packet; not who asks whom."""
    places = (TOTAL_LENGTH, TOTAL_LENGTH + 1, UDP_LENGTH, UDP_LENGTH + 1)
    first = [request.byte(k) for k in (*places, *range(ADDRESS, ADDRESS + 8), *range(LENGTH_AT, LENGTH_AT + 4))]
    return [*first, *request.prefix[REQUEST:]]


def park(seen: Traffic) -> Iterator[Result]:
    """One result for each path through the switch's parser that parks packets."""
    prover = _Park(seen, reads(seen))
    for path, passes in seen.by_path:
        yield prover.path(str(path), path.conditions, passes)


_TOO_LONG = f"a packet may be parked that claims more than the {LONGEST} bytes that a MAC takes"


class _Park:
    def __init__(self, seen: Traffic, answers: Reads) -> None:
        self.seen, self.case, self.reads, self.lost = seen, seen.case, answers.distinct, answers.lost
        self.refused = answers.refused
        self.writes = written(seen)
        self.proved: set[tuple[object, ...]] = set()

    def path(self, subject: str, conditions: tuple[Term, ...], passes: tuple[Parked, ...]) -> Result:
        lengths: dict[tuple[int, ...], Term] = {}
        for parked in passes:
            if parked.passed.lost:
                why = "its fields go to the NF, and the packet is lost"
                result = self._answered(subject, why, parked.conditions, smt.BoolVal(False))
                if result.status != Status.proved:
                    return result
            length = [parked.copy.leaves.byte(k) for k in SAID[SAID_SIZE]]
            claimed, key = smt.Concat(*length), tuple(byte.get_id() for byte in length)
            if key not in lengths:
                lengths[key] = claimed
                result = self._answered(subject, _TOO_LONG, conditions, smt.ULE(claimed, LONGEST))
                if result.status != Status.proved:
                    return result
                if any(self._refused(conditions, claimed, passed) for passed in self.refused):
                    return Result("park", subject, Status.refuted, "its edits may be refused for their length")
        requests = self.writes.of(passes)
        if self.lost:
            return Result("park", subject, Status.refuted, self.lost)
        if not requests or not self.reads:
            return Result("park", subject, Status.refuted, "no packet that takes it is written, or none is read again")
        for of, lost in self.writes.unwritten(passes):
            result = self._unwritten(subject, of, lost)
            if result.status != Status.proved:
                return result
        for of, one in requests:
            result = self._written(subject, conditions, of, one)
            if result.status != Status.proved:
                return result
        return Result("park", subject, Status.proved)

    def _refused(self, conditions: tuple[Term, ...], claimed: Term, passed: Passed) -> bool:
        """Can edits with this length be dropped, of the first packet on the first queue pair?"""
        said = [EDITS.byte(k) for k in SAID]
        tag = [byte == int(k == SEQ_SIZE - 1) for k, byte in enumerate(said[: SAID_SIZE.start])]
        length = smt.And(smt.Concat(*said[SAID_SIZE]) == claimed, smt.UGE(EDITS.length, ENOUGH))
        return not NOTHING.prove((*conditions, *passed.conditions, *tag, length))

    def _unwritten(self, subject: str, of: Shape, lost: Unwritten) -> Result:
        """Only what is shorter than it claims, or too long for a cell (rule 1)."""
        key = (id(lost),)
        if key in self.proved:
            return Result("park", subject, Status.proved)
        length, claimed = self.case.frame.length, smt.Concat(*of.tag[SAID_SIZE])
        bounds = (smt.ULE(length, LONGEST), smt.ULE(claimed, LONGEST))
        right = smt.Or(smt.ULT(length, claimed), smt.UGT(length, self.case.cell - MOST_BEFORE))
        why = "a packet that is all there is not written" if lost.out.lost else "a packet goes to a server as it is"
        wanted = right if lost.out.lost else smt.BoolVal(False)
        result = self._answered(subject, why, (*lost.out.conditions, *bounds), wanted)
        if result.status == Status.proved:
            self.proved.add(key)
        return result

    def _written(self, subject: str, conditions: tuple[Term, ...], of: Shape, written: Written) -> Result:
        for read in self.reads:
            terms = (*relevant(written.window), *of.tag)
            key = (id(read), literals(written.out.conditions), *(t.get_id() for t in terms))
            if key in self.proved:
                continue
            linked = [EDITS.byte(k) == byte for k, byte in zip(SAID, of.tag, strict=True)]
            bounds = (smt.ULE(self.case.frame.length, LONGEST), smt.ULE(smt.Concat(*of.tag[SAID_SIZE]), LONGEST))
            known = (*written.out.conditions, *read.conditions, *linked, *bounds)
            for why, one in self._agree(written, list(of.tag), read):
                result = self._answered(subject, why, known, one)
                if result.status != Status.proved:
                    return result
            self.proved.add(key)
        return Result("park", subject, Status.proved)

    def _answered(self, subject: str, why: str, known: tuple[Term, ...], *wanted: Term) -> Result:
        return answered("park", subject, why, self.case.frame, known, *wanted, port=self.seen.port)

    def _agree(self, written: Written, tag: list[Term], read: Answer) -> Iterator[tuple[str, Term]]:
        """What must hold of a WRITE and a READ; in words what it means if it does not."""
        yield "the packet is not written whole", smt.BoolVal(written.pad is not None)
        if written.pad is None:
            return
        wrote, asks, size = written.window, read.read.leaves, self.case.cell
        at, claimed = _wide(wrote, ADDRESS, 8), smt.Concat(smt.BitVecVal(0, WIDE - 16), *tag[SAID_SIZE])
        frame = smt.ZeroExt(WIDE - 16, self.case.frame.length)
        count, asked = _wide(wrote, LENGTH_AT, 4), _wide(asks, LENGTH_AT, 4)
        head, before = _wide_of(written.before[:SEQ_SIZE]), SEQ_SIZE + len(written.pad)
        zeros = (len(written.pad), *(0 for _ in written.pad[1:]))
        yield "the pad is not its length, then zeros", smt.BoolVal(written.pad == zeros)
        yield "WRITE and READ are of different cells", smt.simplify(at == _wide(asks, ADDRESS, 8))
        yield "the cell does not begin at a multiple of its size", smt.simplify(at & (size - 1) == 0)
        yield "the cell is not in the region", smt.simplify(smt.ULT(at, self.case.cells * size))
        yield "the WRITE's length is not that of its cell", smt.simplify(count == frame + before)
        yield "the WRITE's length is no multiple of 4", smt.simplify(smt.Extract(1, 0, count) == 0)
        yield "the WRITE goes beyond its cell", smt.simplify(smt.ULE(count, size))
        yield "a frame is written that is shorter than it claims", smt.simplify(smt.ULE(claimed, frame))
        yield "the cell's head is not 0:2 seq:30", smt.simplify(head == _wide_of(tag[SAID_SEQ]))
        yield "the READ's length is no multiple of 4", smt.simplify(smt.Extract(1, 0, asked) == 0)
        yield "the READ asks for more than the WRITE wrote", smt.simplify(smt.ULE(asked, count))
        yield "the READ does not ask for all of the packet", smt.simplify(smt.UGE(asked, claimed + before))
        yield "the WRITE's IPv4 or UDP length is wrong", _lengths(wrote, count)
        yield "the READ's IPv4 or UDP length is wrong", _lengths(asks, smt.BitVecVal(0, WIDE))


def _lengths(request: Window, moved: Term) -> Term:
    """IPv4 and UDP count what follows them, the ICRC too."""
    total, udp = _wide(request, TOTAL_LENGTH, 2), _wide(request, UDP_LENGTH, 2)
    data = smt.Extract(15, 0, moved)
    return smt.simplify(smt.And(total == data + 60, udp == data + 40))


def _wide(window: Window, first: int, count: int) -> Term:
    return _wide_of([window.byte(first + k) for k in range(count)])


def _wide_of(octets: Sequence[Term]) -> Term:
    return smt.Concat(*octets)
