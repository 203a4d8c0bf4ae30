"""The whole system as an engine: the switch's P4 program, RDMA servers and the NF as C++, on virtual time.

The trace of its records is the one that `decide` saw: a fate for each frame that the NF decided on, at its time there.
Copies have the time at which the NF sent them and places in the NF's order; that they left the switch, and in the order
that the split protocol promises, is checked here, as is what follows a packet's end on the wire.

A parked frame that is shorter than it claims is, in the trace, as long as it claims, with zeros at its end: neither the
NF nor its schedule can know better, and the switch loses it afterwards.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from polysome.backends.controller.verdicts import PORT_SET
from polysome.backends.nf_cpp import types_code
from polysome.backends.nf_cpp.build import BuildError, missing
from polysome.backends.nf_cpp.config_blob import encode
from polysome.backends.nf_cpp.library import Failed, arrivals
from polysome.backends.nf_cpp.sizes import sizes
from polysome.backends.system import faults
from polysome.backends.system.abi import Happened, Kind, Running, load
from polysome.backends.system.configure import Run, configure
from polysome.backends.system.design import Design, default_design
from polysome.backends.system.library import build
from polysome.backends.system.report import events
from polysome.config.tables import Tables
from polysome.interp.machine import Machine
from polysome.ir import program as ir
from polysome.plan import frames
from polysome.syntax.diagnostics import SpecError
from polysome.testing.engines.transform import transformed
from polysome.testing.options import RunOptions, Unsupported
from polysome.testing.record import Copy, Fate, Made, Record
from polysome.testing.spec import Spec, code, shrunk
from polysome.testing.trace import Arrival, Trace

LONGEST = 10_000 - 26  # bytes of a frame that the switch's MACs accept with Ethernet and tag around it
_BATCH = 256  # packets that are handed over at once

Counted = Callable[[Design, tuple[int, ...]], None]  # how often each outcome happened, by its number


class System:
    """It splits always, so `split` changes nothing. It has one core. The NF's state and headers of emitted packets are
    not shown.

    `counted`: is told after each run what the run reached of the design's P4 program; without it nothing is counted.
    """

    name = "system"

    def __init__(self, counted: Counted | None = None) -> None:
        self._counted = counted

    def missing(self) -> str | None:
        return missing()

    def run(self, spec: Spec, trace: Trace, options: RunOptions) -> Record:
        _check(options)
        try:
            design = default_design(spec.program)
        except SpecError as error:
            raise Unsupported(f"the engine `system` has no plan: {error.diagnostics[0].message}") from error
        program = spec.program if options.capacity is None else shrunk(spec.program, options.capacity)
        run = _Run(design, program, transformed(trace, options), options, self._counted)
        try:
            run.through()
        except types_code.Unsupported as lacking:
            raise Unsupported(f"the engine `system` cannot run {lacking}") from lacking
        except (BuildError, Failed, OSError) as error:
            return run.record(str(error))
        return run.record(None)


def _check(options: RunOptions) -> None:
    if options.scramble:
        raise Unsupported("the NF of the engine `system` sees fields frames, which have nothing to scramble")
    if options.split is False:
        raise Unsupported("the engine `system` always splits")
    if (options.cores or 1) > 1:
        raise Unsupported("the NF of the engine `system` has one core")
    if options.batch is not None or options.steps > 1:
        raise Unsupported("the engine `system` itself says when its NF takes what waits")


@dataclass
class _Decision:
    """One frame that the NF decided on: of which packet, when, and the frame's tag."""

    packet: int
    port: int
    time: int
    tag: bytes
    reason: str | None = None
    sent: list[tuple[int, int, int]] = field(default_factory=list)  # port, time, place among all that the NF sent
    left: dict[int, list[tuple[bytes, bytes]]] = field(default_factory=dict)  # by port: packets, and what follows each

    @property
    def whole(self) -> bool:
        return self.tag[0] & 15 != 0

    @property
    def claimed(self) -> int:
        """Bytes that a parked packet should have."""
        return int.from_bytes(self.tag[8:10], "big")

    @property
    def queue_pair(self) -> int:
        return int.from_bytes(self.tag[6:8], "big")


@dataclass
class _Own:
    """A packet that the NF made."""

    port: int
    time: int
    data: bytes
    place: int
    cause: int | None
    left: list[tuple[bytes, bytes]] = field(default_factory=list)  # with what follows


