"""L10.1 to L10.7 on random packets: what leaves is, byte for byte, a packet whose checksums were computed in full.

`packet_model` writes a packet out before and after the same edit. A checksum that was wrong by some amount is wrong by
the same amount then; bytes that no edit touches are the same; UDP without a checksum stays so.
"""

from __future__ import annotations

import copy
from dataclasses import replace
from functools import cache

from checksum_strategies import found, found_in_tunnel, fragments, packet, tunnel, written_in_full
from hypothesis import given, settings
from hypothesis import strategies as st
from packet_model import Eth, Ipv4, Ipv6, Layer, frame
from reshape_model import (
    L4_OPERATIONS,
    TUNNEL_OPERATIONS,
    USES,
    operations,
    reshape,
    reshape_tunnel,
    truncated,
)
from rules.harness import Outcome, nf, start

from polysome.interp.machine import Machine

MANY = settings(max_examples=250)
FAST = settings(max_examples=150)

# Header as the parser calls it: its fields, and what the model calls them if otherwise; and their types.
IP4 = {"src": "ipv4", "dst": "ipv4", "ttl": "u8", "dscp": "bit<6>", "ecn": "bit<2>", "identification": "u16"}
IP6 = {"src": "ipv6", "dst": "ipv6", "hop_limit": "u8", "dscp": "bit<6>", "ecn": "bit<2>", "flow_label": "bit<20>"}
PORTS = {"sport": "u16", "dport": "u16"}
TCP = PORTS | {"sequence": "u32", "acknowledgement": "u32", "window": "u16"}
ECHO = {"identifier": "u16", "sequence": "u16"}
TAG = {"vid": "bit<12>", "pcp": "bit<3>"}
LINK = {"src": "mac", "dst": "mac"}
L4_FIELDS = {
    "ethernet": LINK, "vlan[0]": TAG, "vlan[1]": TAG, "ipv4": IP4, "ipv6": IP6, "tcp": TCP, "udp": PORTS, "icmp": ECHO,
    "icmpv6": ECHO, "icmp.quoted.ipv4": IP4, "icmp.quoted.tcp": TCP, "icmp.quoted.udp": PORTS,
    "icmp.quoted.icmp": ECHO, "icmpv6.quoted.ipv6": IP6, "icmpv6.quoted.tcp": TCP, "icmpv6.quoted.udp": PORTS,
    "icmpv6.quoted.icmpv6": ECHO,
}  # fmt: skip
TUNNEL_FIELDS = {
    "outer.ethernet": LINK, "outer.vlan[0]": TAG, "outer.ipv4": IP4, "outer.ipv6": IP6, "outer.udp": {"sport": "u16"},
    "vxlan": {"vni": "bit<24>"}, "inner.ethernet": LINK, "inner.vlan": TAG, "inner.ipv4": IP4, "inner.ipv6": IP6,
    "inner.tcp": TCP, "inner.udp": PORTS, "inner.icmp": ECHO, "inner.icmpv6": ECHO,
}  # fmt: skip
WIDTHS = {"mac": 48, "ipv4": 32, "ipv6": 128, "u8": 8, "u16": 16, "u32": 32}
Fields = dict[str, dict[str, str]]
Edits = dict[tuple[str, str], int]


def width(type: str) -> int:
    return WIDTHS[type] if type in WIDTHS else int(type[4:-1])


class Rewriter:
    """An NF that writes whatever its config says: bit i of `which` and value i of `edit` are for field i."""

    def __init__(self, fields: Fields, use: str, more: str = "", last: str = "") -> None:
        self.fields = fields
        self.names = [(header, name) for header, types in fields.items() for name in types]
        types = [fields[header][name] for header, name in self.names]
        members = "".join(f", v{i}: {type}" for i, type in enumerate(types))
        body = "".join(
            f"if {header} {{ if edit.which[{i}:{i}] == 1 {{ {header}.{name} = edit.v{i}; }} }}\n"
            for i, (header, name) in enumerate(self.names)
        )
        declarations = f"struct Edit {{ which: bit<128>{members} }}"
        items = "relevant packet;\nconfig edit: Edit;\nconfig op: bit<32>;\nconfig most: bytes;\n"
        self.zero = (0,) * (1 + len(types))
        values = {"edit": self.zero, "op": 0, "most": 0}
        self.machine: Machine
        self.outcome: Outcome
        spec = nf(body + more + "\nsend b;\n" + last, items, declarations, use)
        self.machine, self.outcome = start(spec, values)
        self.time = 0

    def run(self, data: bytes, edits: Edits, op: int = 0, most: int = 0) -> bytes:
        """The packet as it leaves."""
        values = list(self.zero)
        for key, value in edits.items():
            number = self.names.index(key)
            values[0] |= 1 << number
            values[number + 1] = value
        self.time += 1
        self.machine.change_at(self.time, {"edit": tuple(values), "op": op, "most": most})
        self.machine.arrive(0, self.time, data)
        self.outcome.emitted.clear()
        ((port, _, left, _),) = self.outcome.left
        self.outcome.left.clear()
        assert port == "b"
        return left


@st.composite
def edits(draw: st.DrawFn, layers: list[Layer], fields: Fields) -> Edits:
    """New values for some of the fields that are there."""
    there = found_in_tunnel(layers) if "inner.ipv4" in fields else found(layers)
    possible = [(header, name) for header in there if header in fields for name in fields[header]]
    possible = [(header, name) for header, name in possible if written_in_full(layers, header, name)]
    chosen = draw(st.lists(st.sampled_from(possible), unique=True, max_size=6)) if possible else []
    values: Edits = {}
    for header, name in chosen:
        top = 2 ** width(fields[header][name]) - 1
        values[header, name] = draw(st.one_of(st.integers(0, top), st.sampled_from([0, top])))
    return values


