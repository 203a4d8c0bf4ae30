"""Checksums by residual (RFC 1624): what the parser subtracts, the deparser adds again with new values."""

from __future__ import annotations

import pytest
from tests.p4.skeleton import program
from tests.p4.soft import ethernet, run

pytestmark = pytest.mark.slow

HEADERS = """
header ipv4_h {
    bit<8> version_ihl; bit<8> tos; bit<16> total_length; bit<16> identification; bit<16> fragment;
    bit<8> ttl; bit<8> protocol; bit<16> checksum; bit<32> src; bit<32> dst;
}
header udp_h { bit<16> sport; bit<16> dport; bit<16> length; bit<16> checksum; }
"""

REWRITE = program(
    types=HEADERS,
    inner="ipv4_h ipv4; udp_h udp;",
    metadata="bit<16> residual; bit<1> summed;",
    units="Checksum() udp_sum;",
    states="""
    state parse_ethernet { pkt.extract(hdr.ethernet); pkt.extract(hdr.ipv4); md.summed = 0; transition parse_udp; }
    state parse_udp {
        udp_sum.subtract({hdr.ipv4.dst});
        pkt.extract(hdr.udp);
        udp_sum.subtract({hdr.udp.dport, hdr.udp.checksum});
        udp_sum.subtract_all_and_deposit(md.residual);
        transition select(hdr.udp.checksum) { 0: accept; default: summed; }
    }
    state summed { md.summed = 1; transition accept; }""",
    locals="""
    action rewrite(bit<32> dst, bit<16> dport) { hdr.ipv4.dst = dst; hdr.udp.dport = dport; }
    table to { actions = { rewrite; NoAction; } default_action = NoAction(); }""",
    apply="to.apply(); tm.ucast_egress_port = 2; tm.bypass_egress = 1;",
    deparser_locals="Checksum() udp_sum; Checksum() ipv4_sum;",
    deparser="""
    hdr.ipv4.checksum = ipv4_sum.update({
        hdr.ipv4.version_ihl, hdr.ipv4.tos, hdr.ipv4.total_length, hdr.ipv4.identification, hdr.ipv4.fragment,
        hdr.ipv4.ttl, hdr.ipv4.protocol, hdr.ipv4.src, hdr.ipv4.dst});
    if (md.summed == 1) {
        hdr.udp.checksum = udp_sum.update({hdr.ipv4.dst, hdr.udp.dport, md.residual}, true);
    }""",
)


def ones(data: bytes) -> int:
    """RFC 1071, the slow way."""
    total = 0
    for high, low in zip(data[::2], data[1::2], strict=True):
        total += high << 8 | low
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def datagram(dst: int, dport: int, payload: bytes, checksum: int | None = None) -> bytes:
    src, sport, length = 0x0A000001, 1234, 8 + len(payload)
    address = src.to_bytes(4, "big") + dst.to_bytes(4, "big")
    ports = sport.to_bytes(2, "big") + dport.to_bytes(2, "big") + length.to_bytes(2, "big")
    if checksum is None:
        checksum = ones(address + b"\x00\x11" + length.to_bytes(2, "big") + ports + payload) or 0xFFFF
    start = bytes.fromhex("4500") + (20 + length).to_bytes(2, "big") + bytes.fromhex("0001400040110000") + address
    start = start[:10] + ones(start).to_bytes(2, "big") + start[12:]
    return start + ports + checksum.to_bytes(2, "big") + payload


def rewritten(dst: int, dport: int, *frames: bytes) -> list[str]:
    lines = "".join(f"in 1 0 {ethernet(f.hex())}\n" for f in frames)
    return run(REWRITE, f"port 1\nport 2\ndefault Ingress.to rewrite : {dst} {dport}\n{lines}run 0")


def test_a_rewritten_datagram_has_the_checksum_that_it_would_have_had() -> None:
    payloads = [bytes(range(n, n + 18)) for n in range(40)]
    for dst, dport in ((0xC0A80101, 8080), (0xFFFFFFFF, 0xFFFF), (0x0A000002, 53)):
        sent = [datagram(0x0A000002, 53, p) for p in payloads]
        wanted = [f"out 2 0 {ethernet(datagram(dst, dport, p).hex())}" for p in payloads]
        assert rewritten(dst, dport, *sent) == wanted


def test_a_datagram_without_a_checksum_stays_without() -> None:
    found = rewritten(0xC0A80101, 8080, datagram(0x0A000002, 53, b"ab", checksum=0))
    assert found == [f"out 2 0 {ethernet(datagram(0xC0A80101, 8080, b'ab', checksum=0).hex())}"]


def test_a_computed_zero_becomes_ones() -> None:
    """The payload is chosen so that the sum with the new address is all ones."""
    rest = ones(datagram(0xC0A80101, 8080, b"\x00\x00", 0)[12:] + b"\x00\x11\x00\x0a")
    payload = rest.to_bytes(2, "big")
    wanted = datagram(0xC0A80101, 8080, payload)
    assert wanted[26:28] == b"\xff\xff"
    assert rewritten(0xC0A80101, 8080, datagram(0x0A000002, 53, payload)) == [f"out 2 0 {ethernet(wanted.hex())}"]


def test_a_bad_checksum_stays_bad() -> None:
    good, bad = datagram(0x0A000002, 53, b"abcd"), datagram(0x0A000002, 53, b"abcd", checksum=0x1234)
    (found,) = rewritten(0xC0A80101, 8080, bad)
    off = int.from_bytes(bad[26:28], "big") - int.from_bytes(good[26:28], "big")
    wanted = int.from_bytes(datagram(0xC0A80101, 8080, b"abcd")[26:28], "big") + off
    assert bytes.fromhex(found.split()[3])[40:42] == (wanted % 0xFFFF).to_bytes(2, "big")


AFTER = program(
    types="header words_h { bit<16> a; bit<8> b; bit<8> c; }",
    inner="words_h first; words_h second;",
    metadata="bit<16> so_far; bit<16> residual;",
    units="Checksum() sum;",
    states="""
    state parse_ethernet {
        pkt.extract(hdr.ethernet);
        pkt.extract(hdr.first);
        sum.subtract({hdr.first.a});
        sum.subtract({hdr.first.c, hdr.first.b});
        md.so_far = sum.get();
        sum.subtract_all_and_deposit(md.residual);
        transition rest;
    }
    state rest { pkt.extract(hdr.second); transition accept; }""",
    apply="""
    hdr.ethernet.src = 16w0 ++ md.so_far ++ md.residual;
    tm.ucast_egress_port = 2;
    tm.bypass_egress = 1;""",
)


def test_headers_after_a_deposit_are_subtracted_too() -> None:
    (found,) = run(AFTER, f"port 1\nport 2\nin 1 0 {ethernet('0123 0045 1000 0001')}\nrun 0")
    so_far = (0xFFFF - 0x0123) + (0xFFFF - 0x4500)
    all_of_it = so_far + (0xFFFF - 0x1000) + (0xFFFF - 0x0001)
    so_far = (so_far & 0xFFFF) + (so_far >> 16)
    folded = (all_of_it & 0xFFFF) + (all_of_it >> 16)
    assert found.split()[3][12:24] == f"0000{so_far:04x}{folded:04x}"