class _Run:
    """A trace through the system, and what its library says of it."""

    def __init__(
        self, design: Design, program: ir.Program, trace: Trace, options: RunOptions, counted: Counted | None
    ) -> None:
        self.design, self.program, self.trace, self.options = design, program, trace, options
        self._counted = counted
        servers = len(design.site.rdma_servers)
        mixes = ";".join(sorted(options.faults))
        self._faults = faults.parse(mixes, servers) if mixes else ()
        self._decisions: list[_Decision] = []
        self._own: list[_Own] = []
        self._lost: dict[int, str] = {}  # by packet as it arrived
        self._missed: dict[int, str] = {}  # by decision
        self._order: list[tuple[int, int]] = []  # decision and port of what left, as it left
        self._recirculated = 0
        self._places = count()
        self._reader = _Reader(program, trace.config)

    def through(self) -> None:
        """Runs it. Raises Failed; what happened before is noted."""
        library = load(build(self.design, counted=self._counted is not None))
        packets = [(a.port, a.time, a.data) for a in self.trace.arrivals]
        run = Run(
            sizes(self.program),
            start=packets[0][1] if packets else 0,
            seed=self.options.seed,
            faults=self._faults,
            deep=True,
            collide=self.options.collisions,
        )
        system = configure(self.design, run)
        with Running(library, system, encode(self.program, self.trace.config)) as running:
            try:
                for change in self.trace.changes:
                    running.change_at(change.time, encode(self.program, change.values))
                for first in range(0, len(packets), _BATCH):
                    running.hand_over(arrivals(packets[first : first + _BATCH]))
                    self._note(running)
                running.finish()
            finally:
                self._note(running)
                if self._counted is not None:
                    self._counted(self.design, running.coverage())
            self._recirculated = events(running, self.design).get("retry", 0)

    def _note(self, running: Running) -> None:
        for happened in running.records():
            self._one(running, happened)

    def _one(self, running: Running, it: Happened) -> None:
        match it.kind, it.number, it.packet:
            case Kind.decided, _, int(packet):
                self._decisions.append(_Decision(packet, it.port, it.time, it.data))
            case Kind.dropped, int(number), _:
                self._decisions[number].reason = running.reason(it.port)
            case Kind.answered, int(number), _:
                for port in _ports(it.port):
                    self._decisions[number].sent.append((port, it.time, next(self._places)))
            case Kind.made, _, cause:
                self._own.append(_Own(it.port, it.time, it.data, next(self._places), cause))
            case Kind.left, int(number), _:
                self._decisions[number].left.setdefault(it.port, []).append((it.data, it.suffix))
                self._order.append((number, it.port))
            case Kind.own_left, int(number), _:
                self._own[number].left.append((it.data, it.suffix))
            case Kind.lost, _, int(packet):
                self._lost[packet] = running.cause(it.port)
            case ((Kind.held | Kind.end), _, _):
                pass
            case _:
                raise Failed(f"a record of kind {it.kind} is about no packet that came or that the NF made")

    # ------------------------------------------------------------ the record

    def record(self, crash: str | None) -> Record:
        """What happened up to the last decision: there the trace ends."""
        arrivals = self.trace.arrivals
        decided = tuple(Arrival(d.port, d.time, _known(d, arrivals[d.packet].data)) for d in self._decisions)
        seen = Trace(self.trace.config, decided, self.trace.changes)
        self._end = decided[-1].time if decided else 0
        try:
            fates, emitted = self._fates(seen), self._emitted()
            places = sorted([c.place for f in fates for c in f.copies] + [m.place for m in emitted])
            new = {place: n for n, place in enumerate(places)}
            fates = [_replaced(fate, new) for fate in fates]
            made = tuple(Made(m.port, m.time, m.data, new[m.place], m.cause, None) for m in emitted)
            self._check_all_decided()
            self._check_order()
        except Failed as error:
            fates, made, crash = [], (), crash or str(error)
        return Record(self.program, seen, tuple(fates), made, None, crash, self._missed)

    def _fates(self, seen: Trace) -> list[Fate]:
        found = []
        for number, (decision, arrival) in enumerate(zip(self._decisions, seen.arrivals, strict=True)):
            copies = self._copies(number, decision, arrival.data)
            order_class = self._reader.order_class(arrival)
            found.append(Fate(number, arrival, decision.time, decision.reason, copies, order_class))
        return found

    def _copies(self, number: int, decision: _Decision, arrived: bytes) -> tuple[Copy, ...]:
        """What left of what the NF sent up to the end of the trace."""
        name = f"packet {number + 1} of those decided"
        if extra := decision.left.keys() - {port for port, _, _ in decision.sent}:
            raise Failed(f"{name} left by port {self.program.ports[min(extra)]}, to which the NF did not send it")
        copies, size = [], len(self.trace.arrivals[decision.packet].data)
        for port, time, place in decision.sent:
            left = decision.left.get(port, [])
            if time > self._end:
                continue
            if len(left) > 1 and not (decision.whole and self._faults):  # a link repeats frames like any other
                raise Failed(f"{name} left by port {self.program.ports[port]} {len(left)} times")
            if left and not decision.whole and size < decision.claimed:
                raise Failed(f"{name}, which is shorter than it claims, left")
            if left:
                data, suffix = left[0]
                if decision.whole:
                    follows = suffix == frames.padding(len(data))
                else:  # an ICRC is behind it, whatever that is
                    follows = suffix[: -frames.ICRC] == frames.odd_bytes(arrived[decision.claimed :])
                if not follows:
                    raise Failed(f"{name} left with {suffix.hex()} behind its end")
                copies.append(Copy(port, time, data, place))
            else:
                self._missed[number] = cause = self._lost.get(decision.packet, "nothing says why")
                if not self._faults and (decision.whole or not self._lies(size, decision.claimed)):
                    raise Failed(f"{name}, which the NF sent to {self.program.ports[port]}, is lost: {cause}")
        return tuple(copies)

    def _lies(self, size: int, claimed: int) -> bool:
        """Does the switch not write a frame of so many bytes into its cell (rule 1 of the split protocol)?"""
        return size < claimed or size > frames.most_written(self.design.sizes.cell)

    def _emitted(self) -> list[_Own]:
        found = []
        for number, own in enumerate(self._own):
            if own.time > self._end:
                continue
            if any(left != own.data or suffix != frames.padding(len(left)) for left, suffix in own.left):
                raise Failed(f"packet {number + 1} of those that the NF made left changed")
            if len(own.left) > 1 and not self._faults:
                raise Failed(f"packet {number + 1} of those that the NF made left {len(own.left)} times")
            if own.left:
                found.append(own)
            elif not self._faults:
                raise Failed(f"packet {number + 1} of those that the NF made is lost")
        return found

    def _check_all_decided(self) -> None:
        """Without faults, all that the switch accepts comes to the NF, once."""
        if self._faults:
            return
        decided = [decision.packet for decision in self._decisions]
        if len(set(decided)) != len(decided):
            raise Failed("a packet was decided twice")
        for n in sorted(set(range(len(self.trace.arrivals))) - set(decided)):
            if len(self.trace.arrivals[n].data) <= LONGEST:
                raise Failed(f"packet {n + 1} did not come to the NF: {self._lost.get(n, 'nothing says why')}")

    def _check_order(self) -> None:
        """Split packets of one queue pair leave each port as the NF sent them, unless one had to recirculate."""
        if self._faults or self._recirculated:
            return
        last: dict[tuple[int, int], int] = {}
        for number, port in self._order:
            decision = self._decisions[number]
            if decision.whole:
                continue
            place = next(place for to, _, place in decision.sent if to == port)
            key = decision.queue_pair, port
            if place < last.get(key, -1):
                raise Failed(f"packet {number + 1} of those decided left after one that the NF sent later")
            last[key] = place


