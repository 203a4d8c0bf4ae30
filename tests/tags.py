"""Frames between switch and NF, as tests make and read them: with values that the protocol forbids, too."""

from __future__ import annotations

from polysome_protocol import CONTENT, ETHERNET, FRAMES, TAG

ETHER_TYPE = FRAMES.ether_type.to_bytes(2, "big")


def tag(**values: int) -> bytes:
    """Of our version, if none is given; all else that is not given is 0. Values may have all bits of their fields."""
    whole = 0
    for name, value in {"version": FRAMES.version, **values}.items():
        field = TAG[name]
        assert 0 <= value < 1 << field.bits, (name, value)
        whole |= value << 8 * TAG.size - field.end
    return whole.to_bytes(TAG.size, "big")


def frame(destination: bytes, source: bytes, flags: int, content: bytes = b"", **values: int) -> bytes:
    """With zeros up to the shortest frame."""
    head = destination + source + ETHER_TYPE + tag(flags=flags, **values)
    return (head + content).ljust(FRAMES.smallest, b"\0")


def is_tagged(data: bytes) -> bool:
    return len(data) >= CONTENT and ETHERNET["ether_type"].read(data) == FRAMES.ether_type


def of(data: bytes, name: str) -> int:
    """A field of a frame's tag."""
    return TAG[name].read(data, ETHERNET.size)


def tag_of(data: bytes) -> bytes:
    return data[ETHERNET.size : CONTENT]


def content_of(data: bytes) -> bytes:
    return data[CONTENT:]


def changed(data: bytes, **values: int) -> bytes:
    """The frame with other values in its tag."""
    told = TAG.unpack(data, ETHERNET.size)
    return data[: ETHERNET.size] + tag(**{**told, **values}) + data[CONTENT:]
