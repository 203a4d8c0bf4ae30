"""A whole pass of a packet through ingress or egress: parser, control, deparser, and what becomes of the packet then.

The traffic manager and mirroring are those of `runtime/switch/switch.hpp`; how a chip counts is `ChipLimits`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from polysome import smt
from polysome.p4 import program as pr
from polysome.p4.limits import ChipLimits
from polysome.p4.types import Bits
from polysome.p4.walk import expressions, statements
from polysome.prove.once import Once
from polysome.prove.p4.code import code
from polysome.prove.p4.control import FREE, Around, Walk, emitted, header_bytes
from polysome.prove.p4.expressions import Value, simplified
from polysome.prove.p4.known import Known
from polysome.prove.p4.parser import REJECTED, Path, paths
from polysome.prove.p4.store import InWindow, Key, Store
from polysome.prove.p4.world import Feasible, World
from polysome.prove.window import LENGTH, Frame, Term, Window

LOST_IN_PARSER, DROPPED = "parser", "program"  # why nothing goes on: an error that nobody reads; drop_ctl


@dataclass(frozen=True)
class Passed:
    """What a pass made of a packet on one way. `lost`: nothing goes on, but for a mirror copy ("": it goes on).

    `last`: the headers that the deparser emits at its end, those that are valid. `after`: the world behind the control,
    one object for all passes that looked the same to the control; None if there was none.
    """

    path: Path
    conditions: tuple[Term, ...]
    store: Store
    lost: str
    last: tuple[pr.Place, ...] = ()
    after: World | None = None

    @cached_property
    def leaves(self) -> Window:
        """What goes on: the emitted bytes, then what the parser left of the frame."""
        store = self.store
        headers = (*store.emitted, *(emitted(header, store) for header in self.last if store.is_valid(header.key)))
        octets = tuple(byte for header in headers for byte in header_bytes(header, store))
        return behind(store.reader.window, octets, self.path.consumed)

    @property
    def port(self) -> Value | None:
        """Where the unicast copy goes (of ingress); None: there is none."""
        return self.out("ucast_egress_port")

    def out(self, name: str) -> Value | None:
        """What ingress tells the traffic manager: `mcast_grp_a`, `qid`, `bypass_egress`, ...; None: nothing."""
        found = self.store.values.get(("tm", name))
        assert not isinstance(found, InWindow)
        return found


def passes(
    program: pr.Program,
    gress: pr.Gress,
    window: Window,
    *,
    name: str = "",
    given: Mapping[Key, Value] | None = None,
    metadata: Term | None = None,
    assumptions: Iterable[Term] = (),
) -> tuple[Passed, ...]:
    """All ways that a frame takes through the gress; parameters as those of `parser.paths`."""
    facts = tuple(assumptions)

    def find() -> tuple[Passed, ...]:
        onward = Onward(program, gress, assumptions=facts)
        walked = paths(program, gress, window, name=name, given=given, metadata=metadata, assumptions=facts)
        return tuple(passed for path in walked for passed in onward.of(path))

    return _PASSES.get((code(program, gress), window, name, given or {}, metadata, facts), find)


_PASSES: Once[tuple[Passed, ...]] = Once()


class Onward:
    """From the parser's paths on, through control and deparser.

    The control walks once for all paths that look the same to it: so its conditions can hold together, but perhaps not
    with all those of the path. `besides`: what holds too (`Feasible`).
    """

    def __init__(
        self,
        program: pr.Program,
        gress: pr.Gress,
        around: Around = FREE,
        assumptions: Iterable[Term] = (),
        besides: Iterable[Term] = (),
    ) -> None:
        self.program, self.gress, self.assumptions = program, gress, tuple(assumptions)
        self.walk = Walk(program, around, Feasible(self.assumptions, besides))
        self.reads_error = reads_error(program, gress)
        self.same = (code(program, gress).rest, around.entries, around.elements, self.assumptions, tuple(besides))
        self.known: dict[str, Known] = {}  # by what stands before the names of symbols
        emits = [isinstance(s, pr.EmitHeader) for s in gress.deparser]
        end = max((n for n, one in enumerate(emits, 1) if not one), default=0)
        self.deparser = gress.deparser[:end]
        self.last = tuple(s.header for s in gress.deparser[end:] if isinstance(s, pr.EmitHeader))
        self.only_mirror = tuple(s for s in self.deparser if not isinstance(s, pr.EmitHeader))

    def of(self, path: Path, lost: bool = True) -> Iterator[Passed]:
        """Its passes. `lost`: also those that the program drops."""
        if path.error == REJECTED or (path.error and not self.reads_error):
            yield Passed(path, path.conditions, path.store, LOST_IN_PARSER)
            return
        base = path.store.copy()
        base.write(("prsr", "parser_err"), path.error)
        for after in self._controlled(base):
            store = after.store.onto(base)
            for dropped, said in self.walk.feasible.split(_drops(store)):
                if dropped and not lost:
                    continue
                conditions = (*path.conditions, *after.conditions)
                world = World(store, conditions).given(said, last=not dropped or isinstance(said, int))
                for done in self.walk.block(self.only_mirror if dropped else self.deparser, world):
                    last = () if dropped else self.last
                    yield Passed(path, done.conditions, done.store, DROPPED if dropped else "", last, after)

    def _controlled(self, base: Store) -> list[World]:
        """The worlds behind the control: stores with what it wrote, conditions since the parser."""
        if (known := self.known.get(base.name)) is None:
            known = self.known[base.name] = _KNOWN.get((*self.same, base.name), Known)
        found = known.of(base)
        if found is None:
            start = World(base.since())
            found = list(self.walk.block(self.gress.control, start))
            known.put(base, start.store.seen, found)
        return found


_KNOWN: Once[Known] = Once()


def _drops(store: Store) -> Value:
    """Does `drop_ctl` say that the packet itself goes nowhere?"""
    said = store.read(("dprsr", "drop_ctl"), Bits(3))
    return said & 1 if isinstance(said, int) else simplified(smt.Extract(0, 0, said) == 1)


def reads_error(program: pr.Program, gress: pr.Gress) -> bool:
    """Frames with a parser error go on only if the program looks at it."""
    key = (id(program), id(gress))
    found = _READS_ERROR.get(key)
    if found is None:
        reads = any(
            isinstance(e, pr.Place) and e.key == ("prsr", "parser_err")
            for s in statements(program, (*gress.control, *gress.deparser))
            for e in expressions(program, s)
        )
        found = _READS_ERROR[key] = (program, gress, reads)
    return found[2]


# With both, whose numbers are their own while they live.
_READS_ERROR: dict[tuple[int, int], tuple[pr.Program, pr.Gress, bool]] = {}


def behind(window: Window, emitted: tuple[Term, ...], consumed: int) -> Window:
    """A window with its first `consumed` bits replaced."""
    size = consumed // 8
    kept = window.prefix[size:]
    return Window(window.frame, (*emitted, *kept), window.first + max(0, size - len(window.prefix)))


# ------------------------------------------------------------ between ingress and egress


@dataclass(frozen=True)
class Cut(Frame):
    """A frame of which at most `most` bytes are there."""

    most: int = 0

    @cached_property
    def length(self) -> Term:
        whole, most = Frame(self.name).length, smt.BitVecVal(self.most, LENGTH)
        return smt.If(smt.ULT(whole, most), whole, most)


def bridged(passed: Passed, arrived: Frame | Window, chip: ChipLimits) -> tuple[Window, dict[Key, Value]]:
    """What egress gets of a packet that goes on: its window, and the metadata that are known there."""
    length = arrived.length + smt.BitVecVal(chip.length_extra, LENGTH)
    given: dict[Key, Value] = {("eg_intr_md", "pkt_length"): length}
    if passed.port is not None:
        given["eg_intr_md", "egress_port"] = passed.port
    return passed.leaves, given


def mirrored(passed: Passed, frame: Frame, most: int, chip: ChipLimits) -> tuple[Window, dict[Key, Value]]:
    """What egress gets of the ingress mirror copy, by a session that lets `most` bytes through."""
    mirror = passed.store.mirror
    assert mirror is not None
    size = len(mirror.header)
    counted = (size if chip.mirror_cuts_header else 0) + chip.mirror_cuts_fcs
    cut = Cut(frame.name, max(0, most - counted))
    length = cut.length + smt.BitVecVal(size + chip.mirror_length_extra, LENGTH)
    return Window(cut, mirror.header), {("eg_intr_md", "pkt_length"): smt.simplify(length)}
