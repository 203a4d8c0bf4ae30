"""Packets that come as their fields get what the interpreter does with packets: generated C++ for each example.

Verdicts, edits, times, order and drops; whole frames among them; schedules that hold answers in place of packets;
config changes. In FastClick: tests/backends/test_fastclick_fields.py.
"""

from __future__ import annotations

import random
import struct
import subprocess
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import groupby, islice
from pathlib import Path

import pytest
from tests import tags
from tests.backends.test_fastclick_fields import HEAD, edits, fields
from tests.system.wire import OWN, SPLIT, WHOLE
from tests.testing.builtin.networks import EXAMPLES, captured, example
from tests.testing.traffic.kit import machine, written

from polysome.analysis.framed import framed_classes
from polysome.analysis.layout import Carry, ClassLayout
from polysome.analysis.sharding import sharding
from polysome.backends.nf_cpp.build import BuildError, built, missing
from polysome.backends.nf_cpp.config_blob import encode
from polysome.backends.nf_cpp.generate import generate, namespace
from polysome.engines import ENGINES
from polysome.engines.options import RunOptions
from polysome.engines.record import Copy, Made, Record
from polysome.engines.trace import Arrival, Trace
from polysome.interp.apply import apply
from polysome.interp.packet import Packet
from polysome.ir import program as ir
from polysome.testing import traffic
from polysome.testing.spec import Spec
from polysome_protocol import VERDICTS

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(missing() is not None, reason="needs a C++20 compiler: `apt install clang`"),
]

