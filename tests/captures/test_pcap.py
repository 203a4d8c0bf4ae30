"""Reading pcap: its variants, what is refused, and where it is cut."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from polysome.captures.read import Captured, Damaged, Truncated, WrongLinkType, open_capture

from .vectors import pcap_header, pcap_record, read_all


def written(tmp_path: Path, content: bytes) -> Path:
    path = tmp_path / "in.pcap"
    path.write_bytes(content)
    return path


def test_bytes_worked_by_hand(tmp_path: Path) -> None:
    content = bytes.fromhex(
        "d4c3b2a1"  # magic: little-endian, microseconds
        "0200 0400"  # version 2.4
        "00000000 00000000"  # time zone and accuracy: to be ignored
        "ffff0000"  # snaplen 65535
        "01000000"  # link type 1, Ethernet
        "00f15365"  # 0x6553f100 = 1 700 000 000 s
        "3f420f00"  # 0x0f423f = 999 999 us
        "03000000"  # 3 bytes captured
        "3c000000"  # 60 bytes on the wire
        "aabbcc"
    )
    packets, error = read_all(written(tmp_path, content))
    assert error is None
    assert packets == [Captured(time=1_700_000_000_999_999_000, data=b"\xaa\xbb\xcc", wire_length=60, interface=0)]


# Magic as written by a machine of the given byte order, nanoseconds per tick, bytes more in a record header.
VARIANTS = [
    ("<", 0xA1B2C3D4, 1000, b""),
    (">", 0xA1B2C3D4, 1000, b""),
    ("<", 0xA1B23C4D, 1, b""),
    (">", 0xA1B23C4D, 1, b""),
    ("<", 0xA1B2CD34, 1000, b"\x02\0\0\0\x08\0\0\0"),
    (">", 0xA1B2CD34, 1000, b"\x02\0\0\0\x08\0\0\0"),
]


@pytest.mark.parametrize(("order", "magic", "tick", "more"), VARIANTS)
def test_variants(tmp_path: Path, order: str, magic: int, tick: int, more: bytes) -> None:
    content = pcap_header(order, magic)
    content += pcap_record(order, 0xFFFFFFFF, 999_999, b"first", 1500, more)
    content += pcap_record(order, 1, 0, b"", 0, more)
    content += pcap_record(order, 7, 123_457, b"third", None, more)
    packets, error = read_all(written(tmp_path, content))
    assert error is None
    assert packets == [
        Captured(0xFFFFFFFF * 10**9 + 999_999 * tick, b"first", 1500, 0),
        Captured(10**9, b"", 0, 0),
        Captured(7 * 10**9 + 123_457 * tick, b"third", 5, 0),
    ]


def test_nanoseconds_are_exact_where_floats_are_not(tmp_path: Path) -> None:
    content = pcap_header("<", 0xA1B23C4D) + pcap_record("<", 1_700_000_000, 123_456_789, b"x")
    (packet,), _ = read_all(written(tmp_path, content))
    assert packet.time == 1_700_000_000_123_456_789 != int(1_700_000_000.123456789 * 1e9)


def test_fraction_beyond_a_second_carries(tmp_path: Path) -> None:
    (packet,), _ = read_all(written(tmp_path, pcap_header("<") + pcap_record("<", 5, 1_000_001, b"x")))
    assert packet.time == 6_000_001_000


def test_position_follows_the_packets(tmp_path: Path) -> None:
    content = pcap_header("<") + pcap_record("<", 1, 0, b"abc") + pcap_record("<", 1, 0, b"defg")
    with open_capture(written(tmp_path, content)) as capture:
        assert capture.size == len(content) == 24 + 19 + 20
        assert [capture.position] + [capture.position for _ in capture] == [24, 43, 63]
        assert capture.interfaces == ("",)
        assert list(capture) == []


@pytest.mark.parametrize("size", [1, 65535, 262_144])
def test_packets_across_the_reading_window(tmp_path: Path, size: int) -> None:
    data = [bytes([n]) * size for n in range(12)]
    content = pcap_header("<") + b"".join(pcap_record("<", n, 0, frame) for n, frame in enumerate(data))
    packets, error = read_all(written(tmp_path, content))
    assert error is None
    assert [(packet.time, packet.data) for packet in packets] == [(n * 10**9, frame) for n, frame in enumerate(data)]


@pytest.mark.parametrize(("link", "named"), [(113, '113 (Linux "any" device, SLL)'), (65535, "65535")])
def test_wrong_link_type(tmp_path: Path, link: int, named: str) -> None:
    path = written(tmp_path, pcap_header(">", link=link))
    with pytest.raises(WrongLinkType) as caught:
        open_capture(path)
    assert str(caught.value) == f"{path}: packets have link type {named}; only Ethernet (1) can be processed"


def test_frame_check_sequence_bits_are_no_link_type(tmp_path: Path) -> None:
    content = pcap_header("<", link=0x2400_0001) + pcap_record("<", 1, 0, b"frame+fcs")  # F bit, 2 * 16 bits
    packets, error = read_all(written(tmp_path, content))
    assert error is None
    assert packets[0].data == b"frame+fcs"


@pytest.mark.parametrize("minor", [0, 1, 2, 3])
def test_old_versions_have_their_lengths_in_either_order(tmp_path: Path, minor: int) -> None:
    content = pcap_header("<", version=(2, minor)) + pcap_record("<", 1, 0, b"new", 60)
    content += struct.pack("<IIII", 2, 0, 60, 3) + b"old" + pcap_record("<", 3, 0, b"equal")
    packets, error = read_all(written(tmp_path, content))
    assert error is None
    assert [(packet.data, packet.wire_length) for packet in packets] == [(b"new", 60), (b"old", 60), (b"equal", 5)]


@pytest.mark.parametrize("version", [(1, 4), (2, 5), (3, 0)])
def test_versions_that_do_not_exist(tmp_path: Path, version: tuple[int, int]) -> None:
    with pytest.raises(Damaged, match=r"which does not exist: the latest is 2\.4"):
        open_capture(written(tmp_path, pcap_header("<", version=version)))


def test_absurd_length_is_damage_and_not_a_cut(tmp_path: Path) -> None:
    content = pcap_header("<") + pcap_record("<", 1, 0, b"good")
    path = written(tmp_path, content + struct.pack("<IIII", 1, 0, 0x7FFFFFFF, 60) + bytes(100))
    packets, error = read_all(path)
    assert [packet.data for packet in packets] == [b"good"]
    assert type(error) is Damaged
    assert error.offset == len(content)
    assert str(error) == f"{path}: damaged at byte 44: packet 2 claims 2147483647 bytes"


def test_snaplen_allows_longer_packets(tmp_path: Path) -> None:
    data = bytes(300_000)
    record = pcap_record("<", 1, 0, data)
    assert read_all(written(tmp_path, pcap_header("<", snaplen=400_000) + record))[0][0].data == data
    assert isinstance(read_all(written(tmp_path, pcap_header("<") + record))[1], Damaged)


@pytest.mark.parametrize(("order", "magic", "tick", "more"), VARIANTS)
def test_cut_at_every_byte(tmp_path: Path, order: str, magic: int, tick: int, more: bytes) -> None:
    content = pcap_header(order, magic)
    ends = [len(content)]
    for size in (0, 1, 60, 33):
        content += pcap_record(order, size, size, bytes(range(size)), None, more)
        ends.append(len(content))
    for cut in range(4, len(content) + 1):
        path = written(tmp_path, content[:cut])
        packets, error = read_all(path)
        assert len(packets) == sum(end <= cut for end in ends[1:])
        if cut in ends:
            assert error is None
        else:
            assert type(error) is Truncated
            assert error.offset == cut


def test_what_a_cut_is_told_like(tmp_path: Path) -> None:
    content = pcap_header("<") + pcap_record("<", 1, 0, b"whole") + pcap_record("<", 2, 0, b"cut short")
    path = written(tmp_path, content[:-4])
    assert str(read_all(path)[1]) == (
        f"{path}: cut short at byte 66: the record of packet 2 at byte 45 needs 25 bytes, 21 are left; "
        "packet 1 is the last whole one"
    )
    path = written(tmp_path, content[:30])
    assert str(read_all(path)[1]) == (
        f"{path}: cut short at byte 30: the record header of packet 1 at byte 24 needs 16 bytes, 6 are left; "
        "no packet is whole"
    )
