"""The split protocol's numbers, as `protocol.toml` beside this says them: for the compiler, and for the controller,
which has this package beside its own. It needs Python's standard library alone.
"""

from __future__ import annotations

import hashlib
import tomllib
from dataclasses import dataclass
from enum import IntEnum
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


@dataclass(frozen=True)
class Verdicts:
    """Of an NF: a port of the spec, of which there are `ports` at most; `set` and a mask of ports; `controller`.

    `proof`: the controller's own; what else begins with the first `proof_bits` of its 16 bits is nobody's.
    """

    ports: int
    set: int
    proof: int
    proof_bits: int
    controller: int


@dataclass(frozen=True)
class Clock:
    """The program's: `bits` of a time stamp in ns, above its `low_bits`."""

    low_bits: int
    bits: int

    @property
    def tick(self) -> int:
        """ns."""
        return 1 << self.low_bits


@dataclass(frozen=True)
class Requests:
    """To memory servers. `ack_every`: of so many one asks for an acknowledgement; `most_pad`, `icrc`: bytes."""

    ack_every: int
    most_pad: int
    icrc: int


@dataclass(frozen=True)
class Queues:
    """Of a port: for all frames, and the one that is served first, for what sets a PSN."""

    all: int
    first: int


@dataclass(frozen=True)
class Roce:
    """What IPv4, UDP and BTH of every request say."""

    port: int
    source_port: int
    fragment: int
    ttl: int
    flags: int
    partition: int
    ack_request: int


@dataclass(frozen=True)
class Opcodes:
    """Of the base transport header."""

    write: int
    read: int
    response: int
    acknowledge: int


@dataclass(frozen=True)
class Syndromes:
    """Of an acknowledgement; its bits `kind` tell `ack` from `nak`, of which one code is `sequence_nak`."""

    kind: int
    ack: int
    nak: int
    sequence_nak: int


@dataclass(frozen=True)
class Hashes:
    """`bucket`: of an order class, by the chip's name; `text`: of programs, NFs and configs, by OpenSSL's."""

    bucket: str
    text: str


def _told() -> dict[str, Any]:
    with (Path(__file__).parent / "protocol.toml").open("rb") as file:
        return tomllib.load(file)


TOLD = _told()  # as it is in the file
HEADERS = {name: header(name, told["fields"]) for name, told in TOLD["headers"].items()}
FRAMES = Frames(**TOLD["frames"])
FLAGS = Flags(**TOLD["flags"])

VERDICTS = Verdicts(**TOLD["verdicts"])
CLOCK = Clock(**TOLD["clock"])
REQUESTS = Requests(**TOLD["requests"])
QUEUES = Queues(**TOLD["queues"])
ROCE = Roce(**TOLD["roce"])
OPCODES = Opcodes(**TOLD["opcodes"])
SYNDROMES = Syndromes(**TOLD["syndromes"])
HASHES = Hashes(**TOLD["hashes"])


class Role(IntEnum):
    """What a port of the switch is for."""

    plain = TOLD["roles"]["plain"]
    traffic = TOLD["roles"]["traffic"]
    nf = TOLD["roles"]["nf"]
    server = TOLD["roles"]["server"]
    recirculation = TOLD["roles"]["recirculation"]
    generator = TOLD["roles"]["generator"]
    controller = TOLD["roles"]["controller"]


ETHERNET, TAG, BRIDGE, RETRY = (HEADERS[name] for name in ("ethernet", "tag", "bridge", "retry"))
PORT_METADATA, GENERATOR = HEADERS["port_metadata"], HEADERS["generator"]
IPV4, UDP, BTH, RETH, AETH = (HEADERS[name] for name in ("ipv4", "udp", "bth", "reth", "aeth"))
CONTENT = ETHERNET.size + TAG.size  # where fields, edits or a packet begin in a frame between switch and NF
CLASSES = TAG["parse_class"].most  # classes that frames can tell apart: numbers from 1
MOST_SUFFIX = 3 + REQUESTS.icrc  # bytes behind a parked packet that leaves: of its trailer, and the response's ICRC
LAST_SEQ = TAG["seq"].most - 1  # numbers of parked packets, from 1: neither 0 nor all ones is one


def _check(tag: Header) -> None:
    """ValueError for roles that are not known here, and for a tag that the switch cannot take apart."""
    version, flags, seq = tag["version"], tag["flags"], tag["seq"]
    if version.at != flags.at or version.bits + flags.bits != 8:
        raise ValueError("the tag's version and flags must fill one byte, which says what a frame is")
    if set(TOLD["roles"]) != {role.name for role in Role}:
        raise ValueError("the roles of ports are others than `Role` knows")
    if seq.first == 0 or seq.end == 8 * tag.size or flags.at > seq.at:
        raise ValueError("in the tag, version and flags stand before seq, and something behind it")


_check(TAG)


def text_hash(text: str) -> str:
    """Hexadecimal, of a P4 program or an NF's header: by it parts know that they mean the same."""
    return hashlib.new(HASHES.text, text.encode()).hexdigest()


def kind(flags: int) -> int:
    """The byte of a tag, of our version, that says what a frame is."""
    return TAG.pack(version=FRAMES.version, flags=flags)[TAG["version"].at]
