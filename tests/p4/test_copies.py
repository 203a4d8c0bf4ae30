"""Copies of a packet: bridged metadata, mirroring, multicast, recirculation, queues, lengths, the appended ICRC."""

from __future__ import annotations

import pytest
from tests.p4.chips import TOFINO2
from tests.p4.skeleton import program
from tests.p4.soft import ethernet, run

pytestmark = pytest.mark.slow

BRIDGE = "header bridge_h { bit<8> kind; bit<8> tag; bit<16> seen; }\n"

# Every copy comes to egress behind a bridge header, where its length and replication are written into it.
COPIES = program(
    types=BRIDGE,
    headers="bridge_h bridge;",
    metadata="MirrorId_t session; bit<8> kind; bit<8> tag; bit<16> seen;",
    locals="""
    action send(PortId_t port, QueueId_t queue) { tm.ucast_egress_port = port; tm.qid = queue; }
    action flood(MulticastGroupId_t group) { tm.mcast_grp_a = group; tm.rid = 7; }
    action both(PortId_t port, MulticastGroupId_t group) {
        tm.ucast_egress_port = port;
        tm.mcast_grp_a = group;
        tm.rid = 9;
    }
    action mirror_only(MirrorId_t session) { dprsr.mirror_type = 1; md.session = session; dprsr.drop_ctl = 1; }
    action mirror_too(PortId_t port, MirrorId_t session) {
        dprsr.mirror_type = 1;
        md.session = session;
        tm.ucast_egress_port = port;
    }
    table kinds {
        key = { hdr.ethernet.ether_type: exact; }
        actions = { send; flood; both; mirror_only; mirror_too; NoAction; }
        default_action = NoAction();
    }""",
    apply="""
    md.session = 0;
    md.kind = 2;
    md.tag = 0xc0;
    md.seen = 0xeeee;
    kinds.apply();
    hdr.bridge.setValid();
    hdr.bridge.kind = 1;
    hdr.bridge.tag = 0xb0;
    hdr.bridge.seen = 0;
    hdr.ethernet.src = 0x020000000099;""",
    deparser_locals="Mirror() mirror;",
    deparser="""
    if (dprsr.mirror_type == 1) {
        mirror.emit<bridge_h>(md.session, {md.kind, md.tag, md.seen});
    }""",
    egress_headers="bridge_h bridge;",
    egress_start="pkt.extract(hdr.bridge); transition accept;",
    egress_apply="""
    hdr.bridge.seen = eg_intr_md.pkt_length;
    hdr.bridge.tag = hdr.bridge.tag | eg_intr_md.egress_rid[7:0];
    if (hdr.bridge.kind == 3) { dprsr.drop_ctl = 1; }""",
)
PORTS = "port 1\nport 2\nport 3\nport 4\n"


def entry(action: str, *params: int) -> str:
    return f"add Ingress.kinds {action} 0x0800 : {' '.join(map(str, params))}\n"


def after(frame: str) -> str:
    """The frame as ingress changes it."""
    return frame[:12] + "020000000099" + frame[24:]


def seen(kind: int, tag: int, length: int) -> str:
    return f"{kind:02x}{tag:02x}{length:04x}"


def test_a_copy_counts_the_frame_that_came_and_4_bytes_without_the_bridge_header() -> None:
    frame = ethernet("11" * 46)
    found = run(COPIES, f"{PORTS}{entry('send', 2, 0)}in 1 0 {frame}\nrun 0")
    assert found == [f"out 2 0 {seen(1, 0xB0, 64)}{after(frame)}"]


def test_without_a_port_it_is_dropped_and_counted() -> None:
    found = run(
        COPIES,
        f"{PORTS}in 1 0 {ethernet()}\n{entry('send', 9, 0)}in 1 0 {ethernet()}\nin 7 0 {ethernet()}\nrun 0\ndrops",
    )
    assert len(found) == 1 and " no_port=1 " in found[0] and " unknown_port=2 " in found[0]


def test_a_mirror_copy_is_the_packet_as_it_came_behind_its_header() -> None:
    frame = ethernet("22" * 46)
    found = run(COPIES, f"{PORTS}mirror 5 3 0\n{entry('mirror_too', 2, 5)}in 1 0 {frame}\nrun 0")
    assert found == [f"out 2 0 {seen(1, 0xB0, 64)}{after(frame)}", f"out 3 0 {seen(2, 0xC0, 4 + 60 + 4)}{frame}"]


