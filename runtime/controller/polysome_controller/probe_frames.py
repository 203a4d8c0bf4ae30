"""Frames of probes: the packet that is parked, what the NF's side says about it, and what comes back (rule 14)."""

from __future__ import annotations

import os
from collections.abc import Iterable

from polysome_controller import control_pb2 as pb
from polysome_protocol import CONTENT, ETHERNET, FLAGS, FRAMES, MOST_SUFFIX, TAG, VERDICTS

SOURCE = 0x02_70_6F_70_00_00  # of probes; the low bits are the queue pair's index
ROOM = FRAMES.smallest - CONTENT  # bytes of content in the smallest frame of the NF


def packet_of(probe: pb.Probe, pair: int) -> bytes:
    """Bytes that nobody knows before: what lay in the cell cannot pass for them."""
    headers = probe.headers[:6] + (SOURCE + pair).to_bytes(6, "big") + probe.headers[12:]
    return headers + os.urandom(probe.length - len(headers))


def pieces(packet: bytes, wanted: Iterable[pb.Piece]) -> bytes:
    """Bits of the packet, each piece right-aligned in its bytes."""
    whole, bits = int.from_bytes(packet, "big"), 8 * len(packet)
    content = b""
    for piece in wanted:
        value = whole >> (bits - piece.first - piece.width) & ((1 << piece.width) - 1)
        content += value.to_bytes(piece.bytes, "big")
    return content


def edits_of(fields: bytes, probe: pb.Probe, packet: bytes, switch_mac: bytes) -> bytes:
    """The answer to a fields frame that leaves the packet as it is, and sends it to the controller."""
    tag = TAG.pack(**{**TAG.unpack(fields, ETHERNET.size), "port": VERDICTS.proof})
    source, ether_type = packet[6:12], FRAMES.ether_type.to_bytes(2, "big")
    return switch_mac + source + ether_type + tag + pieces(packet, probe.edits).ljust(ROOM, b"\0")


def tagged(frame: bytes, switch_mac: bytes) -> bool:
    """Is it the switch's, about a packet?"""
    ether_type = ETHERNET["ether_type"]
    ours = len(frame) >= CONTENT and ether_type.read(frame) == FRAMES.ether_type
    return ours and frame[6:12] == switch_mac


def queue_pair(frame: bytes) -> int:
    """Of a frame that is tagged."""
    return TAG["queue_pair"].read(frame, ETHERNET.size)


def wrong_fields(frame: bytes, probe: pb.Probe, pair: int, packet: bytes) -> str:
    """What is wrong with a fields frame, in words; empty: nothing."""
    tag = TAG.unpack(frame, ETHERNET.size)
    if (tag["version"], tag["flags"]) != (FRAMES.version, FLAGS.split):
        return "the whole packet: it was not split"
    if tag["parse_class"] != probe.number:
        return f"a frame of class {tag['parse_class']}, not {probe.number}"
    if tag["length"] != probe.length:
        return f"a frame about {tag['length']} B, not {probe.length} B"
    wanted = pieces(packet, probe.fields)
    if frame[CONTENT:][: len(wanted)] != wanted:
        return "a frame with other bytes than the packet has there"
    return ""


def wrong_packet(back: bytes, packet: bytes, free: Iterable[pb.Piece] = ()) -> str:
    """What is wrong with what came back, in words; empty: nothing. `free`: what may have become anything."""
    if len(back) < len(packet):
        return f"{len(back)} B of it"
    for piece in free:
        back, packet = _without(back, piece), _without(packet, piece)
    differ = [i for i, (a, b) in enumerate(zip(back, packet, strict=False)) if a != b]
    if differ:
        at = differ[0]
        return f"{len(differ)} wrong bytes, the first at {at}: {back[at]:02x}, not {packet[at]:02x}"
    if len(back) > len(packet) + MOST_SUFFIX:
        return f"{len(back) - len(packet)} B behind it, where at most {MOST_SUFFIX} B may be"
    return ""


def _without(packet: bytes, piece: pb.Piece) -> bytes:
    """The packet with zeros there."""
    whole, bits = int.from_bytes(packet, "big"), 8 * len(packet)
    return (whole & ~(((1 << piece.width) - 1) << bits - piece.first - piece.width)).to_bytes(len(packet), "big")