DRIVER = Path(__file__).resolve().parent / "fields_driver.cpp"
FLAGS = ("-std=c++20", "-O0", "-g0", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
HEADERS = ("nf/generated.hpp", "nf/fields_frames.hpp", "nf/sharded.hpp")
# All their packets travel whole: they are sent on as quotes.
WHOLE_ONLY = {"router6"}
TRACES, FEW, EACH = 8, 8, 12
SEVERAL = VERDICTS.set
SERVER, SWITCH = b"server", b"\x02witch"
PACKET, AS_WHOLE, FRAME, CHANGE = range(4)

Item = tuple[int, int, int, bytes]  # what, time, port, bytes: see the driver


@dataclass
class Answers:
    """What the driver said. `frames`, `decided` (time, tag), `dropped` by packet; `out` in order: number of the packet
    (its cause, if it is an own frame), time, port, frame."""

    frames: dict[int, bytes] = field(default_factory=dict)
    decided: dict[int, tuple[int, bytes]] = field(default_factory=dict)
    dropped: dict[int, str] = field(default_factory=dict)
    out: list[tuple[int | None, int, int, bytes]] = field(default_factory=list)
    counted: tuple[int, ...] = ()  # packets in, sent, copies, emitted, held


@pytest.mark.parametrize("name", sorted(EXAMPLES))
def test_fields_get_what_whole_packets_get(name: str) -> None:
    spec = example(name)
    driver = _driver(spec)
    traces = _traces(spec)
    met = sum((_compared(spec, driver, trace) for trace in traces), Counter[int]())
    assert (name in WHOLE_ONLY) == (met.keys() == {0}), met
    if sharding(spec.program).spreads:
        _compared(spec, driver, traces[0], cores=3)


@pytest.mark.parametrize("name", ["bridge", "nat"])
def test_frames_may_have_all_headers(name: str) -> None:
    spec = example(name)
    driver = _driver(spec, "headers")
    traces = _traces(spec)
    met = sum((_compared(spec, driver, trace, carry="headers") for trace in traces), Counter[int]())
    assert met.keys() > {0}


def _traces(spec: Spec) -> list[Trace]:
    """Its captures, generated traffic that is more than a few packets, and packets at the edge of all ways."""
    generated = islice((t for t in traffic.seeded(spec, 1) if len(t.arrivals) > FEW), TRACES)
    edges = tuple(traffic.boundary_packets(spec))[::EACH]
    return [captured(spec), *generated, traffic.boundary_trace(spec, edges)]


HELD = """use net.l4;
nf held {{
  port a, b, c;
  relevant flow, ipv4.{{ttl, dscp}} else drop "other";
  schedule {{ class flow; {policy} }}
  on packet from a {{ ipv4.dscp = (ipv4.ttl % 4) as bit<6>; send {to}; }}
}}
"""
SERVED = "serve 2Mbps; buffer 8KB; when full drop;"


def _bursts(seed: int) -> tuple[Arrival, ...]:
    """UDP packets of four flows, at up to four times 2 Mbit/s; some have no IP."""
    rng, time, found = random.Random(seed), 10**9, []
    for _ in range(120):
        time += rng.choice((0, 1, 400_000, 2_500_000))
        payload = rng.randbytes(rng.choice((18, 200, 1000)))
        length = 28 + len(payload)
        ip = struct.pack(">BBHHHBBH4s4s", 0x45, 0, length, 1, 0, rng.randrange(9), 17, 0, b"\n\0\0\1", b"\n\0\0\2")
        udp = struct.pack(">HHHH", rng.randrange(4), 53, length - 20, 0)
        kind = b"\x08\x00" if rng.random() < 0.95 else b"\x08\x06"
        found.append(Arrival(0, time, bytes(12) + kind + ip + udp + payload))
    return tuple(found)


@pytest.mark.parametrize(
    ("policy", "to", "reasons"),
    [
        ("police 400Kbps, 1500B; classes 3; idle 10ms; when full drop;", "b", {"policed", "no free class"}),
        ("shape 400Kbps, 1500B; classes 4; idle 1s; buffer 4KB; when full drop;", "b", {"buffer full"}),
        (f"priority ipv4.dscp as u64; {SERVED}", "b", {"buffer full"}),
        (f"drr ipv4.dscp as u64; {SERVED} queue 3KB;", "b", {"queue full", "buffer full"}),
        (f"fifo; {SERVED}", "{b, c}", {"buffer full"}),
    ],
    ids=["police", "shape", "priority", "drr", "copies"],
)
def test_schedules_treat_answers_as_packets(policy: str, to: str, reasons: set[str], tmp_path: Path) -> None:
    spec = written(tmp_path, HELD.format(policy=policy, to=to))
    trace = Trace({}, _bursts(3), ())
    fates = ENGINES["interp"].run(spec.program, trace, RunOptions()).fates
    assert reasons | {"other"} == {f.reason for f in fates if f.reason is not None}
    assert any(copy.time > f.at for f in fates for copy in f.copies) or "police" in policy
    met = _compared(spec, _driver(spec), trace)
    # What is kept can be had back once, so packets of which copies leave one by one are not kept.
    assert len(met) == (1 if to != "b" else 2)


SPEAKER = """use net.l4;
header note { text: u16; }
nf speaker {
  port a, b;
  relevant ipv4.{src, ttl}, ethernet.src else drop "other";
  state { sent: u16; }
  every 2ms { emit ethernet { dst: ff:ff:ff:ff:ff:ff, src: 02:00:00:00:00:01 }, note { text: sent } to b; }
  on packet from a {
    sent += 1;
    if ipv4.ttl < 3 { emit ethernet { dst: ethernet.src, src: 02:00:00:00:00:01 } payload 0x01020304 as u32 to a; }
    send b;
  }
}
"""


def test_packets_that_the_nf_makes_are_own_frames(tmp_path: Path) -> None:
    spec = written(tmp_path, SPEAKER)
    trace = Trace({}, _bursts(5), ())
    causes = {made.cause is None for made in ENGINES["interp"].run(spec.program, trace, RunOptions()).emitted}
    assert causes == {True, False}, "a timer's and a packet's"
    assert _compared(spec, _driver(spec), trace).keys() > {0}


def test_at_most_15_ports(tmp_path: Path) -> None:
    ports = [f"p{n}" for n in range(16)]
    spec = written(
        tmp_path, f"use net.l4; nf wide {{ port {', '.join(ports)}; on packet {{ send ports - in_port; }} }}"
    )
    with pytest.raises(BuildError, match="at most 15 ports"):
        _driver(spec)


def _driver(spec: Spec, carry: Carry = "fields") -> Path:
    name = namespace(spec.program)
    defined = f'#define NF_HEADER "{name}.hpp"\n#define NF_NAME {name}\n'
    header = generate(spec.program, carry=carry)
    return built(name, header, defined + DRIVER.read_text(encoding="utf-8"), FLAGS, runtime=HEADERS)


# ---------------------------------------------------------------- frames against the interpreter


def _compared(spec: Spec, driver: Path, trace: Trace, cores: int = 1, carry: Carry = "fields") -> Counter[int]:
    """How many packets of each class were compared; 0: whole ones. Every third packet travels whole in any case."""
    program = spec.program
    record = ENGINES["interp"].run(spec.program, trace, RunOptions(cores=cores))
    assert record.crash is None
    items = [(CHANGE, c.time, 0, encode(program, c.values)) for c in trace.changes]
    items += [(AS_WHOLE if n % 3 == 2 else PACKET, a.time, a.port, a.data) for n, a in enumerate(trace.arrivals)]
    found = _run(driver, encode(program, trace.config), items, cores)
    met = Counter[int]()
    model = _Model(program, machine(spec, dict(trace.config)).parse, carry)
    for n, arrival in enumerate(trace.arrivals):
        assert found.frames[n] == model.frame(n, arrival, whole=n % 3 == 2), arrival.data.hex()
        met[tags.of(found.frames[n], "parse_class")] += 1
    handled = {p for h in program.packet_handlers for p in h.ports}
    decided = {f.number: (f.at, tags.tag_of(found.frames[f.number])) for f in record.fates if f.arrival.port in handled}
    assert found.decided == decided
    assert found.dropped == {f.number: f.reason for f in record.fates if f.reason is not None}
    copies = [len(f.copies) for f in record.fates]
    held = sum(f.held for f in record.fates)
    assert found.counted == (len(copies), sum(map(bool, copies)), sum(copies), len(record.emitted), held)
    wanted = model.out(record, found.frames)
    # What cores send between two packets has no order.
    assert found.out == wanted if cores == 1 else sorted(map(repr, found.out)) == sorted(map(repr, wanted))
    return met


@dataclass(frozen=True)
class _Model:
    """The frames of a switch, and the answers that the interpreter's decisions are."""

    program: ir.Program
    parse: Callable[[int, bytes], Packet]
    carry: Carry

    def frame(self, number: int, arrival: Arrival, whole: bool) -> bytes:
        p = self.parse(arrival.port, arrival.data)
        c = None if whole else self.class_of(p)
        said = {"seq": number + 1, "length": p.length & 0xFFFF, "port": arrival.port}
        if c is not None:
            return tags.frame(SERVER, SWITCH, SPLIT, fields(c, p), parse_class=c.number or 0, **said)
        return tags.frame(SERVER, SWITCH, WHOLE, **said)[:HEAD] + arrival.data

    def class_of(self, p: Packet) -> ClassLayout | None:
        index = self.program.parser.classes.index(tuple(p.path))
        found = [c for c in framed_classes(self.program, self.carry) if c.classes >> index & 1]
        return found[0] if found and not p.short else None

    def out(self, record: Record, frames: Mapping[int, bytes]) -> list[tuple[int | None, int, int, bytes]]:
        """All that leaves, in its order. A set of ports is one answer if the copies leave together."""
        left: list[tuple[int, int | None, Copy | Made]] = [(m.place, m.cause, m) for m in record.emitted]
        left += [(c.place, f.number, c) for f in record.fates for c in f.copies]
        left.sort(key=lambda one: one[0])
        immediate = record.program.schedule.policy == "fifo" and not record.program.schedule.options
        found: list[tuple[int | None, int, int, bytes]] = []
        for _, group in groupby(left, key=lambda one: (one[1], isinstance(one[2], Copy)) if immediate else one[0]):
            several = list(group)
            _, number, one = several[0]
            if isinstance(one, Made):
                made = [m for _, _, m in several if isinstance(m, Made)]
                found += [(number, m.time, m.port, _own(m)) for m in made]
                continue
            assert number is not None
            ports = [copy.port for _, _, copy in several]
            port = ports[0] if len(ports) == 1 else SEVERAL | sum(1 << p for p in ports)
            found.append((number, one.time, port, self._answer(frames[number], port, record, number, one)))
        return found

    def _answer(self, frame: bytes, port: int, record: Record, number: int, copy: Copy) -> bytes:
        arrival = record.fates[number].arrival
        head = frame[6:12] + frame[:6] + tags.changed(frame, port=port)[12:HEAD]
        if tags.of(frame, "flags") == WHOLE:
            return (tags.changed(head, length=len(copy.data)) + copy.data).ljust(60, b"\0")
        c = self.class_of(self.parse(arrival.port, arrival.data))
        assert c is not None
        content = edits(self.program, c, self.parse(copy.port, copy.data))
        assert self.merged(c, arrival, content) == copy.data
        return (head + content).ljust(60, b"\0")

    def merged(self, c: ClassLayout, arrival: Arrival, content: bytes) -> bytes:
        """What a switch makes of the packet that waited and its edits."""
        p = self.parse(arrival.port, arrival.data)
        for edit in c.edits:
            value = int.from_bytes(content[edit.offset : edit.offset + edit.length], "big")
            p.edits[edit.instance << 16 | edit.field] = value
        return apply(self.program, p)


def _own(made: Made) -> bytes:
    return tags.frame(SWITCH, SERVER, OWN, made.data, length=len(made.data), port=made.port)


def _run(driver: Path, config: bytes, items: list[Item], cores: int = 1) -> Answers:
    parts = [struct.pack(">II", cores, len(config)) + config]
    parts += [struct.pack(">BQHI", what, time, port, len(data)) + data for what, time, port, data in items]
    done = subprocess.run([str(driver)], input=b"".join(parts), capture_output=True, check=False, timeout=100)
    assert done.returncode == 0, done.stderr.decode()[-3000:]
    found = Answers()
    for line in done.stdout.decode().splitlines():
        what, number, said = line.split(" ", 2)
        order = int(number)
        match what:
            case "frame":
                assert found.frames.setdefault(order, bytes.fromhex(said)) == bytes.fromhex(said)
            case "decided":
                assert order not in found.decided
                found.decided[order] = int(said.split()[0]), bytes.fromhex(said.split()[1])
            case "dropped":
                assert order not in found.dropped
                found.dropped[order] = said
            case "counted":
                found.counted = order, *map(int, said.split())
            case _:
                time, port, data = said.split()
                cause = None if what == "emitted" and order < 0 else order
                found.out.append((cause, int(time), int(port), bytes.fromhex(data)))
    return found


# ---------------------------------------------------------------- frames that lie


def _tag(number: int, length: int, port: int = 0) -> bytes:
    said = {"parse_class": number, "seq": 1, "length": length, "port": port}
    return tags.frame(SERVER, SWITCH, SPLIT, **said)[:HEAD]


def test_frames_that_the_layout_does_not_know() -> None:
    spec = example("nat")
    driver = _driver(spec)
    config = encode(spec.program, captured(spec).config)
    unknown = _tag(0xFF, 60) + bytes(34)
    (wanted,) = {c.fields_size for c in framed_classes(spec.program) if c.number == 2}
    short = _tag(2, 60) + bytes(wanted - 1)
    found = _run(driver, config, [(FRAME, 10**9, 0, f) for f in (unknown, short, short + b"\0")])
    assert found.dropped[0] == found.dropped[1] == "malformed frame" and found.dropped.get(2) != "malformed frame"


def test_a_length_that_is_a_lie_is_the_switchs_business(tmp_path: Path) -> None:
    spec = written(tmp_path, HELD.format(policy=f"fifo; {SERVED}", to="b"))
    c = framed_classes(spec.program)[0]
    assert c.number is not None
    claimed = [_tag(c.number, length).ljust(60, b"\0") for length in (1500, 1500, 60)]
    packet = bytes(12) + b"\x08\x00" + struct.pack(">BBHHHBBH8s", 0x45, 0, 1500, 1, 0, 1, 17, 0, bytes(8)) + bytes(40)
    items = [(FRAME, 10**9, 0, frame) for frame in claimed] + [(AS_WHOLE, 10**9 + 12 * 10**6, 0, packet)]
    found = _run(_driver(spec), b"", items)
    assert found.dropped == {3: "short frame"}
    assert [(n, time - 10**9) for n, time, _, _ in found.out] == [(0, 0), (1, 6 * 10**6), (2, 12 * 10**6)]
