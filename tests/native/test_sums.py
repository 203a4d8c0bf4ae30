"""Checksums of TCP or UDP, whichever is there, at every edge: generated C++ and interpreter."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest
from tests.native.test_native_engine import compared
from tests.semantics.rules.packets import ethernet, ipv4, tcp, udp
from tests.testing.traffic.kit import written

from polysome.backends.nf_cpp.build import missing
from polysome.backends.nf_cpp.generate import generate
from polysome.engines.trace import Arrival, Trace

SPEC = """
use net.l4;
nf sums {{
  port left, right;
  on packet {{
    require ipv4 and l4 else drop "other";
    {edits}
    send right;
  }}
}}
"""
AT = {"tcp": 50, "udp": 40}  # where the checksum is
PLAIN = {"tcp": ethernet(ipv4(tcp(b"abc"))), "udp": ethernet(ipv4(udp(b"abc")))}


def with_sum(kind: str, value: int) -> bytes:
    at = AT[kind]
    return PLAIN[kind][:at] + struct.pack("!H", value) + PLAIN[kind][at + 2 :]


def frames(kind: str, edited: int) -> list[bytes]:
    """With all checksums about those that mean something before the edit (0, ffff) or after it; `edited` is what
    becomes of 1."""
    edges = [0, 0xFFFF, (1 - edited) % 0xFFFF, (1 - edited - 0xFFFF) % 0xFFFF]
    return [with_sum(kind, (edge + near) % 0x10000) for edge in edges for near in range(-3, 4)]


@pytest.mark.skipif(missing() is not None, reason="needs a C++20 compiler: `apt install clang`")
@pytest.mark.parametrize(
    "edits",
    [
        "ipv4.dst = 10.0.0.9;",
        "ipv4.dst = 10.0.0.2;",  # what it was
        "l4.sport = 77;",
        "ipv4.src = 255.255.255.255; l4.dport = 53;",
        "if tcp { l4.sport = 5; }",  # only then, so they differ
    ],
)
def test_a_sum_is_updated_as_the_interpreter_does(edits: str, tmp_path: Path) -> None:
    spec = written(tmp_path, SPEC.format(edits=edits))
    assert ("update_either(" in generate(spec.program)) == ("if tcp" not in edits)
    first = compared(spec, trace([with_sum(kind, 1) for kind in AT]))
    ones = {kind: fate.copies[0].data[AT[kind] :][:2] for kind, fate in zip(AT, first.fates, strict=True)}
    all_frames = [frame for kind, one in ones.items() for frame in frames(kind, int.from_bytes(one, "big"))]
    record = compared(spec, trace(all_frames))
    left = {kind: set[int]() for kind in AT}
    for frame, fate in zip(all_frames, record.fates, strict=True):
        kind = "tcp" if frame[23] == 6 else "udp"
        left[kind].add(int.from_bytes(fate.copies[0].data[AT[kind] :][:2], "big"))
    assert {0, 0xFFFF} & left["tcp"] and {0, 0xFFFF} & left["udp"]


def trace(all_frames: list[bytes]) -> Trace:
    return Trace({}, tuple(Arrival(0, 1000 * n, frame) for n, frame in enumerate(all_frames)))
