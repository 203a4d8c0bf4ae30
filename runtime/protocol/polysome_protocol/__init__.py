"""The split protocol's numbers, as `protocol.toml` beside this says them: for the compiler, and for the controller,
which has this package beside its own. It needs Python's standard library alone.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from polysome_protocol.headers import Header, header


@dataclass(frozen=True)
class Frames:
    """Between switch and NF; `smallest`: bytes of an Ethernet frame, without its check sequence."""

    ether_type: int
    version: int
    smallest: int


@dataclass(frozen=True)
class Flags:
    """What a frame is, in its tag."""

    split: int
    whole: int
    own: int


def _told() -> dict[str, Any]:
    with (Path(__file__).parent / "protocol.toml").open("rb") as file:
        return tomllib.load(file)


TOLD = _told()  # as it is in the file
HEADERS = {name: header(name, told["fields"]) for name, told in TOLD["headers"].items()}
FRAMES = Frames(**TOLD["frames"])
FLAGS = Flags(**TOLD["flags"])

ETHERNET, TAG, BRIDGE, RETRY = (HEADERS[name] for name in ("ethernet", "tag", "bridge", "retry"))
IPV4, UDP, BTH, RETH, AETH = (HEADERS[name] for name in ("ipv4", "udp", "bth", "reth", "aeth"))
CONTENT = ETHERNET.size + TAG.size  # where fields, edits or a packet begin in a frame between switch and NF
CLASSES = TAG["parse_class"].most  # classes that frames can tell apart: numbers from 1
LAST_SEQ = TAG["seq"].most - 1  # numbers of parked packets, from 1: neither 0 nor all ones is one


def _check(tag: Header) -> None:
    """ValueError for an order of the tag's fields that the switch cannot take apart."""
    version, flags, seq = tag["version"], tag["flags"], tag["seq"]
    if version.at != flags.at or version.bits + flags.bits != 8:
        raise ValueError("the tag's version and flags must fill one byte, which says what a frame is")
    if seq.first == 0 or seq.end == 8 * tag.size or flags.at > seq.at:
        raise ValueError("in the tag, version and flags stand before seq, and something behind it")


_check(TAG)


def kind(flags: int) -> int:
    """The byte of a tag, of our version, that says what a frame is."""
    return TAG.pack(version=FRAMES.version, flags=flags)[TAG["version"].at]