class _Reader:
    """Packets as the interpreter's parser finds them."""

    def __init__(self, program: ir.Program, config: Mapping[str, Any]) -> None:
        self._machine = Machine(program, Tables(program, config), _Nowhere(), code(program))
        self._passing = self._machine.functions.get("PASSING")

    def order_class(self, arrival: Arrival) -> Any:
        """None if the packet lacks what the NF demands."""
        packet = self._machine.parse(arrival.port, arrival.data)
        if self._passing is not None and tuple(packet.path) not in self._passing:
            return None
        return self._machine.functions["order_class"](packet)


class _Nowhere:
    """Nothing is run here, so nothing leaves."""

    def leave(self, port: int, time: int, data: bytes, order: int) -> None: ...

    def emitted(self, port: int, time: int, data: bytes) -> None: ...


def _known(decision: _Decision, arrived: bytes) -> bytes:
    """The packet as the NF knows it."""
    return arrived if decision.whole else arrived.ljust(decision.claimed, b"\0")


def _ports(verdict: int) -> Iterator[int]:
    """The ports of a tag's verdict, ascending."""
    if not verdict & PORT_SET:
        yield verdict
        return
    yield from (port for port in range(15) if verdict >> port & 1)


def _replaced(fate: Fate, places: Mapping[int, int]) -> Fate:
    copies: Sequence[Copy] = [Copy(c.port, c.time, c.data, places[c.place]) for c in fate.copies]
    return Fate(fate.number, fate.arrival, fate.at, fate.reason, tuple(copies), fate.order_class)
