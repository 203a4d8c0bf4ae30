"""A network namespace with a TAP interface for each port (network_namespaces(7); Linux, tuntap.rst).

The namespace has no name, and TAP interfaces are there as long as somebody has them open: whatever happens to this
process, the kernel removes both. Nothing is done to the network of the machine itself.
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import re
import socket
import struct
import subprocess
import threading
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

SHORTEST: Final = 14
"""Bytes of an Ethernet header: what is shorter, no interface takes."""
_TAGGED: Final = 20  # the kernel takes VLAN tags off, and drops what ends sooner than two bytes behind one
_VLAN: Final = (b"\x81\x00", b"\x88\xa8")
_TAG: Final = 4  # the MTU counts neither it nor the Ethernet header

_CLONE_NEWNET: Final = 0x40000000
_TUNSETIFF: Final = 0x400454CA
_IFF_TAP, _IFF_NO_PI = 0x0002, 0x1000
_LONGEST_NAME: Final = 15  # IFNAMSIZ, without its zero byte
_THIS: Final = Path("/proc/thread-self/ns/net")


def interface_names(ports: Sequence[str]) -> tuple[str, ...]:
    """Those of the ports; `port0`, `port1`, … for all of them if one is too long for an interface or is `lo`."""
    if all(len(port) <= _LONGEST_NAME and re.fullmatch(r"[A-Za-z_]\w*", port) and port != "lo" for port in ports):
        return tuple(ports)
    return tuple(f"port{number}" for number in range(len(ports)))


def mac(port: int) -> str:
    """The address of a port's interface: locally administered."""
    return f"02:00:00:00:{port + 1 >> 8:02x}:{port + 1 & 255:02x}"


def carries(frame: bytes, mtu: int) -> bool:
    """Can the frame come to a program by such an interface?"""
    if frame[12:14] in _VLAN:
        return _TAGGED <= len(frame) <= SHORTEST + _TAG + mtu
    return SHORTEST <= len(frame) <= SHORTEST + mtu


class Network:
    """`handle` is the namespace, `taps` the other ends of its interfaces: each frame that is written there comes in."""

    def __init__(self, names: Sequence[str], mtu: int) -> None:
        """Raises OSError if the system refuses."""
        self.handle = -1
        self.taps: list[int] = []
        self.indices: list[int] = []  # of the interfaces, in the namespace
        self._names, self._mtu = names, mtu
        self._error: Exception | None = None
        maker = threading.Thread(target=self._made)  # the namespace is its thread's: this one stays where it is
        try:
            maker.start()
            maker.join()
            if self._error is not None:
                raise self._error
        except BaseException:
            maker.join()
            self.close()
            raise
        self._identity = os.fstat(self.handle).st_ino

    def send(self, port: int, frame: bytes) -> None:
        """The frame comes in at a port's interface. OSError if it does not."""
        os.write(self.taps[port], frame)

    def receive(self, port: int) -> bytes | None:
        """The next frame that the program sent by a port's interface; None if there is none yet."""
        try:
            return os.read(self.taps[port], 1 << 16)
        except BlockingIOError:
            return None

    def inhabitants(self) -> list[int]:
        """All processes in the namespace."""
        return [int(entry) for entry in os.listdir("/proc") if entry.isdigit() and self.holds(int(entry))]

    def holds(self, pid: int) -> bool:
        """Is the process there, and in the namespace?"""
        try:
            return os.stat(f"/proc/{pid}/ns/net").st_ino == self._identity
        except OSError:
            return False

    def close(self) -> None:
        """May be called more than once."""
        for descriptor in (*self.taps, self.handle):
            if descriptor >= 0:
                os.close(descriptor)
        self.taps, self.handle = [], -1

    # ------------------------------------------------------------ making it

    def _made(self) -> None:
        try:
            self._make()
        except Exception as error:
            self._error = error

    def _make(self) -> None:
        libc = ctypes.CDLL(None, use_errno=True)
        before = _THIS.stat().st_ino
        if libc.unshare(_CLONE_NEWNET) != 0:
            code = ctypes.get_errno()
            raise OSError(code, f"a network namespace cannot be made: {os.strerror(code)}")
        assert _THIS.stat().st_ino != before
        self.handle = os.open(_THIS, os.O_RDONLY)
        for which in ("all", "default"):  # else the kernel solicits routers and reports listeners
            with suppress(FileNotFoundError):
                Path(f"/proc/sys/net/ipv6/conf/{which}/disable_ipv6").write_text("1")
        for name in self._names:
            self.taps.append(os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK))
            fcntl.ioctl(self.taps[-1], _TUNSETIFF, struct.pack("16sH14x", name.encode(), _IFF_TAP | _IFF_NO_PI))
        lines = [f"link set dev {name} address {mac(n)} mtu {self._mtu} up" for n, name in enumerate(self._names)]
        commands = "\n".join(["link set dev lo up", *lines, ""])
        done = subprocess.run(["ip", "-batch", "-"], input=commands, capture_output=True, text=True, timeout=10)
        if done.returncode != 0:
            raise OSError(f"interfaces cannot be set up: {done.stderr.strip()}")
        self.indices = [socket.if_nametoindex(name) for name in self._names]
