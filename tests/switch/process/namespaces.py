"""Network namespaces of tests, with veth pairs whose one end is a port of the switch and whose other end is ours."""

from __future__ import annotations

import ctypes
import itertools
import os
import shutil
import socket
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

_numbers = itertools.count()
_libc = ctypes.CDLL(None, use_errno=True)
_PACKET_AUXDATA, _SOL_PACKET, _ETH_P_ALL, _OUTGOING = 8, 263, 3, 4


def need_namespaces() -> None:
    """Skips the test unless network namespaces can be made."""
    if os.geteuid() != 0 or shutil.which("ip") is None:
        pytest.skip("network namespaces need root and the command ip (iproute2)")
    probe = f"polysome-probe-{os.getpid()}"
    if subprocess.run(["ip", "netns", "add", probe], capture_output=True).returncode != 0:
        pytest.skip("network namespaces cannot be made here")
    subprocess.run(["ip", "netns", "delete", probe], check=True)


class Namespace:
    """Its links have jumbo frames, no offloads that change frames, and no IPv6, which would send by itself."""

    def __init__(self, name: str) -> None:
        self.name = name

    def run(self, *command: str) -> str:
        return subprocess.run(
            ["ip", "netns", "exec", self.name, *command], check=True, capture_output=True, text=True
        ).stdout

    def link(self, switch: str, peer: str, *more: str) -> None:
        """A veth pair, both ends up; `more`: what else to say of the switch's end."""
        peers = ("type", "veth", "peer", "name", peer, "mtu", "9600")
        self.run("ip", "link", "add", switch, *more, "mtu", "9600", *peers)
        for end in (switch, peer):
            self.run("ip", "link", "set", end, "up")

    def socket(self, interface: str) -> Wire:
        return Wire(self, interface)

    @contextmanager
    def entered(self) -> Iterator[None]:
        """The calling thread is in the namespace meanwhile: sockets made then stay in it."""
        with Path(f"/proc/self/task/{threading.get_native_id()}/ns/net").open() as before:
            with Path(f"/run/netns/{self.name}").open() as there:
                _setns(there.fileno())
            try:
                yield
            finally:
                _setns(before.fileno())


class Wire:
    """Our end of a pair: frames as they are on the wire, VLAN tags in their place."""

    def __init__(self, namespace: Namespace, interface: str) -> None:
        with namespace.entered():
            self._socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(_ETH_P_ALL))
        self._socket.setsockopt(_SOL_PACKET, _PACKET_AUXDATA, 1)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22)
        self._socket.bind((interface, 0))

    def send(self, frame: bytes) -> None:
        self._socket.send(frame)

    def receive(self, seconds: float = 20.0) -> bytes | None:
        """The next frame that came in; None if none comes in time."""
        self._socket.settimeout(seconds)
        while True:
            try:
                frame, auxiliary, _, address = self._socket.recvmsg(1 << 16, 64)
            except TimeoutError:
                return None
            if address[2] == _OUTGOING:
                continue
            for _, kind, data in auxiliary:
                status = int.from_bytes(data[:4], "little")
                if kind == _PACKET_AUXDATA and status & 0x10:  # TP_STATUS_VLAN_VALID
                    tci, tpid = (int.from_bytes(data[at : at + 2], "little") for at in (16, 18))
                    frame = frame[:12] + tpid.to_bytes(2, "big") + tci.to_bytes(2, "big") + frame[12:]
            return frame

    def close(self) -> None:
        self._socket.close()


@contextmanager
def namespace() -> Iterator[Namespace]:
    name = f"polysome-test-{os.getpid()}-{next(_numbers)}"
    subprocess.run(["ip", "netns", "add", name], check=True)
    try:
        made = Namespace(name)
        made.run("sh", "-c", "echo 1 > /proc/sys/net/ipv6/conf/default/disable_ipv6")
        made.run("ip", "link", "set", "lo", "up")
        yield made
    finally:
        subprocess.run(["ip", "netns", "delete", name], check=True)


def _setns(descriptor: int) -> None:
    if _libc.setns(descriptor, 0) != 0:
        raise OSError(ctypes.get_errno(), "setns")
