"""Packets of a common shape are edited as all others are: generated C++ and interpreter, over random specs and packets.

Which shapes are chosen is tests/backends/test_common_shapes.py.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path

import pytest
from tests.native.test_native_engine import compared
from tests.native.writing_specs import OddFrames, RealFrames, Wanted, odd_headers, writing_spec
from tests.testing.builtin.networks import WRITING
from tests.testing.builtin.networks import spec as network
from tests.testing.traffic.kit import machine, written

from polysome.backends.nf_cpp.build import build, missing
from polysome.backends.nf_cpp.generate import generate
from polysome.backends.nf_cpp.shapes import Shape, common_shapes
from polysome.engines.native import run as native
from polysome.engines.options import RunOptions
from polysome.engines.trace import Arrival, Change, Trace
from polysome.interp.packet import Packet
from polysome.ir import program as ir
from polysome.ir.walk import written_fields
from polysome.testing.spec import Spec
from polysome.testing.traffic.build import lone_frame

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(missing() is not None, reason="needs a C++20 compiler: `apt install clang`"),
]

PLAIN = "nf writing {\n  port a, b;\n  on packet { send b; }\n}\n"
PACKETS = 1500
QUICK = ("-std=c++20", "-O1", "-g0", "-fPIC", "-shared", "-fvisibility=hidden")
# Two headers behind UDP, each with a checksum of its own over the other one.
INSIDE = WRITING.partition("nf writing")[0]
OUTER = ("outer.ethernet", "outer.ipv4", "outer.udp", "vxlan")
INNER = ("inner.ethernet", "inner.ipv4", "inner.udp", "inner.tcp")

CASES: dict[str, tuple[str, Wanted, bool]] = {
    **{f"odd {seed}": (odd_headers(seed), Wanted(demands=("h0",) if seed % 2 else ()), True) for seed in range(4)},
    "l4": ("use net.l4;\n", Wanted(groups=("l4",)), False),
    "TCP": ("use net.l4;\n", Wanted(among=("ethernet", "ipv4", "tcp"), demands=("ipv4", "tcp")), False),
    "ipv6": ("use net.l4;\n", Wanted(among=("ipv6",), demands=("ethernet", "ipv6"), groups=("l4",)), False),
    "arp": ("use net.l4;\n", Wanted(among=("ethernet", "arp"), demands=("ethernet", "arp")), False),
    "behind UDP": (INSIDE, Wanted(writes=30, among=("ipv4", "udp", "wrap", "inside")), False),
    "GRE": ("use net.tunnel;\n", Wanted(among=("outer.ipv4", "gre", *INNER), demands=("gre", "inner.ipv4")), False),
    "VXLAN": ("use net.tunnel;\n", Wanted(writes=40, among=(*OUTER, *INNER), demands=("vxlan", "inner.ipv4")), False),
}


def shapes(program: ir.Program) -> list[Shape]:
    return common_shapes(program, written_fields([h.body for h in program.packet_handlers]))


def shape_of(program: ir.Program, found: list[Shape], p: Packet) -> str:
    """The name of a packet's common shape and its last header; empty if it has none."""
    fixed = all(p.header_end[i] - p.offset[i] == program.parser.instances[i].header.fixed for i in p.path[:-1])
    for shape in found:
        for last in shape.last:
            if fixed and tuple(p.path) == (*shape.path, last):
                return f"{shape.name} {program.parser.instances[last].name}"
    return ""


@pytest.mark.parametrize("name", CASES)
def test_what_is_written_is_as_the_interpreter_writes_it(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(native, "build", partial(build, flags=QUICK))
    declarations, wanted, odd = CASES[name]
    plain = written(tmp_path, f"{declarations}\n{PLAIN}")
    rng = random.Random(name)
    spec = written(tmp_path, writing_spec(declarations, plain.program, wanted, rng.getrandbits(32)))
    program, found = spec.program, shapes(spec.program)
    text = "".join(generate(program).split())  # wherever its lines are broken
    assert found and all(f"struct{s.name}{{" in text and f"edit([[maybe_unused]]const{s.name}&f" in text for s in found)

    parse = partial(machine(spec, {}).parse, 0)
    paths = [(*s.path, i) for s in found for i in s.last]
    frames = (
        OddFrames(program, parse, rng, paths) if odd else RealFrames(program, parse, rng, real_frames(spec, rng, parse))
    )
    data = list(islice(frames, PACKETS))
    met = Counter(shape_of(program, found, parse(one)) for one in data)
    written_there = {i for i, _ in written_fields([h.body for h in program.packet_handlers])}
    ways = {f"{s.name} {program.parser.instances[i].name}": {*s.path, i} & written_there for s in found for i in s.last}
    assert ways.keys() <= {way for way, times in met.items() if times > 5}, met
    assert met[""] > PACKETS / 20

    trace = Trace({}, tuple(Arrival(0, 10**9 + 1000 * n, one) for n, one in enumerate(data)))
    record = compared(spec, trace)
    changed = Counter(
        shape_of(program, found, parse(one))
        for one, fate in zip(data, record.fates, strict=True)
        if fate.copies and fate.copies[0].data != one[: len(fate.copies[0].data)]
    )
    assert {way for way, there in ways.items() if there} <= changed.keys() and changed[""] > 0, changed
    compared(spec, replace(trace, arrivals=trace.arrivals[:200]), RunOptions(batch=1))


def test_fields_that_are_read_and_looked_up_by_after_they_were_written() -> None:
    spec, rng = network(WRITING), random.Random(1)
    parse = partial(machine(spec, {"limit": 7}).parse, 0)
    frames = islice(RealFrames(spec.program, parse, rng, real_frames(spec, rng, parse)), PACKETS)
    arrivals = [Arrival(0, 10**9 + 7_000 * n, frame) for n, frame in enumerate(frames)]
    change = Change(arrivals[PACKETS // 2].time, {"limit": 9})
    for options in (RunOptions(), RunOptions(batch=1)):
        compared(spec, Trace({"limit": 7}, tuple(arrivals), (change,)), options)


def real_frames(spec: Spec, rng: random.Random, parse: Callable[[bytes], Packet]) -> list[bytes]:
    """Frames for the spec: about as many of each common shape as of all others."""
    found, by_shape = shapes(spec.program), defaultdict[str, list[bytes]](list)
    for _ in range(1500):
        frame = lone_frame(spec, rng.randbytes(64), rng.randbytes(400))
        by_shape[shape_of(spec.program, found, parse(frame))].append(frame)
    return [frame for frames in by_shape.values() for frame in frames[:60]]
