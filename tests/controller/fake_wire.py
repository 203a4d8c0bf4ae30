"""The controller's port of a switch that parks probes, and servers that keep them, without either."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from polysome_controller import control_pb2 as pb
from polysome_controller.probe_frames import SOURCE, pieces, queue_pair
from polysome_protocol import CONTENT, ETHERNET, FLAGS, FRAMES, TAG

from .fake_switch import FakeSwitch

SWITCH_MAC = bytes.fromhex("02706f6c7901")
PORT = 64
# As of a way of Ethernet and IPv4; the NF reads a byte and a half from byte 23 on, and writes them and the source.
PIECES = [pb.Piece(first=184, width=8, bytes=1), pb.Piece(first=204, width=4, bytes=1)]
PROBES = [
    pb.Probe(way=1, headers=bytes(range(34)), length=length, number=7, fields=PIECES, edits=PIECES)
    for length in (100, 1500, 777)
]
BRING_UP = {
    "port": PORT,
    "interface": "cpu0",
    "icrc": "the ASIC's",
    "nicIcrc": "the NIC's",
    "probes": [
        {
            **{"way": 1, "headers": "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8gIQ==", "length": length, "number": 7},
            "fields": [{"first": p.first, "width": p.width, "bytes": p.bytes} for p in PIECES],
            "edits": [{"first": p.first, "width": p.width, "bytes": p.bytes} for p in PIECES],
        }
        for length in (100, 1500, 777)
    ],
}


class FakeWire:
    """`parked`, `back`: what a test makes of a packet, and of the one that comes back, by queue pair; None: lost.
    Fields go where the links of `switch` lead them; `answers`: by switch port, what its NF server makes of a packet."""

    def __init__(self) -> None:
        self.switch: FakeSwitch | None = None
        self.answers: dict[int, Callable[[int, bytes], bytes | None]] = {}
        self.through: list[tuple[int, int, int]] = []  # probes through NF servers: switch port, queue pair, length
        self.parked: Callable[[int, bytes], bytes | None] = lambda pair, packet: packet
        self.back: Callable[[int, bytes], bytes | None] = lambda pair, packet: packet + bytes(4)
        self.cells: dict[int, bytes] = {}
        self.sent: list[tuple[int, int]] = []  # probes: queue pair, length
        self.failure = ""
        self.interface = ""
        self._take: Callable[[bytes], None] = lambda frame: None

    def socket(self, interface: str, take: Callable[[bytes], None]) -> FakeWire:
        self.interface, self._take = interface, take
        return self

    def close(self) -> None:
        self.interface = ""

    def send(self, frame: bytes) -> str:
        if ETHERNET["ether_type"].read(frame) == FRAMES.ether_type:
            pair = queue_pair(frame)
            assert TAG["port"].read(frame, ETHERNET.size) == 0x4000
            assert frame[CONTENT:][:2] == pieces(self.cells[pair], PIECES)
            self._answer(self.back(pair, self.cells.pop(pair)))
        elif not self.failure:
            pair = int.from_bytes(frame[6:12], "big") - SOURCE
            port = self._leads()
            if port is None:
                return self.failure
            if port != PORT:
                self.through.append((port, pair, len(frame)))
                answered = self.answers.get(port, lambda _, packet: packet)(pair, frame)
                self._answer(None if answered is None else self.back(pair, answered))
                return self.failure
            self.sent.append((pair, len(frame)))
            packet = self.parked(pair, frame)
            if packet is not None:
                self.cells[pair] = frame
                self._answer(fields(pair, packet))
        return self.failure

    def _leads(self) -> int | None:
        """None: the switch does not know yet."""
        assert self.switch is not None
        row = self.switch.rows["Ingress.nf_links"].get((255, 1))
        return None if row is None else row[1][0]

    def _answer(self, frame: bytes | None) -> None:
        if frame is not None:
            asyncio.get_running_loop().call_soon(self._take, frame)


def fields(pair: int, packet: bytes) -> bytes:
    told = {"version": FRAMES.version, "flags": FLAGS.split, "parse_class": 7, "queue_pair": pair}
    tag = TAG.pack(**told, length=len(packet), port=255)
    ether_type = FRAMES.ether_type.to_bytes(2, "big")
    return (SWITCH_MAC + SWITCH_MAC + ether_type + tag + pieces(packet, PIECES)).ljust(FRAMES.smallest, b"\0")
