"""The symbolic semantics of P4 are those of the soft switch, on random frames of a fixed seed."""

from __future__ import annotations

import random

import pytest
from tests.p4.chips import TOFINO, TOFINO2
from tests.p4.skeleton import program
from tests.p4.soft import run
from tests.prove.p4.concrete import Pipe

from polysome.p4 import program as pr
from polysome.p4.limits import ChipLimits
from polysome.p4.load import load

pytestmark = pytest.mark.slow

BYTE, PAIR, WORD = 0xFF, 0xFFFF, 0xFFFFFFFF

TYPES = """
header bridge_h { bit<8> kind; bit<8> tag; bit<16> seen; bit<16> sum; bit<16> error; }
header first_h { bit<3> a; bit<13> b; bit<8> c; bit<8> d; bit<32> e; }
header second_h { bit<16> x; bit<16> y; bit<8> z; }
header third_h { bit<24> v; }
struct ports_t { bit<8> role; bit<24> rest; bit<32> more; }
struct pair_t { bit<32> count; bit<32> last; }
"""
CONSTRUCTS = {
    "types": TYPES,
    "headers": "bridge_h bridge;",
    "inner": "first_h first; second_h second; third_h third;",
    "metadata": """
        ports_t port; bit<8> way; bit<16> residual; bit<16> sum; MirrorId_t session; bit<32> old; bit<8> kind;
        bit<16> wide; bit<1> flag; bit<8> low; bit<8> copied;""",
    "units": "Checksum() some;",
    "start": """
        md.way = 0; md.residual = 0; md.session = 0; md.old = 0; md.kind = 9; md.wide = 0; md.flag = 0; md.low = 0;
        md.sum = 0; md.copied = 0;
        transition select(pkt.lookahead<bit<12>>()) { 0xf00 &&& 0xf00: skip; default: parse_ethernet; }""",
    "states": """
    state skip { pkt.advance(16); transition parse_ethernet; }
    state parse_ethernet {
        pkt.extract(hdr.ethernet);
        some.subtract({hdr.ethernet.src});
        transition select(hdr.ethernet.ether_type, hdr.ethernet.dst[7:0]) {
            (0x0800, 0x00 &&& 0x80): parse_first;
            (0x0800 &&& 0xfff0, _): parse_second;
            (0x0900, _): reject;
            (0x0a00 &&& 0xff00, 1): accept;
            (0x0b00 &&& 0xff00, _): parse_third;
        }
    }
    state parse_first {
        pkt.extract(hdr.first);
        some.subtract({hdr.first.c, hdr.first.d, hdr.first.e});
        md.residual = some.get();
        transition select(hdr.first.d) { 0x10 &&& 0xf0: parse_second; 7: parse_third; default: only_first; }
    }
    state only_first { md.way = 1; transition accept; }
    state parse_second {
        pkt.extract(hdr.second);
        some.subtract({hdr.second.x, hdr.second.y});
        md.way = hdr.second.z;
        transition accept;
    }
    state parse_third {
        some.subtract_all_and_deposit(md.residual);
        pkt.extract(hdr.third);
        md.way = 3;
        transition accept;
    }""",
    "locals": """
    Register<pair_t, bit<4>>(16) seen;
    RegisterAction<pair_t, bit<4>, bit<32>>(seen) see = {
        void apply(inout pair_t value, out bit<32> old) {
            old = value.count;
            if (value.last + 1 > hdr.first.e || hdr.first.e == 5) {
                value.count = value.count + 1;
            } else {
                value.last = hdr.first.e;
            }
        }
    };
    Register<bit<8>, bit<1>>(1) turns;
    RegisterAction<bit<8>, bit<1>, bit<8>>(turns) turn = {
        void apply(inout bit<8> value, out bit<8> now) { value = value + 1; now = value; }
    };
    action set_kind(bit<8> kind) { md.kind = kind; }
    action mark() { md.flag = 1; }
    table ways {
        key = { md.way: exact; md.flag: exact; }
        actions = { set_kind; mark; NoAction; }
        const entries = { (1, 0): set_kind(11); (3, 0): mark(); (2, 0): set_kind(12); }
        const default_action = NoAction();
    }
    table masks {
        key = { hdr.ethernet.src: ternary; }
        actions = { set_kind; NoAction; }
        const entries = { (0x1 &&& 0x3): set_kind(21); (0x0 &&& 0x1): set_kind(22); (0x3 &&& 0x7): set_kind(23); }
        const default_action = NoAction();
    }
    table prefixes {
        key = { hdr.first.e: lpm; }
        actions = { set_kind; NoAction; }
        const default_action = NoAction();
    }
    action send(PortId_t port) { tm.ucast_egress_port = port; }
    action copy(PortId_t port, MirrorId_t session) {
        tm.ucast_egress_port = port;
        dprsr.mirror_type = 1;
        md.session = session;
    }
    action lose() { dprsr.drop_ctl = 1; }
    table outs {
        key = { hdr.ethernet.dst[47:45]: exact; }
        actions = { send; copy; lose; }
        const default_action = send(2);
    }""",
    "apply": """
        md.sum = (bit<16>)hdr.ethernet.src[7:0];
        md.copied = 0x77;
        if (md.port.role == 1 || md.port.rest == 0) {
            switch (ways.apply().action_run) {
                mark: { md.kind = 31; }
                set_kind: { md.kind = md.kind + 1; }
                default: { }
            }
        }
        if (md.flag == 0) { if (masks.apply().hit) { md.wide = 0x1234; } else { md.kind = 0; } }
        if (hdr.first.isValid()) {
            md.old = see.execute(hdr.first.e[3:0]);
            md.wide = hdr.first.b ++ hdr.first.a;
            md.low = hdr.first.c |-| hdr.first.d;
            md.low[6:3] = hdr.first.e[30:27];
            if (!prefixes.apply().hit) { md.kind = md.kind ^ 0x80; }
            hdr.first.e = hdr.first.e << 3;
            hdr.first.b = hdr.first.b |+| 0x1f00;
        } else if (hdr.second.isValid() && hdr.second.x != 0) {
            md.wide = (bit<16>)(bit<4>)hdr.second.y + (hdr.second.x - hdr.second.y);
            md.low = turn.execute(0);
        }
        if (hdr.third.isValid()) { hdr.third.setInvalid(); }
        outs.apply();
        hdr.bridge.setValid();
        hdr.bridge.kind = md.kind;
        hdr.bridge.tag = md.low;
        hdr.bridge.seen = md.wide;
        hdr.bridge.sum = (bit<16>)ig_intr_md.ingress_port;
        hdr.bridge.error = prsr.parser_err;""",
    "deparser_locals": "Mirror() mirror; Checksum() sum; Checksum() other;",
    "deparser": """
        if (dprsr.mirror_type == 1) {
            mirror.emit<bridge_h>(md.session, {md.copied, md.low, md.wide, md.old[15:0], md.residual});
        }
        if (hdr.first.isValid()) {
            hdr.bridge.sum = sum.update({hdr.first.e, md.kind, md.low, md.residual});
        }
        if (md.way == 3) {
            hdr.bridge.sum = other.update({hdr.ethernet.dst, md.residual}, true);
        }""",
    "egress_headers": "bridge_h bridge; third_h cut;",
    "egress_start": "pkt.extract(hdr.bridge); transition select(hdr.bridge.kind) { 0x77: more; default: accept; }",
    "egress_states": "state more { pkt.advance(8); pkt.extract(hdr.cut); transition accept; }",
    "egress_apply": """
        hdr.bridge.seen = hdr.bridge.seen ^ eg_intr_md.pkt_length;
        if (hdr.bridge.kind == 23) { dprsr.drop_ctl = 1; }
        if (eg_intr_md.pkt_length > 60) { hdr.bridge.tag = 0xee; }""",
}
SCRIPT = (
    "port 1 metadata=0x0100000000000000\nport 2 metadata=0x0200010000000000\nport 3\nmirror 5 3 24\nmirror 6 3 11\n"
    "add Ingress.outs copy 1 : 1 5\nadd Ingress.outs lose 2\nadd Ingress.outs copy 4 : 2 6\n"
    "add Ingress.outs send 3 : 3\n"
    "add Ingress.prefixes set_kind 0x10000000/4 : 40\nadd Ingress.prefixes set_kind 0x12000000/8 : 41\n"
)