def test_a_session_cuts_header_and_packet_together() -> None:
    frame = ethernet("33" * 46)
    found = run(COPIES, f"{PORTS}mirror 5 3 24\n{entry('mirror_only', 5)}in 1 0 {frame}\nrun 0\ndrops\npasses")
    assert found[0] == f"out 3 0 {seen(2, 0xC0, 24 + 4)}{frame[: 20 * 2]}"
    assert " ingress_program=1 " in found[1] and " mirrored=1 " in found[2] and len(found) == 3


def test_a_session_counts_the_fcs_where_the_chip_does() -> None:
    frame = ethernet("33" * 46)
    copies = COPIES.replace("<tna.p4>", "<t2na.p4>")
    found = run(copies, f"{PORTS}mirror 5 3 24\n{entry('mirror_only', 5)}in 1 0 {frame}\nrun 0", TOFINO2)
    assert found == [f"out 3 0 {seen(2, 0xC0, 20 + 4)}{frame[: 16 * 2]}"]
    found = run(copies, f"{PORTS}mirror 5 3 7\n{entry('mirror_only', 5)}in 1 0 {frame}\nrun 0", TOFINO2)
    assert found == [f"out 3 0 {seen(2, 0xC0, 4 + 4)}"]  # no room for any of the packet


def test_a_session_that_is_not_set_or_does_not_exist() -> None:
    found = run(
        COPIES,
        f"{PORTS}mirror 0 3 0\nmirror 1016 3 0\nmirror 1 512 0\n"
        f"{entry('mirror_only', 6)}in 1 0 {ethernet()}\nrun 0\ndrops",
    )
    assert found[:3] == [
        "error mirror session 0: there is no such session",
        "error mirror session 1016: there is no such session",
        "error mirror session 1: there is no port 512",
    ]
    assert " unknown_session=1 " in found[3]


def test_a_group_gives_each_of_its_ports_a_copy_through_egress() -> None:
    frame = ethernet("44" * 46)
    found = run(COPIES, f"{PORTS}group 3 5 2 3 4\n{entry('flood', 3)}in 1 0 {frame}\nrun 0\npasses")
    assert found[:3] == [f"out {port} 0 {seen(1, 0xB5, 64)}{after(frame)}" for port in (2, 3, 4)]
    assert " egress=3 " in found[3]


def test_a_unicast_copy_beside_a_group_and_a_group_that_is_empty() -> None:
    frame = ethernet("55" * 46)
    found = run(COPIES, f"{PORTS}group 3 5 3\n{entry('both', 2, 3)}in 1 0 {frame}\nrun 0")
    assert found == [f"out 2 0 {seen(1, 0xB9, 64)}{after(frame)}", f"out 3 0 {seen(1, 0xB5, 64)}{after(frame)}"]
    found = run(COPIES, f"{PORTS}group 3 5\ngroup 0 5 2\n{entry('flood', 3)}in 1 0 {frame}\nrun 0\ndrops")
    assert found[0] == "error multicast group 0: 0 means no group" and " empty_group=1 " in found[1]


def test_a_full_queue_drops_at_its_tail_and_the_others_leave_in_order() -> None:
    """60 bytes and the bridge header are 64, a cell of 80, and there is room for three; each takes (64+24)*8/1 Gbit/s,
    704 ns."""
    frames = [ethernet(f"{i:02x}" * 46) for i in range(5)]
    lines = "".join(f"in 1 {i} {f}\n" for i, f in enumerate(frames))
    found = run(
        COPIES,
        f"port 1\nport 2 rate=1000000000 queue=250\n{entry('send', 2, 0)}{lines}next\nrun 9999\ndrops\nqueue 2 0",
    )
    assert found[0] == "value 0"
    assert found[1:4] == [f"out 2 {704 * (i + 1)} {seen(1, 0xB0, 64)}{after(frames[i])}" for i in range(3)]
    assert " queue_full=2 " in found[4] and found[5] == "queue in=3 dropped=2 most=240"


