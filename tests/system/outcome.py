"""A run of the whole system, and whether what left is what the interpreter sends for what its NF saw.

Payloads say of which packet they are: bytes of another packet, or of none, are seen wherever they appear.
"""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from types import MappingProxyType

from tests.system.at_work import START, Frame, at_work, designed, links_add_up, run_of
from tests.testing.builtin.networks import captured

from polysome.backends.nf_cpp.library import arrivals
from polysome.backends.system.abi import Happened, Kind, Running
from polysome.engines import ENGINES
from polysome.engines.options import RunOptions
from polysome.engines.record import Record
from polysome.engines.system import System
from polysome.engines.system.run import Counted
from polysome.engines.trace import Arrival, Trace
from polysome.plan.architectures.ribosome.controller import FALLBACK_BURST
from polysome.plan.architectures.ribosome.requests import ICRC, odd_bytes
from polysome.plan.architectures.ribosome.store import queue_pairs
from polysome.plan.design import Design
from polysome.plan.frames import padding
from polysome.testing.spec import Spec
from polysome_controller.program import FALLBACK
from polysome_protocol import FLAGS, TAG

# The tests of this folder have one library for each example: the one that counts what is reached.
SYSTEM = System(counted=lambda *_: None)
GAP = 6_000  # ns; some 500 bytes each fill the site's 1 Gbps ports to two thirds
LINK, IPV4, TCP, UDP = 14, 0x0800, 6, 17


# ---------------------------------------------------------------- traffic


