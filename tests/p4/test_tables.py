"""Tables of every kind, meters, counters and hashes."""

from __future__ import annotations

import binascii

import pytest
from tests.p4.skeleton import program
from tests.p4.soft import ethernet, run

pytestmark = pytest.mark.slow

PORTS = "".join(f"port {n}\n" for n in range(12))
IO = "header io_h { bit<16> a; bit<8> b; bit<32> c; bit<128> d; }"
PARSE = "state parse_ethernet { pkt.extract(hdr.ethernet); pkt.extract(hdr.io); transition accept; }"
SEND = "action send(PortId_t port) { tm.ucast_egress_port = port; }\n"


def way(p4: str, frames: list[str], before: str) -> list[int]:
    """The port through which each frame leaves."""
    lines = "".join(f"in 1 {i} {f}\n" for i, f in enumerate(frames))
    return [int(line.split()[1]) for line in run(p4, PORTS + before + lines + "run 99")]


def io(a: int = 0, b: int = 0, c: int = 0, d: int = 0) -> str:
    return ethernet(f"{a:04x}{b:02x}{c:08x}{d:032x}")


def matching(key: str, more: str = "") -> str:
    table = f"table t {{ key = {{ {key} }} actions = {{ send; }} default_action = send(9); {more} }}"
    return program(
        types=IO, inner="io_h io;", states=PARSE, locals=SEND + table, apply="tm.bypass_egress = 1; t.apply();"
    )


def test_of_ternary_entries_the_smallest_priority_wins() -> None:
    p4 = matching("hdr.io.a: ternary; hdr.io.b: exact;")
    entries = """
    add Ingress.t send 0x1000&0xf000 5 : 2 ! 20
    add Ingress.t send 0x1200&0xff00 5 : 3 ! 10
    add Ingress.t send 0x1230&0xfff0 5 : 4 ! 10
    add Ingress.t send 0&0 6 : 5 ! 1
    """
    frames = [io(0x1000, 5), io(0x1234, 5), io(0x2000, 5), io(0x1234, 6), io(0x1234, 7)]
    assert way(p4, frames, entries) == [2, 3, 9, 5, 9]
    assert way(p4, frames, entries + "delete Ingress.t 0x12ff&0xff00 5\n") == [2, 4, 9, 5, 9]
    assert way(p4, frames, entries + "modify Ingress.t send 0x12ff&0xff00 5 : 6\n") == [2, 6, 9, 5, 9]


def test_the_longest_prefix_wins() -> None:
    p4 = matching("hdr.io.c: lpm;")
    entries = """
    add Ingress.t send 0x0a000000/8 : 2
    add Ingress.t send 0x0a010000/16 : 3
    add Ingress.t send 0x0a010203/32 : 4
    add Ingress.t send 0/0 : 5
    add Ingress.t send 0/33 : 5
    """
    lines = "".join(f"in 1 {i} {io(c=c)}\n" for i, c in enumerate((0x0A000001, 0x0A010204, 0x0A010203, 0x0B000000)))
    found = run(p4, PORTS + entries + lines + "run 9")
    assert found[0] == "error Ingress.t: the prefix of key hdr.io.c is too long"
    assert [int(line.split()[1]) for line in found[1:]] == [2, 3, 4, 5]


def test_a_wide_exact_key() -> None:
    high = 1 << 127
    p4 = matching("hdr.io.d: exact; hdr.io.a: exact; hdr.io.b[3:2]: exact; hdr.io.isValid(): exact;")
    entries = f"add Ingress.t send {high:#x} 1 2 1 : 2\nadd Ingress.t send {high + 1:#x} 1 2 1 : 3\n"
    frames = [io(1, 8, d=high), io(1, 11, d=high + 1), io(1, 4, d=high), io(2, 8, d=high), io(1, 8, d=0)]
    assert way(p4, frames, entries) == [2, 3, 9, 9, 9]