def test_the_higher_queue_goes_first_once_the_wire_is_free() -> None:
    low, high = ethernet("00" * 46), ethernet("00" * 46, kind="0801")
    more = "add Ingress.kinds send 0x0801 : 2 7\n"
    lines = f"in 1 0 {low}\nin 1 0 {low}\nin 1 100 {high}\n"
    found = run(COPIES, f"port 1\nport 2 rate=1000000000\n{entry('send', 2, 0)}{more}{lines}run 703\nnext\nrun 9999")
    assert found[0].startswith("out 2 704 ") and found[1] == "value 704"
    assert [line.split()[2] for line in found[2:]] == ["1408", "2112"]
    assert [line.split()[3][32:36] for line in (found[0], *found[2:])] == ["0800", "0801", "0800"]


def test_what_egress_drops_takes_no_time_on_the_wire() -> None:
    p4 = COPIES.replace("hdr.bridge.kind == 3", "hdr.bridge.kind == 1")
    lines = f"{entry('send', 2, 0)}mirror 5 2 0\nadd Ingress.kinds mirror_only 0x0801 : 5\n"
    found = run(
        p4, f"port 1\nport 2 rate=1000000000\n{lines}in 1 0 {ethernet()}\nin 1 0 {ethernet(kind='0801')}\nrun 0\ndrops"
    )
    assert found[0].startswith("out 2 336 02c0") and " egress_program=1" in found[1]


RECIRCULATED = program(
    types="header hops_h { bit<8> hops; }",
    headers="hops_h hops;",
    start="transition select(ig_intr_md.ingress_port) { 68: again; default: parse_ethernet; }",
    states="""
    state again { pkt.extract(hdr.hops); transition parse_ethernet; }
    state parse_ethernet { pkt.extract(hdr.ethernet); transition accept; }""",
    apply="""
    tm.bypass_egress = 1;
    if (!hdr.hops.isValid()) {
        hdr.hops.setValid();
        hdr.hops.hops = 0;
        tm.ucast_egress_port = 68;
    } else if (hdr.hops.hops == 3) {
        hdr.hops.setInvalid();
        tm.ucast_egress_port = 2;
    } else {
        hdr.hops.hops = hdr.hops.hops + 1;
        tm.ucast_egress_port = 68;
    }""",
)


def test_a_loopback_port_brings_packets_back_after_their_time_on_the_wire() -> None:
    """61 bytes take (61+24)*8/10 Gbit/s = 68 ns, four times."""
    frame = ethernet("66" * 46)
    found = run(
        RECIRCULATED, f"port 1\nport 2\nport 68 loopback rate=10000000000\nin 1 5 {frame}\nrun 5\nnext\nrun 999\npasses"
    )
    assert found[0] == "value 73" and found[1] == f"out 2 {5 + 4 * 68} {frame}"
    assert found[2] == "passes ingress=5 egress=0 bypassed=5 mirrored=0 recirculated=4 transmitted=1"


def test_a_packet_that_grows_with_every_round_keeps_its_bytes() -> None:
    """Each round adds 100 bytes of headers, until the room before the packet is used up and it is moved."""
    fields = " ".join(f"bit<96> f{i};" for i in range(8))
    p4 = program(
        types=f"header long_h {{ bit<32> n; {fields} }}",
        headers="long_h long;",
        states="state parse_ethernet { pkt.extract(hdr.ethernet); transition accept; }",
        locals="Register<bit<32>, bit<1>>(1) rounds;\nRegisterAction<bit<32>, bit<1>, bit<32>>(rounds) next = {"
        "void apply(inout bit<32> value, out bit<32> rv) { value = value + 1; rv = value; } };",
        apply="hdr.long.setValid(); hdr.long.n = next.execute(0);"
        + " ".join(f"hdr.long.f{i} = 0x{i}{i};" for i in range(8))
        + "tm.bypass_egress = 1; tm.ucast_egress_port = 68; if (hdr.long.n == 40) { tm.ucast_egress_port = 2; }",
    )
    frame = ethernet("77" * 1400)
    (found,) = run(p4, f"port 1\nport 2\nport 68 loopback\nin 1 0 {frame}\nrun 0")
    header = "".join(f"{0x11 * i:024x}" for i in range(8))
    assert found.split()[3] == "".join(f"{n:08x}{header}" for n in range(40, 0, -1)) + frame


