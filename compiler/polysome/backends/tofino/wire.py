"""The protocol's numbers and headers (polysome_protocol) as the templates of the P4 program need them."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from typing import Any

from polysome.plan.architectures.ribosome import requests
from polysome_protocol import (
    AETH,
    BRIDGE,
    BTH,
    CLOCK,
    ETHERNET,
    FLAGS,
    FRAMES,
    GENERATOR,
    HASHES,
    IPV4,
    LAST_SEQ,
    OPCODES,
    PORT_METADATA,
    QUEUES,
    RETH,
    RETRY,
    ROCE,
    SYNDROMES,
    TAG,
    UDP,
    VERDICTS,
    Role,
)
from polysome_protocol.headers import Field

_WORD = (1 << TAG["seq"].bits) - 1


def _parts() -> Mapping[str, tuple[Field, ...]]:
    """The tag as three headers of the program: its seq is also the head of a cell."""
    at = TAG.fields.index(TAG["seq"])
    return {"tag": TAG.fields[:at], "cell": TAG.fields[at : at + 1], "tag_end": TAG.fields[at + 1 :]}


_PLACE = {field.name: f"{part}.{field.name}" for part, fields in _parts().items() for field in fields}


def _shown(fields: tuple[Field, ...]) -> str:
    return "{" + ", ".join(field.note or field.title or field.name.replace("_", " ") for field in fields) + "}"


def _ahead(name: str, bits: int = 0, behind: str = "") -> str:
    """A field of the tag, or its first `bits`, once the field `behind` was taken from the packet, or nothing of the
    tag: a look at what is still to come, or what was taken already."""
    taken = TAG[behind].end if behind else 0
    return _look(TAG[name], taken, bits) if TAG[name].first >= taken else f"hdr.{_PLACE[name]}"


def _ahead_of(fields: tuple[Field, ...], name: str) -> str:
    """A look at a field of a header that is still to come."""
    return _look(next(field for field in fields if field.name == name), 0, 0)


def _look(field: Field, taken: int, bits: int) -> str:
    """`taken`: bits of its header; `bits`: of the field, 0 for all."""
    all_of_it, low = field.end - taken, field.bits - (bits or field.bits)
    piece = "" if all_of_it == field.bits and not low else f"[{field.bits - 1}:{low}]"
    return f"pkt.lookahead<bit<{all_of_it}>>(){piece}"


def _mirrored() -> str:
    """What a copy has before it: as the packet's bridge header, but for what egress makes of it."""
    values = ("md.mirror_copy" if field.name == "copy" else f"hdr.bridge.{field.name}" for field in BRIDGE.fields)
    return textwrap.fill(", ".join(values), 104)


WIRE_VALUES: Mapping[str, Any] = {
    "ether_type": FRAMES.ether_type,
    "version": FRAMES.version,
    "flags": FLAGS,
    "verdicts": VERDICTS,
    "proof": VERDICTS.proof >> TAG["port"].bits - VERDICTS.proof_bits,
    "roles": [role for role in Role if role != Role.plain],
    "queues": QUEUES,
    "tick": CLOCK.tick / 1000,
    "clock": f"{CLOCK.low_bits + CLOCK.bits - 1}:{CLOCK.low_bits}",
    "bucket_hash": HASHES.bucket,
    "last_seq": LAST_SEQ,
    "most_queue_pairs": TAG["queue_pair"].most + 1,
    "seq_bits": TAG["seq"].bits - TAG["seq"].spare,
    "not_seq": _WORD - TAG["seq"].most,
    "ethernet": ETHERNET.fields,
    "tag": _parts(),
    "tag_parts": ", ".join(map(_shown, _parts().values())),
    "place": _PLACE,
    "ahead": _ahead,
    "ahead_of": _ahead_of,
    "bridge": BRIDGE.fields,
    "mirrored": _mirrored(),
    "retry": RETRY.fields,
    "port_metadata": PORT_METADATA.fields,
    "generator": GENERATOR.fields,
    "roce_numbers": ROCE,
    "opcodes": OPCODES,
    "syndromes": SYNDROMES,
    "number_bits": BTH["queue_pair"].bits,
    "psn_bits": BTH["psn"].bits,
    "read_length": requests.READ - ETHERNET.size,
    "read_udp_length": requests.READ - ETHERNET.size - IPV4.size,
    "roce": {
        "roce_ethernet": ETHERNET.fields,
        "roce_ipv4": IPV4.fields,
        "roce_udp": UDP.fields,
        "bth": BTH.fields,
        "reth": RETH.fields,
        "aeth": AETH.fields,
    },
}
