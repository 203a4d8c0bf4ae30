"""What the switch's program does with each packet from a traffic port: parked by a way, whole to the NF, or dropped."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby

from polysome import smt
from polysome.p4.types import Bits, width
from polysome.prove.case import TRAFFIC, Case, port_metadata
from polysome.prove.outside import Outside
from polysome.prove.p4.expressions import Value
from polysome.prove.p4.parser import Path
from polysome.prove.p4.pipe import Passed, bridged, mirrored, passes
from polysome.prove.p4.store import Key
from polysome.prove.spec.packet import Parsed
from polysome.prove.spec.parse import parses
from polysome.prove.window import LENGTH, Frame, Term, Window
from polysome.prove.wire import CLASS, FIELDS, KIND, PORT, TYPE
from polysome_protocol import FRAMES


@dataclass(frozen=True)
class Parked:
    """A pass that parks the packet; `copy`: the pass of its mirror copy through egress, to the NF."""

    passed: Passed
    copy: Passed

    @cached_property
    def conditions(self) -> tuple[Term, ...]:
        return (*self.passed.conditions, *self.copy.conditions)

    @cached_property
    def number(self) -> int | None:
        """The class that the frame's tag names; None if it is no fields frame of one class."""
        kind, number = (known_byte(self.copy.leaves, at) for at in (KIND, CLASS))
        return number if kind == FIELDS and number else None


def known_byte(window: Window, at: int) -> int | None:
    """A byte that does not depend on the packet."""
    term = smt.simplify(window.byte(at))
    return int(term.as_long()) if smt.is_bv_value(term) else None


@dataclass(frozen=True)
class Egress:
    """Passes through egress. What looks alike there is walked once: most packets differ only behind what it parses."""

    case: Case

    def passes(self, window: Window, given: Mapping[Key, Value]) -> tuple[Passed, ...]:
        return passes(self.case.p4, self.case.p4.egress, window.trimmed, name="egress.", given=given)


@dataclass(frozen=True, eq=False)
class Traffic:
    """All that becomes of packets from traffic ports. `port`: the number of the spec's port, of 8 bits."""

    case: Case
    port: Term
    passed: tuple[Passed, ...]
    egress: Egress
    _outcomes: dict[int, tuple[Parsed, ...]] = field(default_factory=dict)

    @cached_property
    def outside(self) -> Outside:
        return Outside(self.case.frame)

    def outcomes(self, path: Path) -> tuple[Parsed, ...]:
        """What the spec's parser finds in packets that take a path. Raises TooManySizes."""
        if id(path) not in self._outcomes:
            self._outcomes[id(path)] = tuple(parses(self.case.program, self.case.frame, path.conditions))
        return self._outcomes[id(path)]

    @cached_property
    def stations(self) -> set[str]:
        """The tables of egress that give a station's MAC, and nothing else."""
        p4 = self.case.p4
        gives = {name: [width(place.type) for place in action.params] for name, action in p4.actions.items()}
        return {name for name, table in p4.tables.items() if any(gives[a] == [48] for a in table.actions)}

    @cached_property
    def by_path(self) -> tuple[tuple[Path, tuple[Parked, ...]], ...]:
        """The passes that park, by the parser's path; those of one path differ in what is outside the packet."""
        found = [(p, tuple(of)) for p, of in groupby(self.parked, key=lambda p: id(p.passed.path))]
        return tuple((of[0].passed.path, of) for _, of in found)

    @cached_property
    def parked(self) -> tuple[Parked, ...]:
        """The passes of which a mirror copy goes to the NF."""
        found = []
        for passed in self.passed:
            if passed.store.mirror is not None:
                window, given = mirrored(passed, self.case.frame, (1 << LENGTH) - 1, self.case.chip)
                found += [Parked(passed, copy) for copy in self.egress.passes(window, given) if not copy.lost]
        return tuple(found)

    @cached_property
    def unparked(self) -> tuple[Passed, ...]:
        return tuple(p for p in self.passed if p.store.mirror is None)

    def delivered(self, passed: Passed) -> tuple[Passed, ...]:
        """What egress makes of the packet itself."""
        window, given = bridged(passed, self.case.frame, self.case.chip)
        return self.egress.passes(window, given)


def traffic(case: Case) -> Traffic:
    """Walks ingress for every frame from a traffic port."""
    port = smt.BitVec("port", 8)
    known = (smt.ULT(port, len(case.program.ports)),)
    metadata, window = port_metadata(case.p4, TRAFFIC, port), Window(case.frame)
    passed = passes(case.p4, case.p4.ingress, window, metadata=metadata, assumptions=known)
    return Traffic(case, port, passed, Egress(case))


def to_the_nf(seen: Traffic, copy: Passed) -> Term:
    """Is it a frame from the switch to the station that the controller named for the NF's port, about the port?"""
    left, egress_port = copy.leaves, copy.store.read(("eg_intr_md", "egress_port"), Bits(9))
    said = [
        smt.And(ran.keys[0] == egress_port, left.number(0, 6) == ran.args[0])
        for ran in copy.store.ran
        if len(ran.keys) == 1 and len(ran.args) == 1 and ran.table in seen.stations
    ]
    asked = [ran for ran in copy.store.ran if ran.table in seen.stations]
    return smt.And(
        smt.BoolVal(bool(asked)),
        *said,
        left.number(6, 6) == seen.case.addresses.mac,
        left.number(TYPE, 2) == FRAMES.ether_type,
        left.byte(PORT) == 0,
        left.byte(PORT + 1) == seen.port,
    )


def unchanged(window: Window, first: int, frame: Frame, start: int = 0) -> bool:
    """Do the window's bytes from `first` on say just what the frame says, from its byte `start` to its last?"""
    kept = len(window.prefix) - first
    return (
        kept >= 0
        and window.frame.name == frame.name
        and window.first == start + kept
        and all(window.prefix[first + k].eq(frame.byte(start + k)) for k in range(kept))
    )