def test_a_frame_that_grows_beyond_what_a_mac_accepts_is_dropped() -> None:
    found = run(
        COPIES,
        f"{PORTS}{entry('send', 2, 0)}in 1 0 {ethernet('88' * 9986)}\nin 1 0 {ethernet('88' * 9987)}\nrun 0\ndrops",
    )
    assert "too_long=2 " in found[0]
    found = run(COPIES, f"{PORTS}{entry('send', 2, 0)}in 1 0 {ethernet('88' * 9982)}\nrun 0\ndrops")
    assert len(found) == 2 and "too_long=0 " in found[1]


@pytest.mark.parametrize(
    ("ip", "appended"),
    [
        ("4500 002c 0000 4000 40 11 0000 0a000001 0a000002 1234 12b7 0018 0000 0a00ffff 00000011 80000001", True),
        (
            "4500 002c 0000 4000 40 11 0000 0a000001 0a000002 1234 12b7 0018 0000 0a00ffff 00000011 80000001 01020304",
            False,  # it has one: a server's own
        ),
        ("4500 002b 0000 4000 40 11 0000 0a000001 0a000002 1234 12b7 0017 0000 0a00ffff 00000011 80000001", False),
        ("4500 002d 0000 4000 40 11 0000 0a000001 0a000002 1234 12b7 0019 0000 0a00ffff 00000011 80000001", False),
        (
            "4600 0030 0000 4000 40 11 0000 0a000001 0a000002 01010101 1234 12b7 0018 0000 0a00ffff 00000011 80000001",
            False,
        ),
        ("4500 002c 0000 4000 40 11 0000 0a000001 0a000002 12b7 1234 0018 0000 0a00ffff 00000011 80000001", False),
        ("4500 002c 0000 4000 40 06 0000 0a000001 0a000002 1234 12b7 0018 0000 0a00ffff 00000011 80000001", False),
        ("4500 002c 0000 0001 40 11 0000 0a000001 0a000002 1234 12b7 0018 0000 0a00ffff 00000011 80000001", False),
        ("4500 002c 0000 4000 40 11 0000 0a000001 0a000002 1234 12b7 0018 0000 0a00ffff 00000011 800000", False),
    ],
)
def test_the_icrc_is_appended_to_roce_frames_that_lack_it(ip: str, appended: bool) -> None:
    p4 = program(apply="tm.ucast_egress_port = ig_intr_md.ingress_port ^ 3; tm.bypass_egress = 1;")
    frame = ethernet(ip)
    found = run(p4, f"port 1\nport 2 icrc\nin 1 0 {frame}\nin 2 0 {frame}\nrun 0")
    icrc = f"{0xABCD0000 + len(frame) // 2:08x}" if appended else ""
    assert sorted(found) == [f"out 1 0 {frame}", f"out 2 0 {frame}{icrc}"]


def test_egress_mirrors_what_leaves() -> None:
    p4 = program(
        types=BRIDGE,
        metadata="MirrorId_t session;",
        apply="tm.ucast_egress_port = 2;",
        egress_headers="bridge_h bridge; ethernet_h ethernet;",
        egress_start="transition select(eg_intr_md.egress_port) { 3: copy; default: parse_ethernet; }",
        egress_states="""
        state copy { pkt.extract(hdr.bridge); transition accept; }
        state parse_ethernet { pkt.extract(hdr.ethernet); transition accept; }""",
        egress_apply="""
        if (hdr.ethernet.isValid()) {
            hdr.ethernet.dst = 1;
            dprsr.mirror_type = 2;
            md.session = 4;
            md.spare = 1;
        }""",
        egress_deparser_locals="Mirror() mirror;",
        egress_deparser="""
        if (dprsr.mirror_type == 2) {
            mirror.emit<bridge_h>(md.session, {0, md.spare, hdr.ethernet.ether_type});
        }""",
    )
    frame = ethernet("99" * 20)
    left = "000000000001" + frame[12:]
    found = run(p4, f"{PORTS}mirror 4 3 0\nin 1 0 {frame}\nrun 0")
    assert found == [f"out 2 0 {left}", f"out 3 0 00010800{left}"]
