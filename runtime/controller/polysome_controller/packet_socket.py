"""A raw socket on a network interface of this machine (packet(7)), read by the event loop."""

from __future__ import annotations

import asyncio
import os
import socket
import struct
from collections.abc import Callable

from polysome_controller.errors import Refused

ALL = 0x0003  # ETH_P_ALL
PACKET = 263  # SOL_PACKET
ADD_MEMBERSHIP, PROMISCUOUS, AUXDATA = 1, 1, 8
OUTGOING = 4  # PACKET_OUTGOING: of others on this machine
VLAN_VALID, TYPE_VALID = 0x10, 0x40  # of the status in tpacket_auxdata
AUXILIARY = struct.Struct("=IIIHHHH")
LARGEST = 65_536


class PacketSocket:
    """`take` gets every frame that comes in, tags included. Refused if the interface cannot be opened."""

    def __init__(self, interface: str, take: Callable[[bytes], None]) -> None:
        self._interface = interface
        self._take = take
        try:
            self._socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW | socket.SOCK_NONBLOCK, socket.htons(ALL))
        except PermissionError as error:
            raise Refused(
                f"no raw socket for {interface}, by which queue pairs are proved: it takes CAP_NET_RAW"
            ) from error
        try:
            self._socket.bind((interface, ALL))
            self._socket.setsockopt(PACKET, AUXDATA, 1)
            member = struct.pack("=iHH8s", socket.if_nametoindex(interface), PROMISCUOUS, 0, b"")
            self._socket.setsockopt(PACKET, ADD_MEMBERSHIP, member)
        except OSError as error:
            self._socket.close()
            raise Refused(f"{interface}, by which queue pairs are proved: {error.strerror}") from error
        asyncio.get_running_loop().add_reader(self._socket.fileno(), self._readable)

    def send(self, frame: bytes) -> str:
        """Why it was not sent; empty: it was."""
        try:
            self._socket.send(frame)
        except OSError as error:
            return os.strerror(error.errno) if error.errno else str(error)
        return ""

    def close(self) -> None:
        asyncio.get_running_loop().remove_reader(self._socket.fileno())
        self._socket.close()

    def _readable(self) -> None:
        while True:
            try:
                frame, auxiliary, _, sender = self._socket.recvmsg(LARGEST, 64)
            except OSError:  # nothing is left, or the interface went down: what is lost is asked for again
                return
            if sender[2] != OUTGOING:
                self._take(_with_tag(frame, auxiliary))


def _with_tag(frame: bytes, auxiliary: list[tuple[int, int, bytes]]) -> bytes:
    """The kernel takes the first VLAN tag off, and says beside the frame what it was."""
    for level, kind, data in auxiliary:
        if level == PACKET and kind == AUXDATA and len(data) >= AUXILIARY.size:
            status, _, _, _, _, tag, protocol = AUXILIARY.unpack_from(data)
            if status & VLAN_VALID:
                protocol = protocol if status & TYPE_VALID else 0x8100
                return frame[:12] + struct.pack("!HH", protocol, tag) + frame[12:]
    return frame
