"""The protocol's numbers and headers (polysome_protocol) as the templates of the P4 program need them."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from typing import Any

from polysome_protocol import AETH, BRIDGE, BTH, ETHERNET, FLAGS, FRAMES, IPV4, LAST_SEQ, RETH, RETRY, TAG, UDP
from polysome_protocol.headers import Field

_WORD = (1 << TAG["seq"].bits) - 1


def _parts() -> Mapping[str, tuple[Field, ...]]:
    """The tag as three headers of the program: its seq is also the head of a cell."""
    at = TAG.fields.index(TAG["seq"])
    return {"tag": TAG.fields[:at], "cell": TAG.fields[at : at + 1], "tag_end": TAG.fields[at + 1 :]}


def _shown(fields: tuple[Field, ...]) -> str:
    return "{" + ", ".join(field.note or field.title or field.name.replace("_", " ") for field in fields) + "}"


def _ahead(name: str, bits: int = 0, behind: str = "") -> str:
    """A look at a field of the tag that is still to come, or at its first `bits`: once the field `behind` was taken
    from the packet, or nothing of the tag."""
    field = TAG[name]
    all_of_it = field.end - (TAG[behind].end if behind else 0)
    low = field.bits - bits if bits else 0
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
    "last_seq": LAST_SEQ,
    "not_seq": _WORD - TAG["seq"].most,
    "ethernet": ETHERNET.fields,
    "tag": _parts(),
    "tag_parts": ", ".join(map(_shown, _parts().values())),
    "place": {field.name: f"{part}.{field.name}" for part, fields in _parts().items() for field in fields},
    "ahead": _ahead,
    "bridge": BRIDGE.fields,
    "mirrored": _mirrored(),
    "retry": RETRY.fields,
    "roce": {
        "roce_ethernet": ETHERNET.fields,
        "roce_ipv4": IPV4.fields,
        "roce_udp": UDP.fields,
        "bth": BTH.fields,
        "reth": RETH.fields,
        "aeth": AETH.fields,
    },
}
