"""What frames between switch, NF and memory servers say of themselves, read off their bytes (runtime/PROTOCOL.md)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from tests import tags

from polysome_protocol import CONTENT, FLAGS

SPLIT, WHOLE, OWN = FLAGS.split, FLAGS.whole, FLAGS.own
PACKET = CONTENT  # where a whole packet begins, or what the NF reads
OPCODE, WRITE, READ, RESPONSE, ACK = 42, 0x0A, 0x0C, 0x10, 0x11  # of requests and answers


def kind(frame: bytes) -> int:
    """Of a frame on the NF's link: SPLIT, WHOLE or OWN."""
    return tags.of(frame, "flags")


def tag_seq(frame: bytes) -> int:
    return tags.of(frame, "seq")


def queue_pair(frame: bytes) -> int:
    """Index of the one that parks, or parked, the packet of a frame on the NF's link."""
    return tags.of(frame, "queue_pair")


def peer(frame: bytes) -> int:
    """The queue pair number that a request or an answer is for."""
    return int.from_bytes(frame[47:50], "big")


def psn(frame: bytes) -> int:
    return int.from_bytes(frame[51:54], "big")


def address(request: bytes) -> int:
    return int.from_bytes(request[54:62], "big")


def cell_seq(write: bytes) -> int:
    return int.from_bytes(write[70:74], "big")


def written(write: bytes) -> bytes:
    """The packet in a WRITE: behind the pad, whose first byte is its length, and before the ICRC."""
    return write[74 + write[74] : -4]


def opcode(frame: bytes) -> int:
    """Of a request or an answer."""
    return frame[OPCODE]


def of_other_lengths(frames: Iterable[bytes], planned: Mapping[int, int]) -> list[str]:
    """Of frames of fields, or of edits, those that are not as long as is planned for their class."""
    return [frame.hex() for frame in frames if planned.get(tags.of(frame, "parse_class")) != len(frame)]


def read_seq(response: bytes) -> int:
    """Of the cell that it brings."""
    return int.from_bytes(response[58:62], "big")
