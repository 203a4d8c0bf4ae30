"""What the differential tests reach of the switch's program: each run here is judged, and counted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache

from tests.p4.soft import covered
from tests.system import attacks as a
from tests.system.outcome import Frame, at, balanced, designed, joined, ran, right, traffic
from tests.system.test_fault_mixes import HARSH, of_all_ports
from tests.testing.builtin.networks import captured, example

from polysome.backends.system.abi import AT_NF, AT_SERVER, AT_SWITCH
from polysome.backends.system.library import limits, p4_text
from polysome.engines import ENGINES
from polysome.engines.trace import Arrival, Trace
from polysome.p4.coverage import Coverage
from polysome.p4.points import STATE, Outcome
from polysome.plan.architectures.ribosome.store import queue_pairs
from polysome.plan.design import Design
from polysome.testing.builtin.compare import same
from polysome.testing.coverage.emitted import GAP, NO_OPTIONS, START, Emitted, Role, Sent

GENERAL = "load_balancer"  # whose program the runs are of that are about what all programs have
FLOODING = "bridge"  # whose NF sends to several ports
LONG = range(1540, 1544)  # bytes of a frame that is as long as any that is parked claims, of each length modulo 4
CELL = 2048
LAST_SEQ = 0x3FFFFFFE
EVERYBODY = 0xFFFFFFFFFFFF
UNUSED = 200  # a port of the switch where no station is
NEVER_GIVEN = 1 << 20  # a seq that no run comes to
RETRY_READ = 0x40  # what a frame of edits says at the recirculation port once it has its slot
LATER = 8_000_000  # ns; servers that are dead by then are known to be
ROLE = 56  # where the role is in the metadata of a port

Shared = tuple[str, str, str, str, str]


# ---------------------------------------------------------------- of one example


@cache
def of_example(name: str) -> Coverage:
    """Its captures, packets of all sizes, and frames for each transition of its parser, at each of its ports."""
    emitted = Emitted(example(name))
    trace = captured(emitted.spec)
    compared(emitted, trace)
    sent = emitted.transitions(recorded=[arrival.data for arrival in trace.arrivals])
    compared(emitted, at_ports(emitted, trace, sent))
    emitted.send(s for s in sent if s.role is not Role.traffic)
    honest = traffic(emitted.spec, 300, 5)
    outcome = ran(name, joined(honest, *_attacks(honest, emitted.design)), counted=emitted.add)
    right(outcome)
    balanced(outcome)
    return emitted.coverage


def compared(emitted: Emitted, trace: Trace) -> None:
    """The system does with the trace what the interpreter does."""
    found = emitted.run(trace)
    assert found.crash is None, found.crash
    same(ENGINES["interp"].run(emitted.spec.program, found.decided(), NO_OPTIONS), found, "through the system")


def at_ports(emitted: Emitted, trace: Trace, sent: Iterable[Sent]) -> Trace:
    """The frames of users at each port, as they are and long enough for whatever they claim; config as in the trace."""
    frames = [s.data for s in sent if s.role is Role.traffic]
    frames += [frame.ljust(size, b"\0") for frame in frames for size in LONG]
    ports = range(len(emitted.spec.program.ports))
    pairs = [(port, frame) for frame in frames for port in ports]
    return Trace(trace.config, tuple(Arrival(port, START + GAP * n, frame) for n, (port, frame) in enumerate(pairs)))


# ---------------------------------------------------------------- of all


@cache
def in_general() -> frozenset[Shared]:
    """What is reached by whatever goes wrong inside, by attackers, and before the tables are filled."""
    emitted = Emitted(example(GENERAL))
    for frames, mix, more in _troubles():
        outcome = ran(GENERAL, frames, of_all_ports(GENERAL, mix), 3, counted=emitted.add, **more)
        right(outcome)
        balanced(outcome)
    coverages = (emitted.coverage, _before_its_tables(), of_example(GENERAL), of_example(FLOODING))
    return frozenset(shared(c, o) for c in coverages for o in c.points.outcomes if c.counts[o.number])


def shared(coverage: Coverage, outcome: Outcome) -> Shared:
    """Equal for outcomes of points that have the same text in different programs, with all that hangs on it."""
    point = outcome.point
    return point.block, point.kind, point.name, coverage.code(point), outcome.name


def missing(coverage: Coverage) -> list[str]:
    """What neither an example's own runs reach nor, of what is not a state of a parser, the general ones."""
    general = in_general()
    return [
        coverage.titles[o.number]
        for o in coverage.missing
        if o.point.kind == STATE or shared(coverage, o) not in general
    ]


def _troubles() -> Iterator[tuple[tuple[Frame, ...], str, dict[str, object]]]:
    spec, _ = designed(GENERAL)
    honest = traffic(spec, 1000, 7)
    yield honest, "", {"registers": {"Ingress.counter": LAST_SEQ - 100}}
    yield honest, HARSH, {}
    yield honest, "", {"registers": {"Egress.epochs": 1}}
    down = tuple((port, time + LATER, data) for port, time, data in traffic(spec, 1000, 8, gap=300))
    yield joined(honest, down), "servers:dead@500us..", {"fallback_rate": 100_000_000}
    stuck = ",".join(f"stuck@{n}000us..{n}500us" for n in range(1, 6))
    yield traffic(spec, 1500, 6, gap=4_000), f"nf:{stuck}", {"recirculation_rate": 10_000_000}
    forwarded = [a.ethernet(to, a.SERVER_MAC + 1, 0x0806) + bytes(46) for to in (a.SERVER_MAC, EVERYBODY)]
    nowhere = at(honest, AT_SWITCH | UNUSED, forwarded[1:])
    yield joined(honest, at(honest, AT_SERVER | 1, forwarded), nowhere), "", {}


def _attacks(honest: tuple[Frame, ...], design: Design) -> Iterator[tuple[Frame, ...]]:
    """In the switch's name; longer than a cell; answers to nothing; edits for what is not parked, and again."""
    mac = a.SWITCH_MAC.to_bytes(6, "big")
    for data in {len(data) > CELL // 4: data for _, _, data in honest}.values():
        yield at(honest, 0, [mac + data[6:], data[:6] + mac + data[12:], data.ljust(CELL + 100, b"\0")])
    edits = a.tagged(NEVER_GIVEN, 0, design.sizes.least, 0)
    elsewhere = [a.tagged(NEVER_GIVEN, 60, design.sizes.least, 0), a.tagged(NEVER_GIVEN, 0, 512, 300, flags=1)]
    yield at(honest, AT_NF, [edits, edits, *elsewhere])
    yield at(honest, AT_SWITCH | design.addresses.recirculation_port, [bytes([RETRY_READ, 1]) + edits])
    if queue_pairs(design.plan):
        number = a.ours(1, 0, design)
        yield at(honest, AT_SERVER, [a.answer(number, 5), a.response(number, 5, NEVER_GIVEN, bytes(500))])


def _before_its_tables() -> Coverage:
    """A switch that no controller has filled: one packet while no queue pair is up, and one after it was said to be."""
    spec, design = designed(GENERAL)
    split = next(data for _, _, data in traffic(spec, 300, 5) if len(data) > 400)
    frame = split.hex()
    lines = [f"port 0 metadata={Role.nf << ROLE}", f"port 1 metadata={Role.traffic << ROLE}", f"in 1 0 {frame}"]
    lines += ["write Ingress.primaries 0 1", f"in 1 1000 {frame}", "run 100000"]
    return covered(p4_text(design), "\n".join(lines), limits(design.site.switch))
