"""The whole system does what the interpreter does on the trace that its NF saw, and says so where it cannot."""

from __future__ import annotations

import struct
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from tests.testing.builtin.networks import EXAMPLES, captured, example
from tests.testing.test_api import SPEC as COUNTER

from polysome.backends.nf_cpp.config_blob import encode
from polysome.backends.nf_cpp.library import arrivals
from polysome.backends.nf_cpp.sizes import sizes
from polysome.backends.system import abi
from polysome.backends.system.abi import Running
from polysome.backends.system.configure import Run, configure
from polysome.backends.system.library import build
from polysome.engines import ENGINES
from polysome.engines.options import RunOptions, Unsupported
from polysome.engines.record import Record
from polysome.engines.system.control.controller import SimulatedController
from polysome.engines.trace import Arrival, Trace
from polysome.ir.checksum import whole
from polysome.plan.architectures.ribosome import requests
from polysome.plan.design import default_design
from polysome.testing.builtin.compare import same
from polysome.testing.builtin.conservation import Conservation
from polysome.testing.builtin.faults import Faults
from polysome.testing.execution import execute
from polysome.testing.spec import Spec, load
from polysome.testing.wire import wrong_checksums

INTERP, SYSTEM = ENGINES["interp"], ENGINES["system"]
NO_OPTIONS = RunOptions()
HOUR = 3_600_000_000_000

pytestmark = [
    pytest.mark.skipif(SYSTEM.missing() is not None, reason=str(SYSTEM.missing())),
    pytest.mark.slow,
]


def compared(spec: Spec, trace: Trace, options: RunOptions = NO_OPTIONS) -> Record:
    """What the system made of the trace; the interpreter makes the same of what its NF saw."""
    found = SYSTEM.run(spec.program, trace, options)
    assert found.crash is None
    expected = INTERP.run(spec.program, found.decided(), NO_OPTIONS)
    assert expected.crash is None
    same(expected, found, "through the system")
    return found


def moved(trace: Trace, times: list[int]) -> Trace:
    arrivals = [Arrival(a.port, time, a.data) for a, time in zip(trace.arrivals, times, strict=False)]
    return replace(trace, arrivals=tuple(arrivals))


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_do_what_the_interpreter_does(name: str) -> None:
    spec = example(name)
    trace = captured(spec)
    found = compared(spec, trace)
    assert len(found.fates) == len(trace.arrivals)
    assert Conservation().check(found) == len(trace.arrivals)
    assert found.lost == {}
    assert any(fate.sent for fate in found.fates) or name == "acl"


def test_packets_at_one_time_are_all_kept() -> None:
    """They wait for the wires: no queue overflows, and the NF sees them in the order of its link."""
    spec = example("load_balancer")
    trace = captured(spec)
    found = compared(spec, moved(trace, [trace.arrivals[0].time] * len(trace.arrivals)))
    assert len(found.fates) == len(trace.arrivals)
    assert found.fates[-1].at > found.fates[0].at


def test_hours_without_a_packet_take_no_time() -> None:
    spec = example("load_balancer")
    trace = captured(spec)
    start = trace.arrivals[0].time
    found = compared(spec, moved(trace, [start + n * HOUR for n in range(12)]))
    assert len(found.fates) == 12


def test_time_that_runs_back_stands_still() -> None:
    """Also if it does so on another port, whose link has not seen the later time."""
    spec = example("load_balancer")
    trace = captured(spec)
    arrive = [trace.arrivals[0].time + 10**6 * (n - 5 * (n % 3)) for n in range(len(trace.arrivals))]
    assert any(later < before for before, later in pairwise(arrive))
    arrivals = tuple(
        Arrival(n % 2, time, a.data) for n, (time, a) in enumerate(zip(arrive, trace.arrivals, strict=True))
    )
    found = compared(spec, replace(trace, arrivals=arrivals))
    assert all(fate.at >= max(arrive[: fate.number + 1]) for fate in found.fates)


