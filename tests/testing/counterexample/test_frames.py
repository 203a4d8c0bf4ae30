"""Frames made simpler keep right lengths and checksums, as an independent verifier sees them."""

from __future__ import annotations

from pathlib import Path

import pytest

from polysome.analysis import frames
from polysome.analysis.summary import summary
from polysome.captures.read import open_capture

from .kit import udp

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"


def captured() -> list[bytes]:
    """Frames of all examples, without padding."""
    found = []
    for path in sorted(EXAMPLES.glob("*/*.pcap*")):
        with open_capture(path) as capture:
            found += [packet.data for packet, _ in zip(capture, range(40), strict=False)]
    return found


def test_real_frames_are_right_already() -> None:
    """What real stacks sent is what `repaired` makes, where it knows everything in the frame."""
    same = [data for data in captured() if frames.repaired(data) == data]
    assert len(same) > 0.8 * len(captured()) > 100


def test_repairing_twice_changes_nothing() -> None:
    for data in captured():
        assert frames.repaired(frames.repaired(data)) == frames.repaired(data)


def test_lengths_and_checksums_follow_a_cut() -> None:
    whole = udp(payload=b"abcdef")
    cut = frames.repaired(whole[:-4])
    assert cut[16:18] == (30).to_bytes(2, "big") and cut[38:40] == (10).to_bytes(2, "big")
    assert cut == udp(payload=b"ab")


def test_a_udp_checksum_of_zero_stays() -> None:
    data = bytearray(udp())
    data[40:42] = b"\0\0"
    assert frames.repaired(bytes(data)) == bytes(data)


def test_fields_are_exchanged_everywhere() -> None:
    data = udp(1, 2, 4000, 80)
    new = frames.with_fields(data, {("ipv4", 0xC0A80001): 0x0A000001, ("port", 80): 81})
    assert [f.get(new) for f in frames.fields(new)] == [
        0x0A0000000002,
        0x0A0000000001,
        0x0A000001,
        0xC0A80102,
        4000,
        81,
    ]
    assert frames.repaired(new) == new


def test_a_tag_and_options_can_go() -> None:
    tagged = udp()[:12] + bytes.fromhex("81000007") + udp()[12:]
    assert list(frames.simpler(tagged)) == [udp()]
    plain = udp()
    options = plain[:14] + b"\x46" + plain[15:34] + b"\x01\x01\x01\x00" + plain[34:]
    assert list(frames.simpler(frames.repaired(options))) == [udp()]


def test_nothing_breaks_on_frames_that_are_cut() -> None:
    for data in captured()[::7]:
        for size in range(0, len(data), 5):
            assert len(frames.repaired(data[:size])) == size
            assert all(len(s) < size for s in frames.simpler(data[:size]))
            assert summary(data[:size]).endswith(f"len {size}")


VXLAN = "08000000 00006400".replace(" ", "")


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (udp(), "192.168.0.1:4000 > 192.168.1.2:80 UDP len 42"),
        (b"\1\2", "no Ethernet header len 2"),
        (udp()[:12] + b"\x12\x34", "0a:00:00:00:00:01 > 0a:00:00:00:00:02 Ethernet type 0x1234 len 14"),
        (udp()[:12] + bytes.fromhex("81000007") + udp()[12:], "VLAN 7 192.168.0.1:4000 > 192.168.1.2:80 UDP len 46"),
        (udp()[:20] + b"\x20\x01" + udp()[22:], "192.168.0.1 > 192.168.1.2 protocol 17 fragment at byte 8 len 42"),
        (
            udp()[:12] + bytes.fromhex("0806 0001 0800 0604 0001 0a0000000001 0a000001 000000000000 0a000002"),
            "ARP who has 10.0.0.2? tell 10.0.0.1 len 42",
        ),
        (
            udp()[:23] + b"\x01" + udp()[24:34] + bytes.fromhex("0303 0000 00000000") + udp()[14:],
            "192.168.0.1 > 192.168.1.2 ICMP destination unreachable about "
            "(192.168.0.1:4000 > 192.168.1.2:80 UDP) len 70",
        ),
        (
            udp(dport=4789, payload=bytes.fromhex(VXLAN) + udp()),
            "192.168.0.1:4000 > 192.168.1.2:4789 UDP VXLAN 100 (192.168.0.1:4000 > 192.168.1.2:80 UDP) len 92",
        ),
        (
            udp()[:12]
            + bytes.fromhex("86dd 60000000 0014 06 40 20010db8" + "00" * 11 + "01" + "20010db8" + "00" * 11 + "02")
            + bytes.fromhex("03e8 0050 00000000 00000000 5012 0000 00000000"),
            "[2001:db8::1]:1000 > [2001:db8::2]:80 TCP SYN ACK len 74",
        ),
    ],
)
def test_a_frame_in_one_line(data: bytes, text: str) -> None:
    assert summary(data) == text