def edited(layers: list[Layer], changes: Edits, in_tunnel: bool = False) -> list[Layer]:
    """The packet after the edits, without what is behind its network packet (L4.3)."""
    after = copy.deepcopy(layers)
    there = (found_in_tunnel if in_tunnel else found)(after)
    for (header, name), value in changes.items():
        setattr(there[header], name, value)
    return without_trailer(after)


def without_trailer(layers: list[Layer]) -> list[Layer]:
    first, *rest = layers
    has_end = any(isinstance(layer, (Ipv4, Ipv6)) for layer in rest)
    return [replace(first, trailer=b""), *rest] if isinstance(first, Eth) and has_end else layers


@cache
def rewriter() -> Rewriter:
    return Rewriter(L4_FIELDS, "net.l4")


@cache
def tunnel_rewriter() -> Rewriter:
    return Rewriter(TUNNEL_FIELDS, "net.tunnel")


# ---------------------------------------------------------------- writes


@FAST
@given(st.data())
def test_writes_keep_right_checksums_right_and_wrong_ones_wrong(data: st.DataObject) -> None:
    layers = data.draw(packet())
    changes = data.draw(edits(layers, L4_FIELDS))
    assert rewriter().run(frame(layers), changes).hex() == frame(edited(layers, changes)).hex()


@FAST
@given(st.data())
def test_writes_in_tunnels(data: st.DataObject) -> None:
    layers = data.draw(tunnel())
    changes = data.draw(edits(layers, TUNNEL_FIELDS))
    assert tunnel_rewriter().run(frame(layers), changes).hex() == frame(edited(layers, changes, True)).hex()


@FAST
@given(st.data())
def test_writes_to_fragments_keep_the_checksum_of_what_they_make_together(data: st.DataObject) -> None:
    first, second = data.draw(fragments())
    changes = data.draw(edits(first, L4_FIELDS))
    later = {key: value for key, value in changes.items() if key[0] in found(second)}
    whole = [edited(first, changes), edited(edited(second, later), {k: v for k, v in changes.items() if k in later})]
    assert rewriter().run(frame(first), changes).hex() == frame(whole[0]).hex()
    assert rewriter().run(frame(second), later).hex() == frame(whole[1]).hex()


@FAST
@given(packet())
def test_without_writes_nothing_changes(layers: list[Layer]) -> None:
    assert rewriter().run(frame(layers), {}).hex() == frame(without_trailer(layers)).hex()


@FAST
@given(st.binary(max_size=120))
def test_any_bytes_go_through(data: bytes) -> None:
    layers = b"\2" * 12 + b"\x08\0" + data
    left = rewriter().run(layers, {}) if not _short(layers) else b""
    assert layers.startswith(left)


def _short(data: bytes) -> bool:
    ip = data[14:]
    size = (ip[0] & 15) * 4 if ip else 0
    total = int.from_bytes(ip[2:4], "big")
    return len(ip) >= max(size, 20) and ip[0] >> 4 == 4 and size >= 20 and total >= size and total > len(ip)


# ---------------------------------------------------------------- push, pop, truncate


@cache
def reshaper() -> Rewriter:
    few = {name: L4_FIELDS[name] for name in ("ethernet", "vlan[0]", "ipv4", "ipv6", "tcp", "udp", "icmp.quoted.ipv4")}
    return Rewriter(few, f"net.l4;\n{USES.removesuffix(';')}", operations(L4_OPERATIONS))


@cache
def tunnel_reshaper() -> Rewriter:
    few = {name: TUNNEL_FIELDS[name] for name in ("outer.ipv4", "outer.ipv6", "inner.ipv4", "inner.ipv6", "inner.udp")}
    return Rewriter(few, "net.tunnel", operations(TUNNEL_OPERATIONS))


def some_operations(count: int) -> st.SearchStrategy[int]:
    """A few of so many operations."""
    return st.lists(st.integers(0, count - 1), unique=True, max_size=4).map(lambda bits: sum(1 << b for b in bits))


@MANY
@given(st.data())
def test_push_pop_and_truncate(data: st.DataObject) -> None:
    nf, layers, op = reshaper(), data.draw(packet()), data.draw(some_operations(len(L4_OPERATIONS)))
    changes = data.draw(edits(layers, nf.fields))
    most = data.draw(st.integers(0, len(frame(layers)) + 60))
    expected = reshape(edited(layers, changes), op, most)
    assert nf.run(frame(layers), changes, op, most).hex() == frame(expected).hex()


@MANY
@given(st.data())
def test_push_pop_and_truncate_in_tunnels(data: st.DataObject) -> None:
    nf, layers, op = tunnel_reshaper(), data.draw(tunnel()), data.draw(some_operations(len(TUNNEL_OPERATIONS)))
    changes = data.draw(edits(layers, nf.fields))
    most = data.draw(st.integers(0, len(frame(layers)) + 20))
    if op & 0b1 and op >> 4 & 1:
        op &= ~0b1  # both pop the VXLAN header
    expected = reshape_tunnel(edited(layers, changes, True), op, most)
    assert nf.run(frame(layers), changes, op, most).hex() == frame(expected).hex()


@settings(FAST, max_examples=40)
@given(st.data())
def test_truncation_at_every_boundary(data: st.DataObject) -> None:
    layers = data.draw(packet())
    whole = frame(layers)
    for most in range(len(whole) + 2):
        left = reshaper().run(whole, {}, 1 << (len(L4_OPERATIONS) - 1), most)
        assert left.hex() == frame(truncated(without_trailer(layers), most)).hex()
