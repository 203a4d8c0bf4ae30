"""Frames for transitions: what is followed here goes where the soft switch takes it."""

from __future__ import annotations

from collections import Counter

import pytest
from tests.p4.chips import TOFINO
from tests.p4.skeleton import program
from tests.p4.soft import covered

from polysome.p4.frames import Frame, frames, walk
from polysome.p4.load import load
from polysome.p4.points import Points

# Fields across bytes, slices, joined fields, what is ahead, metadata of the port, masks, a case that another one takes
# part of, and a state that two lead to.
PARSER = program(
    types="""
    header odd_h { bit<3> a; bit<13> b; }
    header pair_h { bit<16> c; bit<48> d; }
    struct port_t { bit<8> role; bit<8> number; bit<16> unused; bit<32> unused2; }""",
    inner="odd_h odd; pair_h pair;",
    metadata="port_t port; bit<8> kept;",
    start="""
        md.port = port_metadata_unpack<port_t>(pkt);
        md.kept = 0;
        transition select(md.port.role) { 1: parse_odd; 2: ahead; }""",
    states="""
    state parse_odd {
        pkt.extract(hdr.odd);
        transition select(hdr.odd.a, hdr.odd.b) {
            (5, 0x1001 &&& 0x1003): parse_pair;
            (5, _): accept;
            (_, 7): never;
            default: reject;
        }
    }
    state ahead {
        transition select(pkt.lookahead<bit<12>>()) { 0xabc: skip; 0x0a0 &&& 0x0f0: parse_pair; }
    }
    state skip { pkt.advance(24); transition parse_pair; }
    state parse_pair {
        pkt.extract(hdr.pair);
        md.kept = hdr.pair.d[15:8];
        transition select(hdr.pair.c[11:4] ++ hdr.pair.d[47:40], hdr.pair.d[7:0]) {
            (0x1234, _): kept;
            (_, 0x80 &&& 0x80): accept;
        }
    }
    state kept { transition select(md.kept) { 9: never; default: accept; } }
    state never { transition select(hdr.odd.a) { 5: reject; default: accept; } }""",
).replace("pkt.advance(PORT_METADATA_SIZE);", "")
SEEDS = [Frame(bytes([role]).ljust(8, b"\0"), b"") for role in (0, 1, 2)]


@pytest.mark.slow
def test_each_outcome_has_a_frame_and_the_switch_takes_it_there() -> None:
    loaded = load("test.p4", PARSER, TOFINO)
    points, parser = Points(loaded), loaded.ingress.parser
    found = frames(points, parser, SEEDS)
    kinds = {f.metadata: n for n, f in enumerate(SEEDS)}
    ports = "".join(f"port {n} metadata={int.from_bytes(m, 'big')}\n" for m, n in kinds.items())
    sent = list(found.values())
    lines = "".join(f"in {kinds[f.metadata]} {n} {f.data.hex()}\n" for n, f in enumerate(sent))
    coverage = covered(PARSER, f"{ports}{lines}")
    expected = Counter(step.outcome for frame in sent for step in walk(points, parser, frame))
    of_states = [o for o in points.outcomes if o.point.block == "ingress parser"]
    assert {o.number: coverage.counts[o.number] for o in of_states} == {o.number: expected[o.number] for o in of_states}
    missing = [coverage.titles[o.number] for o in of_states if o.number not in found]
    assert not missing


def test_the_same_seed_gives_the_same_frames() -> None:
    loaded = load("test.p4", PARSER, TOFINO)
    points = Points(loaded)
    first, again = (frames(points, loaded.ingress.parser, SEEDS, 3) for _ in range(2))
    assert first == again and len(first) > 10
