"""What can be wrong with a capture, and how it is told."""

from __future__ import annotations

import codecs
from pathlib import Path
from typing import Final

ETHERNET: Final = 1
"""LINKTYPE_ETHERNET (draft-ietf-opsawg-pcaplinktype), the only link type that is read or written."""

_LINK_TYPES: Final = {
    0: "BSD loopback",
    9: "PPP",
    101: "raw IP",
    105: "IEEE 802.11",
    108: "OpenBSD loopback",
    113: 'Linux "any" device, SLL',
    127: "IEEE 802.11 with radiotap",
    147: "user-defined 0",
    149: "user-defined 2",
    189: "Linux USB",
    192: "PPI",
    195: "IEEE 802.15.4",
    228: "raw IPv4",
    229: "raw IPv6",
    247: "InfiniBand",
    249: "USBPcap",
    276: 'Linux "any" device, SLL2',
}

_MAGICS: Final = (
    (b"\x1f\x8b", "gzip-compressed: gunzip it first"),
    (b"\x28\xb5\x2f\xfd", "zstd-compressed: unzstd it first"),
    (b"\xfd7zXZ\x00", "xz-compressed: unxz it first"),
    (b"BZh", "bzip2-compressed: bunzip2 it first"),
    (b"\x04\x22\x4d\x18", "lz4-compressed: unlz4 it first"),
    (b"PK\x03\x04", "a zip archive: unzip it first"),
    (b"snoop\x00\x00\x00", "a snoop capture: convert it with `editcap -F pcapng`"),
    (b"GMBU", "a Network Monitor capture: convert it with `editcap -F pcapng`"),
    (b"RTSS", "a Network Monitor 1.x capture: convert it with `editcap -F pcapng`"),
    (b"\x7fELF", "a program, not a capture"),
    (b"%PDF-", "a PDF document, not a capture"),
)


class CaptureError(Exception):
    """A capture that cannot be read or written; one line for the user that names the file.

    `offset` is the byte of the file at which it happened, None where that says nothing. The message never
    ends in a full stop and, where there is an offset to know, states it.
    """

    def __init__(self, path: Path, message: str, offset: int | None = None) -> None:
        super().__init__(path, message, offset)
        self.path = path
        self.message = message
        self.offset = offset

    def __str__(self) -> str:
        return f"{self.path}: {self.message}"


class NotACapture(CaptureError):
    """The file is neither pcap nor pcapng; the message says what it looks like."""


class WrongLinkType(CaptureError):
    """The packets are not Ethernet frames; the message names the link type."""


class Damaged(CaptureError):
    """From `offset` on the bytes make no sense; every packet before them was delivered."""


class Truncated(Damaged):
    """The file ends (at `offset`) inside a packet or block; every whole packet was delivered."""


def unusable(path: Path, verb: str, error: OSError) -> CaptureError:
    """The CaptureError for a failed system call; `verb` is what could not be done ("read", "written")."""
    return CaptureError(path, f"cannot be {verb}: {error.strerror or error}")


def wrong_link_type(path: Path, link_type: int, offset: int, who: str) -> WrongLinkType:
    """`who` is whose link type it is: "packets", "packets of interface 2 (wlan0)"."""
    name = _LINK_TYPES.get(link_type)
    named = f"{link_type} ({name})" if name else str(link_type)
    return WrongLinkType(path, f"{who} have link type {named}; only Ethernet ({ETHERNET}) can be processed", offset)


def not_a_capture(path: Path, head: bytes) -> NotACapture:
    """Says what a file that begins with `head` (a few hundred bytes, or all of it) looks like."""
    return NotACapture(path, _looks_like(head), 0)


def _looks_like(head: bytes) -> str:
    if not head:
        return "empty, not a capture"
    for magic, what in _MAGICS:
        if head.startswith(magic):
            return what
    if _is_text(head):
        return "text, not a capture (`tcpdump -w FILE` writes captures)"
    if len(head) < 4:
        return f"no capture: only {len(head)} bytes long"
    return f"neither pcap nor pcapng: it begins with the bytes {head[:4].hex(' ')}"


def _is_text(head: bytes) -> bool:
    try:  # incremental, since the head may end in the middle of a character
        text = codecs.getincrementaldecoder("utf-8")().decode(head)
    except UnicodeDecodeError:
        return False
    return bool(text) and all(character.isprintable() or character in "\t\r\n\f" for character in text)
