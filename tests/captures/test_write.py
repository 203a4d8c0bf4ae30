"""Writing pcapng."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from polysome.captures.read import Captured, CaptureError, open_capture
from polysome.captures.write import PcapngWriter, check_output

from .vectors import read_all


def test_bytes_worked_by_hand(tmp_path: Path) -> None:
    path = tmp_path / "out.pcapng"
    with PcapngWriter(path, ["lan"]) as out:
        out.write(0, 0x0102030405060708, b"\xaa\xbb\xcc")
        out.write(0, 1, b"\x01\x02\x03\x04", comment="short")
    assert path.read_bytes() == bytes.fromhex(
        # Section header: type, length 44, byte-order magic, version 1.0, section length unknown,
        "0a0d0d0a 2c000000 4d3c2b1a 0100 0000 ffffffffffffffff"
        # shb_userappl (4), 8 bytes "polysome"; end of options; length.
        "0400 0800 706f6c79736f6d65  0000 0000  2c000000"
        # Interface: type 1, length 40, Ethernet, reserved, snaplen 0 (no limit),
        "01000000 28000000 0100 0000 00000000"
        # if_name (2), 3 bytes "lan"; if_tsresol (9), 1 byte: 10**-9; end of options; length.
        "0200 0300 6c616e 00  0900 0100 09 000000  0000 0000  28000000"
        # Packet: type 6, length 36, interface 0, time high, time low, 3 bytes captured of 3, data, padding, length.
        "06000000 24000000 00000000 04030201 08070605 03000000 03000000 aabbcc 00 24000000"
        # Packet: the same with opt_comment (1), 5 bytes "short", padding; end of options: length 52.
        "06000000 34000000 00000000 00000000 01000000 04000000 04000000 01020304"
        "0100 0500 73686f7274 000000  0000 0000  34000000"
    )


_packets = st.lists(
    st.tuples(
        st.integers(0, 2),
        st.integers(0, 2**64 - 1),
        st.binary(max_size=70),
        st.text(max_size=9),
    ),
    max_size=20,
)


@settings(max_examples=100)
@given(_packets, st.lists(st.text(st.characters(exclude_characters="\0", codec="utf-8")), min_size=3, max_size=3))
def test_round_trip(tmp_path: Path, packets: list[tuple[int, int, bytes, str]], names: list[str]) -> None:
    path = tmp_path / "out.pcapng"
    with PcapngWriter(path, names) as out:
        for interface, time, data, comment in packets:
            out.write(interface, time, data, comment)
    with open_capture(path) as capture:
        assert list(capture) == [Captured(time, data, len(data), port) for port, time, data, _ in packets]
        assert capture.interfaces == tuple(names)
    assert [entry.name for entry in tmp_path.iterdir()] == ["out.pcapng"]


def test_nothing_appears_before_close(tmp_path: Path) -> None:
    path = tmp_path / "out.pcapng"
    path.write_bytes(b"precious")
    out = PcapngWriter(path, ["a"])
    out.write(0, 1, bytes(3_000_000))
    assert path.read_bytes() == b"precious"
    out.close()
    out.close()
    assert [packet.data for packet in read_all(path)[0]] == [bytes(3_000_000)]


def test_what_was_written_before_an_exception_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "out.pcapng"
    with pytest.raises(ZeroDivisionError), PcapngWriter(path, ["a"]) as out:
        out.write(0, 1, b"kept")
        out.write(0, 1 // 0, b"not reached")
    packets, error = read_all(path)
    assert ([packet.data for packet in packets], error) == ([b"kept"], None)
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize(
    ("interface", "time", "comment"),
    [(1, 0, ""), (-1, 0, ""), (0, -1, ""), (0, 2**64, ""), (0, 0, "x" * 65536)],
)
def test_what_a_pcapng_cannot_hold(tmp_path: Path, interface: int, time: int, comment: str) -> None:
    with PcapngWriter(tmp_path / "out", ["a"]) as out, pytest.raises(ValueError):
        out.write(interface, time, b"x", comment)
    assert read_all(tmp_path / "out") == ([], None)


def test_a_name_that_is_too_long_leaves_nothing_behind(tmp_path: Path) -> None:
    with pytest.raises(ValueError):
        PcapngWriter(tmp_path / "out", ["x" * 65536])
    assert list(tmp_path.iterdir()) == []


def test_folders_that_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(CaptureError, match="cannot be written: No such file or directory"):
        PcapngWriter(tmp_path / "absent" / "out.pcapng", ["a"])
    with pytest.raises(CaptureError, match="cannot be written: Is a directory"):
        PcapngWriter(tmp_path, ["a"])


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_without_permission(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(CaptureError, match="cannot be written: Permission denied"):
        PcapngWriter(tmp_path / "out.pcapng", ["a"])


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
def test_a_full_disk() -> None:
    out = PcapngWriter(Path("/dev/full"), ["a"])
    with pytest.raises(CaptureError, match="/dev/full: cannot be written: No space left on device"):
        for _ in range(3):
            out.write(0, 0, bytes(1_000_000))
    with pytest.raises(CaptureError):
        out.close()
    out.close()


def test_a_device_is_not_replaced() -> None:
    with PcapngWriter(Path(os.devnull), ["a"]) as out:
        out.write(0, 0, b"x")
    assert stat.S_ISCHR(os.stat(os.devnull).st_mode)


def test_a_symbolic_link_stays_one(tmp_path: Path) -> None:
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    link = tmp_path / "link"
    link.symlink_to(folder / "real")
    for _ in range(2):  # a link to nothing, then to a file
        PcapngWriter(link, ["a"]).close()
        assert link.is_symlink()
        assert read_all(folder / "real") == ([], None)


def test_the_file_has_ordinary_permissions(tmp_path: Path) -> None:
    PcapngWriter(tmp_path / "out", []).close()
    (tmp_path / "other").touch()
    assert (tmp_path / "out").stat().st_mode == (tmp_path / "other").stat().st_mode


def test_check_output(tmp_path: Path) -> None:
    first, second = tmp_path / "a.pcap", tmp_path / "b.pcap"
    first.touch()
    (tmp_path / "hard").hardlink_to(first)
    (tmp_path / "soft").symlink_to(first)
    check_output(second, [first])
    check_output(first, [second])
    for name in ("a.pcap", "hard", "soft", "../" + tmp_path.name + "/a.pcap"):
        with pytest.raises(CaptureError, match="also an input"):
            check_output(tmp_path / name, [second, first])
    with pytest.raises(CaptureError, match="also an input"):
        check_output(tmp_path / "absent", [tmp_path / "." / "absent"])