def test_many_entries_come_and_go() -> None:
    """Erasing closes the gap in the hash table: all others are still found, and none that was erased."""
    p4 = matching("hdr.io.c: exact;", "size = 700;")
    keys = [(i * 2654435761) % (1 << 32) for i in range(700)]
    lines = "".join(f"add Ingress.t send {k} : {2 + i % 6}\n" for i, k in enumerate(keys))
    lines += "".join(f"delete Ingress.t {k}\n" for k in keys[::3])
    wanted = [9 if i % 3 == 0 else 2 + i % 6 for i in range(700)]
    lines += "".join(f"in 1 {i} {io(c=k)}\n" for i, k in enumerate(keys))
    found = run(p4, PORTS + lines + "run 999\ncount Ingress.t")
    assert [int(line.split()[1]) for line in found[:-1]] == wanted and found[-1] == "value 466"


CONSTANT = program(
    types=IO,
    inner="io_h io;",
    states=PARSE,
    locals="""
    action send(PortId_t port) { tm.ucast_egress_port = port; }
    action other() { tm.ucast_egress_port = 8; }
    table t {
        key = { hdr.io.a: ternary; hdr.io.b: exact; }
        actions = { send; other; NoAction; }
        const entries = {
            (0x10 &&& 0xf0, 1): send(2);
            (_, 1): send(3);
            (0x55, 2): other();
        }
        const default_action = NoAction();
    }
    table last {
        key = { hdr.io.c: exact; }
        actions = { NoAction; }
        const entries = { 7: NoAction(); }
        default_action = NoAction();
    }""",
    apply="""
    tm.bypass_egress = 1;
    switch (t.apply().action_run) {
        send: { }
        other: { hdr.io.a = 0; }
        default: {
            if (last.apply().hit) { tm.ucast_egress_port = 4; } else { tm.ucast_egress_port = 5; }
        }
    }""",
)


def test_constant_entries_in_their_order_and_what_ran() -> None:
    frames = [io(0x1F, 1), io(0x2F, 1), io(0x55, 2), io(0x56, 2), io(0x56, 2, 7)]
    assert way(CONSTANT, frames, "") == [2, 3, 8, 5, 4]
    refused = run(
        CONSTANT, "add Ingress.t send 1 1 : 2\nclear Ingress.t\ndefault Ingress.t other\ndefault Ingress.last NoAction"
    )
    assert refused == [
        "error Ingress.t: its entries are constant",
        "error Ingress.t: its entries are constant",
        "error Ingress.t: its default action is constant",
    ]


COUNTED = program(
    types="header color_h { bit<8> color; }",
    inner="color_h color;",
    states="state parse_ethernet { pkt.extract(hdr.ethernet); pkt.extract(hdr.color); transition accept; }",
    locals="""
    Counter<bit<16>, bit<2>>(3, CounterType_t.PACKETS_AND_BYTES) seen;
    Counter<bit<32>, bit<1>>(1, CounterType_t.PACKETS) packets;
    Counter<bit<32>, bit<1>>(1, CounterType_t.BYTES) bytes;
    Meter<bit<2>>(2, MeterType_t.BYTES) rate;
    action send(PortId_t port) { tm.ucast_egress_port = port; }
    table t {
        key = { hdr.ethernet.ether_type: exact; }
        actions = { send; }
        default_action = send(9);
    }""",
    apply="""
    tm.bypass_egress = 1;
    t.apply();
    packets.count(0);
    bytes.count(0);
    seen.count(hdr.ethernet.dst[1:0]);
    hdr.color.color = rate.execute(hdr.ethernet.dst[1:0]);""",
)


def test_a_counter_counts_packets_and_their_bytes() -> None:
    frames = [ethernet("00" * 46, dst=f"02000000000{i}") for i in (1, 1, 2, 3)]
    lines = "".join(f"in 1 0 {f}\n" for f in frames)
    reads = "".join(f"counter Ingress.seen {i}\n" for i in range(4))
    found = run(COUNTED, f"{PORTS}{lines}{reads}")
    assert found == ["value 0 0", "value 2 128", "value 1 64", "error Ingress.seen: index 3 of 3"]
    found = run(COUNTED, f"{PORTS}{lines}counter Ingress.packets 0\ncounter Ingress.bytes 0")
    assert found == ["value 4 0", "value 0 256"]
    found = run(COUNTED, PORTS + f"in 1 0 {frames[0]}\n" * 1025 + "counter Ingress.seen 1")
    assert found == [f"value 1025 {1025 * 64 % 65536}"]


