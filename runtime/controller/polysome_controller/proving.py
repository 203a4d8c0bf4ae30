"""Queue pairs are proved before they have traffic: test packets are parked, read back and compared (rule 14).

The controller stands at a port of the switch itself. A probe names its queue pair by its source MAC; its fields frame
comes back here, is answered with edits that change nothing, and the whole packet must come back as it was sent.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterable
from dataclasses import dataclass

from polysome_controller import control_pb2 as pb
from polysome_controller.context import Context
from polysome_controller.layout import CONTROLLER_VERDICT, mac_number
from polysome_controller.packet_socket import PacketSocket

SOURCE = 0x02_70_6F_70_00_00  # of probes; the low bits are the queue pair's index
ETHER_TYPE = b"\x88\xb5"
ETHERNET, TAG, ROOM = 14, 12, 34  # bytes: of a frame of the NF before its content, and of content in the smallest one
EDITS = 0x10  # version 1, fields or edits
SUFFIX = 7  # bytes, at most, behind a packet that was parked
AT_ONCE = 32  # queue pairs: the switch keeps no more than one packet of each


class Fault(Exception):
    """A probe did not come back as it was sent. `stage`: "sent", "fields" or "packet"; `found`: what came, in words;
    empty: nothing."""

    def __init__(self, probe: pb.Probe, stage: str, found: str = "") -> None:
        super().__init__(found)
        self.probe = probe
        self.stage = stage
        self.found = found


@dataclass
class _Waiting:
    """For the next frame about a queue pair."""

    frame: asyncio.Future[bytes]
    packet: bool  # the packet itself, or a frame of the NF's about it


class Prover:
    """`patience`: seconds until a frame counts as lost."""

    def __init__(self, context: Context) -> None:
        self._config = context.config.bring_up
        self._switch_mac = mac_number(context.config.switch_mac).to_bytes(6, "big")
        self._patience = context.deadline
        self._socket: PacketSocket | None = None
        self._waiting: dict[int, _Waiting] = {}

    async def prove(self, pairs: Iterable[int]) -> dict[int, Fault]:
        """The first fault of each queue pair that has one. Refused if no probe can be sent at all."""
        if self._socket is None:
            self._socket = PacketSocket(self._config.interface, self._take)
        room = asyncio.Semaphore(AT_ONCE)

        async def one(pair: int) -> tuple[int, Fault | None]:
            async with room:
                return pair, await self._fault(pair)

        found = await asyncio.gather(*(one(pair) for pair in pairs))
        return {pair: fault for pair, fault in found if fault is not None}

    def close(self) -> None:
        if self._socket is not None:
            self._socket.close()

    async def _fault(self, pair: int) -> Fault | None:
        try:
            for probe in self._config.probes:
                await self._park_and_read(pair, probe)
        except Fault as fault:
            return fault
        finally:
            self._waiting.pop(pair, None)
        return None

    async def _park_and_read(self, pair: int, probe: pb.Probe) -> None:
        packet = packet_of(probe, pair)
        fields = await self._answer(pair, probe, packet, "fields")
        wrong = wrong_fields(fields, probe, pair, packet)
        if wrong:
            raise Fault(probe, "fields", wrong)
        back = await self._answer(pair, probe, edits_of(fields, probe, packet, self._switch_mac), "packet")
        wrong = wrong_packet(back, packet)
        if wrong:
            raise Fault(probe, "packet", wrong)

    async def _answer(self, pair: int, probe: pb.Probe, frame: bytes, stage: str) -> bytes:
        """What comes back of a frame."""
        assert self._socket is not None
        waiting = _Waiting(asyncio.get_running_loop().create_future(), stage == "packet")
        self._waiting[pair] = waiting
        why = self._socket.send(frame)
        if why:
            raise Fault(probe, "sent", why)
        timer = asyncio.get_running_loop().call_later(self._patience, waiting.frame.cancel)
        try:
            return await waiting.frame
        except asyncio.CancelledError:
            if waiting.frame.cancelled():
                raise Fault(probe, stage) from None
            raise
        finally:
            timer.cancel()

    def _take(self, frame: bytes) -> None:
        """A frame that came in: of the queue pair that its tag, or its source, names."""
        tagged = frame[12:14] == ETHER_TYPE and frame[6:12] == self._switch_mac
        if tagged and len(frame) >= ETHERNET + TAG:
            pair = int.from_bytes(frame[20:22], "big")
        else:
            pair = int.from_bytes(frame[6:12], "big") - SOURCE
        waiting = self._waiting.get(pair)
        if waiting is not None and waiting.packet != tagged and not waiting.frame.done():
            waiting.frame.set_result(frame)


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
    tag = fields[ETHERNET : ETHERNET + TAG - 2] + CONTROLLER_VERDICT.to_bytes(2, "big")
    source = packet[6:12]
    return switch_mac + source + ETHER_TYPE + tag + pieces(packet, probe.edits).ljust(ROOM, b"\0")


def wrong_fields(frame: bytes, probe: pb.Probe, pair: int, packet: bytes) -> str:
    """What is wrong with a fields frame, in words; empty: nothing."""
    tag = frame[ETHERNET : ETHERNET + TAG]
    if tag[0] != EDITS:
        return "the whole packet: it was not split"
    if tag[1] != probe.number:
        return f"a frame of class {tag[1]}, not {probe.number}"
    length = int.from_bytes(tag[8:10], "big")
    if length != probe.length:
        return f"a frame about {length} B, not {probe.length} B"
    wanted = pieces(packet, probe.fields)
    if frame[ETHERNET + TAG :][: len(wanted)] != wanted:
        return "a frame with other bytes than the packet has there"
    return ""


def wrong_packet(back: bytes, packet: bytes) -> str:
    """What is wrong with what came back, in words; empty: nothing."""
    if len(back) < len(packet):
        return f"{len(back)} B of it"
    differ = [i for i, (a, b) in enumerate(zip(back, packet)) if a != b]
    if differ:
        at = differ[0]
        return f"{len(differ)} wrong bytes, the first at {at}: {back[at]:02x}, not {packet[at]:02x}"
    if len(back) > len(packet) + SUFFIX:
        return f"{len(back) - len(packet)} B behind it, where at most {SUFFIX} B may be"
    return ""
