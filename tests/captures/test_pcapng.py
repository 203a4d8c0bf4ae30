"""Reading pcapng: blocks, interfaces, sections, what is refused, and where it is cut."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from polysome.captures.read import Captured, Damaged, Truncated, WrongLinkType, open_capture

from .vectors import Pcapng, read_all

ORDERS = pytest.mark.parametrize("order", ["<", ">"])


def written(tmp_path: Path, content: bytes) -> Path:
    path = tmp_path / "in.pcapng"
    path.write_bytes(content)
    return path


def test_bytes_worked_by_hand(tmp_path: Path) -> None:
    content = bytes.fromhex(
        # Section header: type, length 28, byte-order magic (big-endian), version 1.0, section length unknown, length.
        "0a0d0d0a 0000001c 1a2b3c4d 0001 0000 ffffffffffffffff 0000001c"
        # Interface: type 1, length 40, Ethernet, reserved, snaplen 65535,
        "00000001 00000028 0001 0000 0000ffff"
        # if_tsresol (9), 1 byte: 10**-9, padding; if_name (2), 3 bytes "lan", padding; end of options; length.
        "0009 0001 09 000000  0002 0003 6c616e 00  0000 0000  00000028"
        # Enhanced packet: type 6, length 36, interface 0, time 0x17979cfe362a0000 = 1 700 000 000 * 10**9 ns,
        "00000006 00000024 00000000 17979cfe 362a0000"
        # 3 bytes captured of 60, data, padding, length.
        "00000003 0000003c aabbcc 00 00000024"
    )
    with open_capture(written(tmp_path, content)) as capture:
        packets = list(capture)
        assert capture.interfaces == ("lan",)
        assert capture.position == capture.size == len(content)
    assert packets == [Captured(time=1_700_000_000 * 10**9, data=b"\xaa\xbb\xcc", wire_length=60, interface=0)]


# Resolution byte (None: no option), ticks, nanoseconds.
RESOLUTIONS = [
    (None, 1_700_000_000_123_456, 1_700_000_000_123_456_000),
    (0, 1_700_000_000, 1_700_000_000 * 10**9),  # seconds
    (3, 1_700_000_000_123, 1_700_000_000_123_000_000),
    (6, 2**63, None),  # beyond 64 bits of nanoseconds
    (9, 2**64 - 1, 2**64 - 1),
    (12, 1_700_000_000_123_456_7899, 17_000_000_001_234_567),  # picoseconds are rounded down
    (127, 2**64 - 1, 0),
    (0x80, 77, 77 * 10**9),  # 2**0 s
    (0x80 | 1, 3, 1_500_000_000),  # half seconds
    (0x80 | 10, 1025, 1_000_976_562),  # 1025/1024 s = 1 000 976 562.5 ns
    (0x80 | 32, (7 << 32) | 0x80000000, 7_500_000_000),  # as NTP has it
    (0xFF, 2**64 - 1, 0),
]


@ORDERS
@pytest.mark.parametrize(("resolution", "ticks", "time"), RESOLUTIONS)
def test_resolutions(tmp_path: Path, order: str, resolution: int | None, ticks: int, time: int | None) -> None:
    file = Pcapng(order).section().interface(resolution=resolution).enhanced(0, ticks, b"x")
    packets, error = read_all(written(tmp_path, file.content))
    if time is None:
        assert type(error) is Damaged
    else:
        assert error is None
        assert [packet.time for packet in packets] == [time]


@ORDERS
def test_interfaces_each_with_its_own_clock(tmp_path: Path, order: str) -> None:
    file = Pcapng(order).section()
    file.interface("a", resolution=9).interface(offset=1_700_000_000).interface("c", resolution=9, offset=-5)
    file.enhanced(2, 6_000_000_001, b"c").enhanced(0, 7, b"a").enhanced(1, 7, b"b", wire=900)
    with open_capture(written(tmp_path, file.content)) as capture:
        assert list(capture) == [
            Captured(1_000_000_001, b"c", 1, 2),
            Captured(7, b"a", 1, 0),
            Captured(1_700_000_000_000_007_000, b"b", 900, 1),
        ]
        assert capture.interfaces == ("a", "", "c")


def test_time_before_the_epoch(tmp_path: Path) -> None:
    file = Pcapng().section().interface(offset=-1).enhanced(0, 1_000_000, b"0").enhanced(0, 999_999, b"-1 us")
    packets, error = read_all(written(tmp_path, file.content))
    assert [packet.time for packet in packets] == [0]
    assert type(error) is Damaged
    assert "before 1970" in str(error)


@ORDERS
def test_obsolete_packet(tmp_path: Path, order: str) -> None:
    file = Pcapng(order).section().interface().interface(resolution=9).obsolete(1, 2**33 + 5, b"old", drops=7)
    packets, error = read_all(written(tmp_path, file.content))
    assert (packets, error) == ([Captured(2**33 + 5, b"old", 3, 1)], None)


@ORDERS
def test_simple_packets_have_the_time_before_them(tmp_path: Path, order: str) -> None:
    file = Pcapng(order).section().interface(snaplen=4).interface()
    file.simple(b"none").enhanced(1, 3, b"timed").simple(b"cut ", wire=1000).simple(b"abc")
    packets, error = read_all(written(tmp_path, file.content))
    assert error is None
    assert packets == [
        Captured(0, b"none", 4, 0),
        Captured(3000, b"timed", 5, 1),
        Captured(3000, b"cut ", 1000, 0),
        Captured(3000, b"abc", 3, 0),
    ]


def test_simple_packet_without_snaplen_is_whole_or_damaged(tmp_path: Path) -> None:
    file = Pcapng().section().interface().simple(b"abcd", wire=5)
    assert type(read_all(written(tmp_path, file.content))[1]) is Damaged


def test_sections_of_both_byte_orders(tmp_path: Path) -> None:
    file = Pcapng().section("<").interface("a", resolution=9).enhanced(0, 1, b"1")
    file.section(">", version=(1, 2)).interface("b").interface("c").enhanced(1, 2, b"2")
    file.section("<").interface("d").enhanced(0, 3, b"3")
    with open_capture(written(tmp_path, file.content)) as capture:
        assert [(p.time, p.data, p.interface) for p in capture] == [(1, b"1", 0), (2000, b"2", 2), (3000, b"3", 3)]
        assert capture.interfaces == ("a", "b", "c", "d")


def test_a_section_forgets_the_interfaces(tmp_path: Path) -> None:
    file = Pcapng().section().interface().enhanced(0, 1, b"1").section().enhanced(0, 2, b"2")
    packets, error = read_all(written(tmp_path, file.content))
    assert len(packets) == 1
    assert type(error) is Damaged
    assert "interface 0, which the section does not describe" in str(error)


@ORDERS
def test_other_blocks_and_options_are_skipped(tmp_path: Path, order: str) -> None:
    file = Pcapng(order).section()
    file.block(4, bytes(8)).block(0xBAD, file.option(1, b"custom")).block(0x80000001, b"").interface("a")
    comment = file.option(1, b"a comment") + file.option(2988, b"custom") + file.option(0, b"")
    file.enhanced(0, 1, b"12345", options=comment).block(5, bytes(12))
    with open_capture(written(tmp_path, file.content)) as capture:
        assert list(capture) == [Captured(1000, b"12345", 5, 0)]
        assert capture.position == capture.size


def test_blocks_across_the_reading_window(tmp_path: Path) -> None:
    file = Pcapng().section().interface()
    sizes = [0, 70_001, 262_144, 500_000, 3, 262_131, 1]
    for n, size in enumerate(sizes):
        file.enhanced(0, n, bytes([n]) * size).block(0xBAD, bytes(size))
    packets, error = read_all(written(tmp_path, file.content))
    assert error is None
    assert [packet.data for packet in packets] == [bytes([n]) * size for n, size in enumerate(sizes)]


def test_only_packets_of_another_link_type_are_refused(tmp_path: Path) -> None:
    file = Pcapng().section().interface("eth0").interface("wlan0", link=127).enhanced(0, 1, b"ok")
    assert read_all(written(tmp_path, file.content))[1] is None
    path = written(tmp_path, file.enhanced(1, 1, b"radio").content)
    packets, error = read_all(path)
    assert len(packets) == 1
    assert type(error) is WrongLinkType
    assert str(error) == (
        f"{path}: packets of interface 1 (wlan0) have link type 127 (IEEE 802.11 with radiotap); "
        "only Ethernet (1) can be processed"
    )


def _with_word(content: bytes, at: int, word: int) -> bytes:
    return content[:at] + struct.pack("<I", word) + content[at + 4 :]


# The file below: section 0..28, interface 28..48, good packet 48..84, bad block 84..120, its fields by offset in it.
@pytest.mark.parametrize(
    ("at", "word", "message"),
    [
        (4, 0, "a block of type 0x6 claims 0 bytes"),
        (4, 35, "a block of type 0x6 claims 35 bytes"),
        (4, 28, "a block of type 0x6 claims 28 bytes"),
        (4, 0xFFFFFFFC, "a block of type 0x6 claims 4294967292 bytes"),
        (4, 32, "a block of 32 bytes does not repeat its length at its end"),
        (8, 1, "a packet of interface 1, which the section does not describe"),
        (20, 5, "a packet of 5 bytes in a block of 36"),
        (20, 0xFFFFFFFF, "a packet of 4294967295 bytes in a block of 36"),
        (0, 0x0A0D0D0A, "a section header has 00 00 00 00 for its byte-order magic"),
        (32, 40, "a block of 36 bytes does not repeat its length at its end"),
    ],
)
def test_damage(tmp_path: Path, at: int, word: int, message: str) -> None:
    file = Pcapng().section().interface().enhanced(0, 1, b"good").enhanced(0, 2, b"bad!")
    assert file.ends == [28, 48, 84, 120]
    path = written(tmp_path, _with_word(file.content, 84 + at, word))
    packets, error = read_all(path)
    assert [packet.data for packet in packets] == [b"good"]
    assert type(error) is Damaged
    assert error.offset == 84
    assert str(error) == f"{path}: damaged at byte 84, after packet 1: {message}"


@pytest.mark.parametrize("option", [struct.pack("<HHI", 9, 2, 6), struct.pack("<HHI", 14, 4, 0), b"\x02\0\x10\0name"])
def test_damaged_options(tmp_path: Path, option: bytes) -> None:
    file = Pcapng().section().block(1, struct.pack("<HHI", 1, 0, 0) + option).enhanced(0, 1, b"x")
    packets, error = read_all(written(tmp_path, file.content))
    assert packets == []
    assert type(error) is Damaged


def test_other_version(tmp_path: Path) -> None:
    file = Pcapng().section(version=(2, 0))
    assert "version 2.0, not 1.0" in str(read_all(written(tmp_path, file.content))[1])


@ORDERS
def test_cut_at_every_byte(tmp_path: Path, order: str) -> None:
    file = Pcapng(order).section().interface("a").enhanced(0, 1, b"enhanced").simple(b"simple").block(5, bytes(8))
    file.section(">").interface(resolution=9).obsolete(0, 1, b"obsolete").enhanced(0, 1, b"")
    for cut in range(4, len(file.content) + 1):
        packets, error = read_all(written(tmp_path, file.content[:cut]))
        assert len(packets) == max((n for n, end in zip(file.counts, file.ends, strict=True) if end <= cut), default=0)
        if cut in file.ends:
            assert error is None
        else:
            assert type(error) is Truncated
            assert error.offset == cut


def test_what_a_cut_is_told_like(tmp_path: Path) -> None:
    file = Pcapng().section().interface().enhanced(0, 1, b"good").enhanced(0, 2, b"cut!")
    path = written(tmp_path, file.content[:-1])
    assert str(read_all(path)[1]) == (
        f"{path}: cut short at byte 119: the block of type 0x6 at byte 84 needs 36 bytes, 35 are left; "
        "packet 1 is the last whole one"
    )
