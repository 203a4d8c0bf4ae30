"""A run of the whole system as `decide` saw it.

There is a decision for each frame that the NF decided on, at its time there. Copies have the time at which the NF sent
them, and are told in the NF's order; that they left the switch, and in the order that the split protocol promises, is
checked here, as is what follows a packet's end on the wire.

A parked frame that is shorter than it claims is told as long as it claims, with zeros at its end: neither the NF nor
its schedule can know better, and the switch loses it afterwards.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from polysome.backends.nf_cpp.library import Failed
from polysome.backends.system.abi import Happened, Kind, Library, Running
from polysome.backends.system.configure import Run as System
from polysome.config.tables import Tables
from polysome.engines.events import Decided, Dropped, Emitted, Event, Left, Lost
from polysome.engines.system.run import Counted, SystemRun
from polysome.engines.trace import Arrival
from polysome.interp.code import code_of
from polysome.interp.machine import Machine, Nowhere
from polysome.ir import program as ir
from polysome.plan import frames
from polysome.plan.architectures.ribosome import requests
from polysome.plan.design import Design
from polysome_protocol import CONTENT, FLAGS, TAG, VERDICTS

LONGEST = 10_000 - CONTENT  # bytes of a frame that the switch's MACs accept with Ethernet and tag around it


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
        return TAG["flags"].read(self.tag) != FLAGS.split

    @property
    def claimed(self) -> int:
        """Bytes that a parked packet should have."""
        return TAG["length"].read(self.tag)

    @property
    def queue_pair(self) -> int:
        return TAG["queue_pair"].read(self.tag)


@dataclass
class _Own:
    """A packet that the NF made."""

    port: int
    time: int
    data: bytes
    place: int
    cause: int | None
    left: list[tuple[bytes, bytes]] = field(default_factory=list)  # with what follows


class ObservedRun(SystemRun):
    """Everything is told at the end, or when the system fails."""

    def __init__(
        self,
        made: Design,
        library: Library,
        config: Mapping[str, Any],
        system: System,
        counted: Counted | None,
    ) -> None:
        super().__init__(made, library, config, system, counted)
        self._faults = bool(system.faults)
        self._arrived: list[bytes] = []
        self._decisions: list[_Decision] = []
        self._own: list[_Own] = []
        self._lost: dict[int, str] = {}  # by packet as it arrived
        self._leaving: list[tuple[int, int]] = []  # decision and port of what left, as it left
        self._places = count()
        self._reader = _Reader(made.program, config)

    def arrive(self, packets: Sequence[Arrival]) -> Iterator[Event]:
        self._arrived += [packet.data for packet in packets]
        return super().arrive(packets)

    def finish(self) -> Iterator[Event]:
        yield from super().finish()
        yield from self._checked()

    def _told(self, ask: Callable[[], None]) -> Iterator[Event]:
        try:
            yield from super()._told(ask)
        except Failed:
            with suppress(Failed):
                yield from self._checked()
            raise

    def _events(self, running: Running, it: Happened) -> Iterator[Event]:
        self._note(running, it)
        return iter(())

    def _note(self, running: Running, it: Happened) -> None:
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
                self._leaving.append((number, it.port))
            case Kind.own_left, int(number), _:
                self._own[number].left.append((it.data, it.suffix))
            case Kind.lost, _, int(packet):
                self._lost[packet] = running.cause(it.port)
            case ((Kind.held | Kind.end), _, _):
                pass
            case _:
                raise Failed(f"a record of kind {it.kind} is about no packet that came or that the NF made")

    # ------------------------------------------------------------ what is told

    def _checked(self) -> list[Event]:
        """What happened up to the last decision: there the trace ends. Raises Failed if something is wrong with it."""
        end = self._decisions[-1].time if self._decisions else 0
        events: list[Event] = []
        leaving: list[tuple[int, Event]] = []  # with places
        for number, decision in enumerate(self._decisions):
            arrival = Arrival(decision.port, decision.time, _known(decision, self._arrived[decision.packet]))
            events.append(Decided(number, decision.time, self._reader.order_class(arrival), arrival))
            if decision.reason is not None:
                events.append(Dropped(number, decision.reason))
            for place, copy in self._copies(number, decision, arrival.data, end):
                if isinstance(copy, Lost):
                    events.append(copy)
                else:
                    leaving.append((place, copy))
        leaving += self._emitted(end)
        self._check_all_decided()
        self._check_order()
        return events + [event for _, event in sorted(leaving, key=lambda pair: pair[0])]

    def _copies(self, number: int, decision: _Decision, arrived: bytes, end: int) -> Iterator[tuple[int, Left | Lost]]:
        """What left of what the NF sent up to the end of the trace, and what got lost, with places."""
        name = f"packet {number + 1} of those decided"
        ports = self.design.program.ports
        if extra := decision.left.keys() - {port for port, _, _ in decision.sent}:
            raise Failed(f"{name} left by port {ports[min(extra)]}, to which the NF did not send it")
        size = len(self._arrived[decision.packet])
        for port, time, place in decision.sent:
            left = decision.left.get(port, [])
            if time > end:
                continue
            if len(left) > 1 and not (decision.whole and self._faults):  # a link repeats frames like any other
                raise Failed(f"{name} left by port {ports[port]} {len(left)} times")
            if left and not decision.whole and size < decision.claimed:
                raise Failed(f"{name}, which is shorter than it claims, left")
            if left:
                data, suffix = left[0]
                if decision.whole:
                    follows = suffix == frames.padding(len(data))
                else:  # an ICRC is behind it, whatever that is
                    follows = suffix[: -requests.ICRC] == requests.odd_bytes(arrived[decision.claimed :])
                if not follows:
                    raise Failed(f"{name} left with {suffix.hex()} behind its end")
                yield place, Left(number, port, time, data)
            else:
                cause = self._lost.get(decision.packet, "nothing says why")
                yield place, Lost(number, cause)
                if not self._faults and (decision.whole or not self._lies(size, decision.claimed)):
                    raise Failed(f"{name}, which the NF sent to {ports[port]}, is lost: {cause}")

    def _lies(self, size: int, claimed: int) -> bool:
        """Does the switch not write a frame of so many bytes into its cell (rule 1 of the split protocol)?"""
        return size < claimed or size > requests.most_written(self.design.sizes.cell)

    def _emitted(self, end: int) -> Iterator[tuple[int, Emitted]]:
        for number, own in enumerate(self._own):
            if own.time > end:
                continue
            if any(left != own.data or suffix != frames.padding(len(left)) for left, suffix in own.left):
                raise Failed(f"packet {number + 1} of those that the NF made left changed")
            if len(own.left) > 1 and not self._faults:
                raise Failed(f"packet {number + 1} of those that the NF made left {len(own.left)} times")
            if own.left:
                yield own.place, Emitted(own.port, own.time, own.data, own.cause)
            elif not self._faults:
                raise Failed(f"packet {number + 1} of those that the NF made is lost")

    def _check_all_decided(self) -> None:
        """Without faults, all that the switch accepts comes to the NF, once."""
        if self._faults:
            return
        decided = [decision.packet for decision in self._decisions]
        if len(set(decided)) != len(decided):
            raise Failed("a packet was decided twice")
        for n in sorted(set(range(len(self._arrived))) - set(decided)):
            if len(self._arrived[n]) <= LONGEST:
                raise Failed(f"packet {n + 1} did not come to the NF: {self._lost.get(n, 'nothing says why')}")

    def _check_order(self) -> None:
        """Split packets of one queue pair leave each port as the NF sent them, unless one had to recirculate."""
        if self._faults or (self.report is not None and self.report.events.get("retry", 0)):
            return
        last: dict[tuple[int, int], int] = {}
        for number, port in self._leaving:
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
        self._machine = Machine(program, Tables(program, config), Nowhere(), code_of(program))
        self._passing = self._machine.functions.get("PASSING")

    def order_class(self, arrival: Arrival) -> Any:
        """None if the packet lacks what the NF demands."""
        packet = self._machine.parse(arrival.port, arrival.data)
        if self._passing is not None and tuple(packet.path) not in self._passing:
            return None
        return self._machine.functions["order_class"](packet)


def _known(decision: _Decision, arrived: bytes) -> bytes:
    """The packet as the NF knows it."""
    return arrived if decision.whole else arrived.ljust(decision.claimed, b"\0")


def _ports(verdict: int) -> Iterator[int]:
    """The ports of a tag's verdict, ascending."""
    if not verdict & VERDICTS.set:
        yield verdict
        return
    yield from (port for port in range(VERDICTS.ports) if verdict >> port & 1)