def test_frames_whose_lengths_lie() -> None:
    """Shorter than claimed: the switch does not park it, which costs the packet. A trailer costs nothing."""
    spec = example("load_balancer")
    long = next(a for a in captured(spec).arrivals if len(a.data) > 130)
    start = long.time
    lying = [long.data[:-1], long.data[:-20], long.data, long.data + b"\x55" * 4, long.data + b"\x55" * 400]
    trace = Trace(spec.config or {}, tuple(Arrival(long.port, start + 1000 * n, d) for n, d in enumerate(lying)))
    found = compared(spec, trace)
    assert [fate.sent for fate in found.fates] == [False, False, True, True, True]
    assert set(found.lost) == {0, 1} and all("never written" in cause for cause in found.lost.values())
    sent = [fate.copies[0].data for fate in found.fates if fate.sent]
    assert {len(data) for data in sent} == {len(long.data)}


REFLECTOR = """
use net.ethernet;
use net.ipv4;
use net.icmp;

parser echo {
  state start { extract ethernet; select ethernet.ether_type { EtherType.ipv4 => ip; } }
  state ip {
    extract ipv4;
    select (ipv4.fragment_offset, ipv4.more_fragments, ipv4.protocol) { (0, 0, IpProtocol.icmp) => icmp; }
  }
  state icmp { extract icmp; }
}

nf reflector {
  port a, b;
  relevant icmp.type else drop "no ICMP";
  on packet { if icmp.type == IcmpType.echo_request { icmp.type = IcmpType.echo_reply; } send b; }
}
"""


@pytest.fixture(scope="module")
def reflector(tmp_path_factory: pytest.TempPathFactory) -> Spec:
    path = tmp_path_factory.mktemp("reflector") / "reflector.nf"
    path.write_text(REFLECTOR, encoding="utf-8")
    return load(path)


def echo(size: int, checksum: int | None = None, fill: int = 0) -> bytes:
    """An echo request of so many bytes in all, of zeros but for `fill`, a byte; its checksum is right if not given."""
    ip = bytearray.fromhex("4500000000000000400100000a0000010a000002")
    struct.pack_into(">H", ip, 2, size - 14)
    struct.pack_into(">H", ip, 10, whole(bytes(ip)))
    message = bytearray(b"\x08" + bytes(7) + bytes([fill] * (size - 42)))
    struct.pack_into(">H", message, 2, whole(bytes(message)) if checksum is None else checksum)
    return bytes(12) + b"\x08\x00" + bytes(ip + message)


def reflected(spec: Spec, frames: list[bytes]) -> tuple[Record, set[int]]:
    """The packets through the system, compared with the interpreter; which of them were split."""
    trace = Trace({}, tuple(Arrival(0, 10_000 * n, frame) for n, frame in enumerate(frames)))
    found = compared(spec, trace)
    assert found.lost == {} and len(found.fates) == len(frames) and all(fate.sent for fate in found.fates)
    design = default_design(spec.program)
    run = Run(sizes(spec.program), start=0, seed=0, faults=(), deep=True)
    with (
        Running(abi.load(build(design)), configure(design, run), encode(spec.program, {})) as running,
        SimulatedController(design, running, run) as controller,
    ):
        controller.arrive(arrivals([(a.port, a.time, a.data) for a in trace.arrivals]))
        controller.finish()
        decided = [it for it in running.records() if it.kind == abi.Kind.decided]
        return found, {it.packet for it in decided if it.packet is not None and it.data[0] & 15 == 0}


def test_trailers_of_any_length_leave(reflector: Spec) -> None:
    """Every length modulo 4 with every trailer, also where both fill the cell."""
    sizes = default_design(reflector.program).sizes
    longest, most = requests.most_written(sizes.cell), sizes.most
    sized = [(length, trailer) for length in range(148, 152) for trailer in (*range(9), 46)]
    sized += [(1514, trailer) for trailer in range(9)] + [(most, 0), (most, longest - most)]
    found, split = reflected(
        reflector, [echo(n, fill=n % 256) + bytes(i % 255 + 1 for i in range(t)) for n, t in sized]
    )
    assert split == set(range(len(sized)))
    assert [len(fate.copies[0].data) for fate in found.fates] == [length for length, _ in sized]
    over = (echo(most) + bytes(longest - most + 1), echo(most))
    trace = Trace({}, tuple(Arrival(0, 10_000 * n, frame) for n, frame in enumerate(over)))
    assert list(compared(reflector, trace).lost) == [0], "it is longer than its cell"


