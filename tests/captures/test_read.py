"""Opening files that are no captures, garbage, and pipes."""

from __future__ import annotations

import gzip
import os
import pickle
import struct
import threading
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from polysome.captures.read import CaptureError, NotACapture, open_capture

from .vectors import Pcapng, pcap_header, pcap_record, read_all


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "empty, not a capture"),
        (gzip.compress(pcap_header("<"), mtime=0), "gzip-compressed: gunzip it first"),
        (b"\x28\xb5\x2f\xfd" + bytes(20), "zstd-compressed: unzstd it first"),
        ("12:00:01 IP a > b: größer\n".encode(), "text, not a capture (`tcpdump -w FILE` writes captures)"),
        (("x" * 511 + "ö").encode(), "text, not a capture (`tcpdump -w FILE` writes captures)"),  # cut in the o
        (b"\xd4\xc3", "no capture: only 2 bytes long"),
        (b"\x01\x02\x03\x04\x05", "neither pcap nor pcapng: it begins with the bytes 01 02 03 04"),
        (b"snoop\0\0\0" + bytes(20), "a snoop capture: convert it with `editcap -F pcapng`"),
    ],
)
def test_not_a_capture(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "in"
    path.write_bytes(content)
    with pytest.raises(NotACapture) as caught:
        open_capture(path)
    assert str(caught.value) == f"{path}: {message}"


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(CaptureError, match="cannot be read: No such file or directory"):
        open_capture(tmp_path / "absent.pcap")
    with pytest.raises(CaptureError, match="cannot be read: Is a directory"):
        open_capture(tmp_path)


def test_errors_can_cross_processes(tmp_path: Path) -> None:
    error = pickle.loads(pickle.dumps(NotACapture(tmp_path, "empty", 0)))
    assert (type(error), str(error), error.offset) == (NotACapture, f"{tmp_path}: empty", 0)


def test_a_pipe_is_read_lazily(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    content = pcap_header("<") + pcap_record("<", 1, 0, b"x" * 1000) * 1000

    def feed() -> None:
        path.write_bytes(content)

    feeder = threading.Thread(target=feed)
    feeder.start()
    with open_capture(path) as capture:
        assert capture.size == 0
        assert sum(1 for _ in capture) == 1000
        assert capture.position == len(content)
    feeder.join()


_MAGICS = [struct.pack(order + "I", magic) for order in "<>" for magic in (0xA1B2C3D4, 0xA1B23C4D, 0xA1B2CD34)]
_SMALL = (
    Pcapng().section().interface("a", resolution=9, offset=3).enhanced(0, 1, b"abc").simple(b"de").obsolete(0, 2, b"")
)
_WHOLE = [
    _SMALL.content,
    Pcapng(">").section().interface("a", resolution=0x85).enhanced(0, 1, b"abc").content,
    pcap_header("<") + pcap_record("<", 1, 2, b"abc") + pcap_record("<", 1, 2, b"defgh"),
]


@st.composite
def _mangled(draw: st.DrawFn) -> bytes:
    """A good capture with a few bytes overwritten, taken out or put in."""
    content = bytearray(draw(st.sampled_from(_WHOLE)))
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(content)))
        content[at : at + draw(st.integers(0, 4))] = draw(st.binary(max_size=4))
    return bytes(content)


_FUZZ = settings(max_examples=500)


@_FUZZ
@given(
    st.one_of(
        st.binary(max_size=200),
        st.builds(bytes.__add__, st.sampled_from(_MAGICS), st.binary(max_size=200)),
        st.builds(bytes.__add__, st.just(_SMALL.content[:28]), st.binary(max_size=200)),
        _mangled(),
    )
)
def test_garbage_raises_nothing_but_capture_errors(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "in"
    path.write_bytes(content)
    packets, error = read_all(path)
    assert all(0 <= packet.time < 2**64 for packet in packets)
    if error is not None:
        assert error.path == path
        assert error.offset is not None and 0 <= error.offset <= len(content)