def test_a_meter_marks_as_rfc_2698_says() -> None:
    """64 bytes with the FCS each; committed 8 Mbit/s and 128 bytes, peak 16 Mbit/s and 192 bytes."""
    times = [0, 0, 0, 0, 64_000, 64_000, 128_000, 10**9, 10**9, 10**9, 10**9]
    frame = ethernet("00" * 46, dst="020000000001")
    lines = "".join(f"in 1 {t} {frame}\n" for t in times)
    found = run(
        COUNTED,
        f"{PORTS}meter Ingress.rate 1 8000000 128 16000000 192\n{lines}run {10**9}\nmeter Ingress.rate 2 1 1 1 1",
    )
    colors = [int(line.split()[3][28:30]) for line in found[:-1]]
    assert colors == model(times) == [0, 0, 1, 3, 0, 1, 0, 0, 0, 1, 3]
    assert found[-1] == "error Ingress.rate: index 2 of 2"
    assert [line.split()[3][28:30] for line in run(COUNTED, f"{PORTS}in 1 0 {frame}\nin 1 0 {frame}\nrun 0")] == [
        "00",
        "00",
    ]


def model(times: list[int]) -> list[int]:
    committed, peak, last, found = 128.0, 192.0, 0, []
    for t in times:
        peak, committed, last = min(192, peak + (t - last) * 2e-3), min(128, committed + (t - last) * 1e-3), t
        if peak < 64:
            found.append(3)
        elif committed < 64:
            peak -= 64
            found.append(1)
        else:
            peak, committed = peak - 64, committed - 64
            found.append(0)
    return found


HASHES = program(
    types=IO + "header out_h { bit<32> crc32; bit<16> crc16; bit<8> crc8; bit<8> rest; bit<32> low; bit<16> odd; }",
    headers="out_h hash;",
    inner="io_h io;",
    states=PARSE,
    locals="""
    Hash<bit<32>>(HashAlgorithm_t.CRC32) crc32;
    Hash<bit<16>>(HashAlgorithm_t.CRC16) crc16;
    Hash<bit<8>>(HashAlgorithm_t.CRC8) crc8;
    Hash<bit<5>>(HashAlgorithm_t.CRC32) cut5;
    Hash<bit<32>>(HashAlgorithm_t.IDENTITY) low;
    Hash<bit<16>>(HashAlgorithm_t.CRC16) odd;""",
    apply="""
    hdr.hash.setValid();
    hdr.hash.crc32 = crc32.get({hdr.io.a, hdr.io.b, hdr.io.c, hdr.io.d});
    hdr.hash.crc16 = crc16.get({hdr.io.b, hdr.io.c});
    hdr.hash.crc8 = crc8.get({hdr.io.d});
    hdr.hash.rest = 3w0 ++ cut5.get({hdr.io});
    hdr.hash.low = low.get({hdr.io.b, hdr.io.c[27:4]});
    hdr.hash.odd = odd.get({hdr.io.b[3:0], hdr.io.d, hdr.io.a[10:0]});
    tm.ucast_egress_port = 2;
    tm.bypass_egress = 1;""",
)


def reflected(data: bytes, polynomial: int) -> int:
    """A CRC bit by bit, its polynomial reflected, from 0."""
    crc = 0
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (polynomial if crc & 1 else 0)
    return crc


def test_hashes_are_the_crcs_of_the_fields() -> None:
    assert reflected(b"123456789", 0xA001) == 0xBB3D  # CRC-16/ARC
    a, b, c, d = 0x1234, 0xAB, 0xDEADBEEF, 0x0123456789ABCDEF0011223344556677
    (found,) = run(HASHES, f"{PORTS}in 1 0 {io(a, b, c, d)}\nrun 0")
    data = bytes.fromhex(io(a, b, c, d)[28:])
    odd = ((b & 0xF) << 139 | d << 11 | a & 0x7FF).to_bytes(18, "big")
    wanted = binascii.crc32(data).to_bytes(4, "big")
    wanted += reflected(data[2:7], 0xA001).to_bytes(2, "big")
    wanted += reflected(data[7:], 0xE0).to_bytes(1, "big")
    wanted += (binascii.crc32(data) & 31).to_bytes(1, "big")
    wanted += (b << 24 | c >> 4 & 0xFFFFFF).to_bytes(4, "big")
    wanted += reflected(odd, 0xA001).to_bytes(2, "big")
    assert found.split()[3][: len(wanted) * 2] == wanted.hex()
