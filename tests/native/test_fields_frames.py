"""Packets that come as their fields get the interpreter's verdicts and edits: generated C++ for each example.

In FastClick: tests/backends/test_fastclick_fields.py.
"""

from __future__ import annotations

import struct
import subprocess
from collections import Counter
from collections.abc import Callable
from itertools import islice
from pathlib import Path

import pytest
from tests.backends.test_fastclick_fields import HEAD, class_of, edits, fields
from tests.testing.builtin.networks import EXAMPLES, captured, example
from tests.testing.traffic.kit import machine

from polysome.analysis.layout import ClassLayout, layout
from polysome.backends.nf_cpp.build import built, missing
from polysome.backends.nf_cpp.config_blob import encode
from polysome.backends.nf_cpp.generate import generate, namespace
from polysome.interp.packet import Packet
from polysome.ir import program as ir
from polysome.testing import traffic
from polysome.testing.engines import ENGINES
from polysome.testing.options import RunOptions
from polysome.testing.record import Fate
from polysome.testing.spec import Spec
from polysome.testing.trace import Trace

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(missing() is not None, reason="needs a C++20 compiler: `apt install clang`"),
]

DRIVER = Path(__file__).resolve().parent / "fields_driver.cpp"
FLAGS = ("-std=c++20", "-O0", "-g0", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
HELD_BACK = {"reframer", "shaper"}  # their schedules hold packets, which then travel whole
# All their packets travel whole: they read payloads of any length, or send packets on as quotes.
WHOLE_ONLY = {"router6", "slim_dpi", "vxlan_gateway"}
TRACES = 4
FLAGS_AT, WHOLE, SEVERAL = 14, 1, 0x8000


@pytest.mark.parametrize("name", sorted(set(EXAMPLES) - HELD_BACK))
def test_fields_get_the_verdicts_and_edits_of_whole_packets(name: str) -> None:
    spec, driver = example(name), _driver(name)
    met = Counter[int]()
    for trace in [captured(spec), *islice(traffic.seeded(spec, 1), TRACES)]:
        met += _compared(spec, driver, Trace(trace.config, trace.arrivals, ()))
    assert (name in WHOLE_ONLY) == (met.keys() == {0}), met


def _driver(name: str) -> Path:
    program = example(name).program
    defined = f'#define NF_HEADER "{name}.hpp"\n#define NF_NAME {namespace(program)}\n'
    return built(name, generate(program), defined + DRIVER.read_text(encoding="utf-8"), FLAGS)


def _compared(spec: Spec, driver: Path, trace: Trace) -> Counter[int]:
    """How many packets of each class were compared; 0: whole ones."""
    program, parse = spec.program, machine(spec, dict(trace.config)).parse
    fates = ENGINES["interp"].run(spec, trace, RunOptions()).fates
    handled = {p for h in program.packet_handlers for p in h.ports}
    found = _run(driver, encode(program, trace.config), [(a.time, a.port, a.data) for a in trace.arrivals])
    met = Counter[int]()
    for arrival, fate, (frame, answer) in zip(trace.arrivals, fates, found, strict=True):
        p = parse(arrival.port, arrival.data)
        c = class_of(program, p)
        if frame[FLAGS_AT] & WHOLE:
            known = c is not None and not c.operations and spec.program.name not in WHOLE_ONLY
            assert not known or arrival.port not in handled, arrival.data.hex()
            c, content = None, arrival.data
        else:
            assert c is not None and frame[FLAGS_AT + 1] == c.number
            content = fields(c, p)
        assert frame[HEAD:] == content + bytes(len(frame) - HEAD - len(content)), arrival.data.hex()
        assert answer == _answer(program, parse, c, fate, frame), arrival.data.hex()
        met[frame[FLAGS_AT + 1]] += 1
    return met


def _answer(
    program: ir.Program, parse: Callable[[int, bytes], Packet], c: ClassLayout | None, fate: Fate, frame: bytes
) -> bytes | str:
    """What the interpreter's decision is as a frame, or the reason of a drop."""
    if fate.reason is not None:
        return fate.reason
    ports, data = [copy.port for copy in fate.copies], fate.copies[0].data
    port = ports[0] if len(ports) == 1 else SEVERAL | fate.arrival.port
    content = data if c is None else edits(program, c, parse(ports[0], data))
    head = frame[6:12] + frame[:6] + frame[12 : HEAD - 2] + struct.pack(">H", port)
    return (head + content).ljust(60, b"\0")


def _run(driver: Path, config: bytes, packets: list[tuple[int, int, bytes]]) -> list[tuple[bytes, bytes | str]]:
    """The frames made of packets (time, port, bytes), and their answers or why there is none."""
    parts = [struct.pack(">I", len(config)) + config]
    parts += [struct.pack(">QHI", time, port, len(data)) + data for time, port, data in packets]
    done = subprocess.run([str(driver)], input=b"".join(parts), capture_output=True, check=False, timeout=100)
    assert done.returncode == 0, done.stderr.decode()[-3000:]
    frames: dict[int, bytes] = {}
    answers: dict[int, bytes | str] = {}
    for line in done.stdout.decode().splitlines():
        what, order, said = line.split(" ", 2)
        into = frames if what == "frame" else answers
        assert int(order) not in into
        into[int(order)] = said if what == "dropped" else bytes.fromhex(said)
    assert frames.keys() == answers.keys()
    return [(frames[n], answers[n]) for n in range(len(packets))]


def test_frames_that_the_layout_does_not_know() -> None:
    spec = example("nat")
    driver = _driver("nat")
    config = encode(spec.program, captured(spec).config)
    head = b"switchserver" + b"\x88\xb5"
    tag = struct.pack(">IHHH", 0, 0, 60, 0)
    unknown = head + b"\x10\xff" + tag + bytes(34)
    (wanted,) = {c.fields_size for c in layout(spec.program).classes if c.number == 2}
    short = head + b"\x10\x02" + tag + bytes(wanted - 1)
    enough = short + b"\0"
    answers = [answer for _, answer in _run(driver, config, [(10**9, 0xFFFF, f) for f in (unknown, short, enough)])]
    assert answers[:2] == ["malformed frame"] * 2 and answers[2] != "malformed frame"