def text(arch: str) -> str:
    unread = "pkt.advance(PORT_METADATA_SIZE);"
    read = "md.port = port_metadata_unpack<ports_t>(pkt);"
    return program(arch=arch, **CONSTRUCTS).replace(unread, read)


def call(action: str, *args: int) -> pr.ActionCall:
    return pr.ActionCall(f"Ingress.{action}", args)


ENTRIES = {
    "Ingress.outs": (
        pr.Entry(((1, 7),), call("copy", 1, 5)),
        pr.Entry(((2, 7),), call("lose")),
        pr.Entry(((3, 7),), call("send", 3)),
        pr.Entry(((4, 7),), call("copy", 2, 6)),
    ),
    "Ingress.prefixes": (
        pr.Entry(((0x10000000, 0xF0000000),), call("set_kind", 40)),
        pr.Entry(((0x12000000, 0xFF000000),), call("set_kind", 41)),
    ),
}


def frames(seed: int, count: int) -> list[bytes]:
    """Around every value that the program compares with, of every length around where headers end."""
    rng = random.Random(seed)
    found = []
    for _ in range(count):
        dst = bytes([rng.choice((0x00, 0x20, 0x40, 0x60, 0x80, 0xF1)), 0, 0, 0, 0, rng.choice((0, 1, 0x80, 0x7F))])
        src = rng.choice((bytes(6), b"\xff" * 6, rng.randbytes(6)))
        kind = rng.choice((0x0800, 0x0800, 0x0803, 0x0810, 0x0900, 0x0A55, 0x0B00, 0x0B01))
        zero = rng.random() < 0.2
        rest = (
            bytes(80)
            if zero
            else b"".join(
                rng.choice((b"\x00", b"\x07", b"\x10", b"\x12", b"\xff", rng.randbytes(1))) for _ in range(80)
            )
        )
        head = rng.randbytes(2) if dst[0] == 0xF1 else b""
        found.append(
            (head + dst + src + kind.to_bytes(2, "big") + rest)[: rng.choice((1, 1, 1, 13, 14, 15, *range(16, 70)))]
        )
    return found


@pytest.mark.parametrize(("chip", "count"), [(TOFINO, 120), (TOFINO2, 30)], ids=["Tofino", "Tofino 2"])
def test_every_construct(chip: ChipLimits, count: int) -> None:
    sent = frames(14, count)
    script = [f"in {1 + n % 3} {1000 * n} {f.hex()}\nrun {1000 * n}" for n, f in enumerate(sent)]
    wanted = run(text(chip.arch), SCRIPT + "\n".join(script), chip)
    pipe = Pipe(load("test.p4", text(chip.arch), chip), chip, ENTRIES, {5: (3, 24), 6: (3, 11)})
    found = []
    for n, frame in enumerate(sent):
        port = 1 + n % 3
        found += pipe.receive(port, (0, 1 << 56, 2 << 56 | 1 << 40, 0)[port], frame, 1000 * n)
    assert found == wanted
    walked = {(s.state, s.case) for passed in pipe.taken for s in passed.path.steps}
    wanted_steps = {("parse_ethernet", case) for case in (-1, 0, 1, 2, 3, 4)} | {("start", -1), ("more", -1)}
    assert count < 100 or walked >= wanted_steps, wanted_steps - walked