def pattern(number: int, size: int) -> bytes:
    """Bytes that no other packet has: its number in every word, and noise of its own."""
    word = struct.pack(">I", 0xA5000000 | number) + struct.pack(">I", number * 0x9E3779B1 & 0xFFFFFFFF)
    return (word * (size // 8 + 1))[:size]


def ipv4_sum(header: bytes) -> int:
    total = sum(struct.unpack(f">{len(header) // 2}H", header))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def with_payload(frame: bytes, payload: bytes) -> bytes:
    """A TCP or UDP packet over IPv4 with other data, its lengths and IPv4 checksum right; any other as it is.

    The transport checksum stays what it was, as wrong as any: the network function must carry it along.
    """
    if len(frame) < LINK + 20 or int.from_bytes(frame[12:14], "big") != IPV4 or frame[23] not in (TCP, UDP):
        return frame
    transport = LINK + 4 * (frame[LINK] & 15)
    data = transport + (8 if frame[23] == UDP else 4 * (frame[transport + 12] >> 4))
    if int.from_bytes(frame[20:22], "big") & 0x3FFF or len(frame) < data:
        return frame
    head = bytearray(frame[:data])
    struct.pack_into(">H", head, 16, data - LINK + len(payload))
    if frame[23] == UDP:
        struct.pack_into(">H", head, transport + 4, data - transport + len(payload))
    head[24:26] = bytes(2)
    struct.pack_into(">H", head, 24, ipv4_sum(bytes(head[LINK:transport])))
    return bytes(head) + payload


def traffic(spec: Spec, count: int, seed: int, gap: int = GAP, first: int = 0) -> tuple[Frame, ...]:
    """The example's captured packets again and again, each with data of its own, of all sizes, some with a trailer."""
    base, random = captured(spec).arrivals, Random(seed)
    made = []
    time = START
    for n in range(first, first + count):
        arrival = base[n % len(base)]
        data = with_payload(arrival.data, pattern(n, random.choice((0, 6, 60, 200, 470, 471, 473, 1000))))
        data = data.ljust(60, b"\0") + pattern(n, random.choice((0,) * 12 + (1, 2, 3, 9)))
        made.append((arrival.port, time, data))
        time += random.randrange(gap // 2, gap * 3 // 2)
    return tuple(made)


# ---------------------------------------------------------------- a run


@dataclass
class Decision:
    packet: int
    port: int
    time: int
    tag: bytes
    left: list[tuple[int, bytes, bytes]] = field(default_factory=list)  # port, packet, and what follows it

    @property
    def whole(self) -> bool:
        return TAG["flags"].read(self.tag) == FLAGS.whole

    @property
    def seq(self) -> int:
        return TAG["seq"].read(self.tag)

    @property
    def queue_pair(self) -> int:
        return TAG["queue_pair"].read(self.tag)

    @property
    def length(self) -> int:
        return TAG["length"].read(self.tag)


@dataclass
class Outcome:
    spec: Spec
    design: Design
    frames: Sequence[Frame]
    decisions: list[Decision] = field(default_factory=list)
    strangers: list[Happened] = field(default_factory=list)  # that left although the NF decided on no such frame
    own: list[Happened] = field(default_factory=list)
    to_hosts: list[Happened] = field(default_factory=list)
    lost: dict[int, str] = field(default_factory=dict)
    links: dict[str, list[tuple[int, bytes]]] = field(default_factory=dict)  # if captured: time and frame
    counters: dict[str, int] = field(default_factory=dict)
    events: dict[str, int] = field(default_factory=dict)

    def total(self, *ends: str) -> int:
        """The sum of the counters whose names end so."""
        return sum(n for name, n in self.counters.items() if name.endswith(ends))

    def losses(self, *ends: str) -> int:
        """Packets lost by causes whose names end so; all of them if none is given."""
        causes = Counter(self.lost.values())
        return sum(n for name, n in causes.items() if not ends or name.endswith(ends))


def ran(
    name: str,
    frames: Sequence[Frame],
    mix: str = "",
    seed: int = 1,
    *,
    capture: bool = False,
    recirculation_rate: int | None = None,
    fallback_rate: int | None = None,
    registers: Mapping[str, int] = MappingProxyType({}),
    counted: Counted | None = None,
) -> Outcome:
    """Frames through the system of an example, with these faults. Rates are bit/s.

    `registers`: of the switch's program, by name: what their first cells hold at the start. `counted`: is told what the
    run reached of the program.
    """
    spec, design = designed(name)
    run = run_of(spec, design, mix, seed, frames[0][1], capture)
    outcome = Outcome(spec, design, frames)
    with at_work(spec, design, run) as system:
        running = system.running
        if recirculation_rate is not None:
            port = running.switch.port(design.addresses.recirculation_port)
            assert port is not None
            port.rate = recirculation_rate
            running.switch.set_port(port)
        if fallback_rate is not None:
            running.switch.set_meter(FALLBACK, 0, fallback_rate, FALLBACK_BURST)
        for register, value in registers.items():
            running.switch.set_register(register, 0, value)
        for place in range(0, len(frames), 256):
            system.controller.arrive(arrivals(frames[place : place + 256]))
            _note(outcome, running)
        system.controller.finish()
        _note(outcome, running)
        outcome.counters, outcome.events = system.counters, system.events
        if counted is not None:
            counted(design, running.coverage())
    return outcome


def _note(outcome: Outcome, running: Running) -> None:
    for it in running.records():
        match it.kind:
            case Kind.decided:
                assert it.packet is not None
                outcome.decisions.append(Decision(it.packet, it.port, it.time, it.data))
            case Kind.left if it.number is not None:
                outcome.decisions[it.number].left.append((it.port, it.data, it.suffix))
            case Kind.left:
                outcome.strangers.append(it)
            case Kind.own_left:
                outcome.own.append(it)
            case Kind.host:
                outcome.to_hosts.append(it)
            case Kind.lost:
                assert it.packet is not None
                outcome.lost[it.packet] = running.cause(it.port)
            case Kind.frame:
                outcome.links.setdefault(running.link(it.port), []).append((it.time, it.data))


# ---------------------------------------------------------------- judged


def meant(outcome: Outcome) -> Record:
    """What the interpreter sends for what the NF saw."""
    seen = tuple(Arrival(d.port, d.time, outcome.frames[d.packet][2]) for d in outcome.decisions)
    found = ENGINES["interp"].run(outcome.spec.program, Trace(outcome.spec.config or {}, seen, ()), RunOptions())
    assert found.crash is None
    return found


def right(outcome: Outcome) -> int:
    """Asserts that no packet left changed, elsewhere, or twice but for frames that links repeat; how many did leave."""
    assert not outcome.strangers
    icrcs = {data[-ICRC:] for name, sent in outcome.links.items() if name.endswith(" in") for _, data in sent}
    places: Counter[tuple[bool, int, int]] = Counter()  # of a decision on a whole packet, or of a seq, by port
    for number, (decision, fate) in enumerate(zip(outcome.decisions, meant(outcome).fates, strict=True)):
        expected = {copy.port: copy.data for copy in fate.copies}
        for port, data, suffix in decision.left:
            assert port in expected, f"packet {decision.packet} left by a port that it should not"
            assert data == expected[port]
            _follows(suffix, outcome.frames[decision.packet][2], data, decision.whole, icrcs)
            places[decision.whole, number if decision.whole else decision.seq, port] += 1
    whole, parked = (sum(n - 1 for place, n in places.items() if place[0] is kind) for kind in (True, False))
    on_the_way_out = sum(
        n for name, n in outcome.counters.items() if name.endswith("out duplicated") and "traffic" in name
    )
    assert parked <= on_the_way_out and whole <= on_the_way_out + outcome.counters["nf in duplicated"]
    return places.total()


def _follows(suffix: bytes, original: bytes, left: bytes, whole: bool, icrcs: set[bytes]) -> None:
    """Behind the packet's end there is nothing but what was behind it, and the ICRC; behind a whole one, zeros."""
    if whole:
        assert suffix == padding(len(left))
        return
    assert suffix[:-ICRC] == odd_bytes(original[len(left) :])
    assert not icrcs or suffix[-ICRC:] in icrcs


def balanced(outcome: Outcome) -> None:
    """Asserts that each packet has one fate, each loss a cause, and no cause more packets than what happened says."""
    c = outcome.counters
    links_add_up(c)
    assert c["packets in"] == len(outcome.frames)
    assert c["packets in"] == c["packets left"] + c["packets dropped"] + c["packets held"] + c["packets lost"]
    assert c["packets lost"] == len(outcome.lost) == sum(n for name, n in c.items() if name.startswith("lost by "))
    for cause, packets in Counter(outcome.lost.values()).items():
        where, _, what = cause.partition(": ")
        if where == "switch":
            assert packets <= refused(outcome), cause
        elif where == "server":
            assert packets <= MOST_READS * len(queue_pairs(outcome.design.plan)), cause
        else:
            assert packets <= c[f"{where} {COUNTED.get(what, f'dropped: {what}')}"], cause


MOST_READS = 16  # of a queue pair whose answers a server that dies takes with it
COUNTED = {
    **{"lost": "lost", "down": "down", "fcs error": "fcs errors", "refused": "refused"},
    "receive queue full": "receive queue full",
    "corrupted head": "out flipped",  # it is not for the NIC any more
}
NOT_LOSSES = {
    *(
        "parked",
        "whole",
        "cut",
        "fallback",
        "edits",
        "merged",
        "returned",
        "forwarded",
        "ack",
        "swept",
        "resync",
        "silent",
    ),
    *("retry", "write", "read", "fields", "whole_frame", "resynchronised", "out"),
}


TAKEN = 9_018  # bytes of the longest frame that the switch's MACs accept


def refused(outcome: Outcome) -> int:
    """Frames that the switch's program or the switch itself dropped."""
    program = sum(n for name, n in outcome.events.items() if name not in NOT_LOSSES)
    own = ("switch queues full", "switch egress parser errors", "switch ingress parser errors", "switch without a port")
    giants = sum(len(data) > TAKEN for _, _, data in outcome.frames)  # the MAC has no counter for them
    return program + sum(outcome.counters[name] for name in own) + giants


def joined(*flows: Iterable[Frame]) -> tuple[Frame, ...]:
    """Frames of several senders, by time."""
    return tuple(sorted((frame for flow in flows for frame in flow), key=lambda frame: frame[1]))


def at(frames: Sequence[Frame], port: int, data: Sequence[bytes]) -> tuple[Frame, ...]:
    """These frames at a port, spread evenly over the time of others."""
    first, last = frames[0][1], frames[-1][1]
    return tuple((port, first + (last - first) * (n + 1) // (len(data) + 1), frame) for n, frame in enumerate(data))