def test_an_echo_of_zeros_is_answered_with_a_right_checksum(reflector: Spec) -> None:
    """Parked or whole; one that comes with a checksum of 0 goes whole: an update of nothing would make it ffff."""
    zeros, some = echo(150), echo(150, fill=7)
    reply = bytearray(zeros)
    reply[34], reply[36:38] = 0, b"\0\0"  # what comes as a reply is not changed
    found, split = reflected(reflector, [zeros, echo(1600), some, bytes(reply), echo(150, checksum=0)])
    assert split == {0, 2}
    assert [fate.copies[0].data[36:38].hex() for fate in found.fates[:2]] == ["ffff"] * 2
    assert all(wrong_checksums(fate.copies[0].data) == () for fate in found.fates[:3])
    assert found.fates[3].copies[0].data == bytes(reply)


def cut_short(claimed: int) -> list[bytes]:
    """Packets over IPv4 that claim so many bytes and end anywhere; the last ones are 60 bytes and more."""
    header = bytes.fromhex(f"4500{claimed:04x}00010000401100000a0000010a000002")
    packet = bytes(12) + b"\x08\x00" + header + bytes.fromhex("03e803e900080000") + bytes(26)
    return [packet[:n] for n in range(14, 62)]


def test_what_leaves_has_no_zeros_behind_it(tmp_path: Path) -> None:
    """Frames of the NF have 60 bytes at least: with those zeros a header that was cut off can seem to be there."""
    path = tmp_path / "counter.nf"
    path.write_text(COUNTER, encoding="utf-8")
    spec = load(path)
    cut = [frame for claimed in (0, 20, 28, 46) for frame in cut_short(claimed)]
    trace = Trace({}, tuple(Arrival(0, 1000 * n, frame) for n, frame in enumerate(cut)))
    found = compared(spec, trace)
    assert len(found.fates) == len(cut)
    eighteen = found.fates[next(n for n, frame in enumerate(cut) if len(frame) == 18 and frame[17] == 20)]
    assert eighteen.copies[0].data == eighteen.arrival.data


@pytest.mark.parametrize("kind", ["loss", "duplication", "reordering"])
def test_faults_lose_packets_and_corrupt_none(kind: str) -> None:
    spec = example("load_balancer")
    trace = captured(spec)
    again = replace(trace, arrivals=trace.arrivals * 4)
    found = SYSTEM.run(spec.program, again, RunOptions(faults=frozenset({kind}), seed=3))
    assert found.crash is None
    if kind == "loss":
        assert len(found.fates) < len(again.arrivals) or found.lost
    judgement = Faults().judge(execute(spec, again, SYSTEM))
    assert judgement.failure is None and judgement.skipped is None and judgement.cases > 0


def test_the_seed_repeats_a_run() -> None:
    spec = example("load_balancer")
    options = RunOptions(faults=frozenset({"loss"}), seed=5)
    first, second = (SYSTEM.run(spec.program, captured(spec), options) for _ in range(2))
    assert first.fates == second.fates and first.lost == second.lost


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (RunOptions(scramble=True), "only the engine `interp` has scrambled bytes, not `system`"),
        (RunOptions(split=False), "the engines `interp` and `native` have packets that are not split"),
        (RunOptions(cores=2), "several cores, not `system`"),
        (RunOptions(batch=4), "batches of a given size"),
        (RunOptions(steps=3), "time that passes in steps"),
    ],
)
def test_what_it_cannot_do_is_said(options: RunOptions, said: str) -> None:
    spec = example("load_balancer")
    with pytest.raises(Unsupported, match=said):
        SYSTEM.run(spec.program, captured(spec), options)


@pytest.mark.parametrize("options", [RunOptions(split=True), RunOptions(capacity=1), RunOptions(collisions=True)])
def test_options_that_it_has(options: RunOptions) -> None:
    spec = example("load_balancer")
    found = SYSTEM.run(spec.program, captured(spec), options)
    assert found.crash is None
    expected = INTERP.run(spec.program, found.decided(), replace(options, split=None))
    same(expected, found, "through the system")
