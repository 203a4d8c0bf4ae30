"""A TCP port whose connections cannot be exhausted: gRPC gets them from here, and no more than it can bear.

gRPC for Python knows a limit of all connections, and none of those of one address, so a few machines that say nothing
keep everybody out. The rules are those of the other parts (control/listener.hpp). Who says something is passed on to
gRPC's own Unix socket, byte for byte: TLS is its part, and that half-open and idle connections end (rpc.py).
"""

from __future__ import annotations

import asyncio
import ipaddress
import resource
import socket
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from polysome_controller.errors import EnvironmentProblem
from polysome_controller.journal import Journal

MOST, MOST_OF_ONE = 512, 64  # connections
PATIENCE = 0.1  # seconds that who is new has to say who he is before he gives way
AT_ONCE = 16  # that are taken before the loop's other tasks have their turn
DESCRIPTORS = 8 * MOST  # a connection takes three
SILENT = 5.0  # seconds until who says nothing is cut off
NONE_LEFT = 0.05  # seconds until it is tried again after there was no descriptor
LINGER = 1.0  # seconds for the last bytes of a connection that ends
UNREAD = 60_000  # ms after which who does not take what it is sent is cut off
KIND = "unix-abstract:"  # of names that gRPC gives the Unix sockets of here


def network_of(address: str) -> bytes:
    """What counts as one address. Who has one IPv6 address has all of its /64."""
    found = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(found, ipaddress.IPv6Address):
        return found.ipv4_mapped.packed if found.ipv4_mapped else found.packed[:8]
    return found.packed


class Front:
    """Takes connections at `listen`, "ADDRESS:PORT", IPv6 in brackets, as long as it is started."""

    def __init__(self, listen: str, path: str, journal: Journal) -> None:
        self._listen = listen
        self._path = path  # of gRPC's socket
        self._journal = journal
        self._listener: socket.socket | None = None
        self._open: list[_Connection] = []  # the oldest first
        self._tasks: set[asyncio.Task[None]] = set()

    def start(self) -> None:
        """EnvironmentProblem if the address cannot be had."""
        _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        soft = DESCRIPTORS if hard == resource.RLIM_INFINITY else min(DESCRIPTORS, hard)
        if resource.getrlimit(resource.RLIMIT_NOFILE)[0] < soft:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        try:
            self._listener = _listening(self._listen)
        except OSError as error:
            raise EnvironmentProblem(f"cannot listen at {self._listen}: {error.strerror}") from error
        self._accept_again()

    async def stop(self) -> None:
        if self._listener is not None:
            asyncio.get_running_loop().remove_reader(self._listener)
            self._listener.close()
            self._listener = None
        for connection in list(self._open):
            self._end(connection)
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def peer(self, name: str) -> str:
        """Who is at the other end of what gRPC calls so, as ADDRESS:PORT."""
        return next((c.peer for c in self._open if c.name == name), name)

    def admit(self, name: str) -> None:
        """This one may ask: it does not give way to strangers any more."""
        for connection in self._open:
            connection.admitted = connection.admitted or connection.name == name

    # ---------------------------------------------------------------- taking

    def _accept_again(self) -> None:
        if self._listener is not None:
            asyncio.get_running_loop().add_reader(self._listener, self._accept)

    def _accept(self) -> None:
        for _ in range(AT_ONCE):
            if self._listener is None:
                return
            try:
                outer, address = self._listener.accept()
            except (BlockingIOError, ConnectionAbortedError):
                return
            except OSError:  # no descriptor, or no memory: others may end meanwhile
                loop = asyncio.get_running_loop()
                loop.remove_reader(self._listener)
                loop.call_later(NONE_LEFT, self._accept_again)
                return
            self._take(outer, address)

    def _take(self, outer: socket.socket, address: Sequence[Any]) -> None:
        network, peer = network_of(address[0]), _joined(address)
        own = sum(c.network == network for c in self._open)
        told = f"{len(self._open)} are open, {own} of them of its address"
        if not self._has_room(network):
            self._journal.refusal("controller", f"a connection of {peer}: {told}")
            outer.close()
            return
        outer.setblocking(False)
        outer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        outer.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, UNREAD)
        made, loop = _Connection(outer, peer, network), asyncio.get_running_loop()
        made.silence = loop.call_later(SILENT, self._end, made)
        loop.add_reader(outer, self._spoke, made)
        self._open.append(made)

    def _spoke(self, connection: _Connection) -> None:
        """Its first bytes are there, or its end."""
        connection.heard()
        if connection.gone():
            self._end(connection)
            return
        try:
            connection.join(self._path)
        except OSError as error:
            self._journal.refusal("controller", f"a connection of {connection.peer}: {error.strerror}")
            self._end(connection)
            return
        task = connection.task = asyncio.get_running_loop().create_task(connection.carry())
        self._tasks.add(task)
        task.add_done_callback(lambda task: self._forget(connection, task))

    def _forget(self, connection: _Connection, task: asyncio.Task[None]) -> None:
        connection.close()
        self._tasks.discard(task)
        with suppress(ValueError):
            self._open.remove(connection)

    def _end(self, connection: _Connection) -> None:
        self._open.remove(connection)
        connection.heard()
        if connection.task is not None:
            connection.task.cancel()  # _forget closes it
        else:
            connection.close()

    def _has_room(self, network: bytes) -> bool:
        """Of too many, the oldest stranger of the address that has most of them gives way. False: there is none."""
        strangers = Counter(c.network for c in self._open if not c.admitted)
        if strangers[network] < MOST_OF_ONE:
            if len(self._open) < MOST:
                return True
            if not +strangers:
                return False
            strangers[network] += 1  # this one
            network = max(strangers, key=lambda of: strangers[of])
        oldest = next((c for c in self._open if c.network == network and not c.admitted), None)
        if oldest is None or time.monotonic() - oldest.since < PATIENCE:
            return False
        self._journal.refusal("controller", f"a connection of {oldest.peer} any longer: there are too many")
        self._end(oldest)
        return True


# ---------------------------------------------------------------- one connection


class _Connection:
    """`name`: what gRPC calls the other end, once it is joined; `silence`: ends who has said nothing."""

    silence: asyncio.TimerHandle

    def __init__(self, outer: socket.socket, peer: str, network: bytes) -> None:
        self.peer = peer
        self.network = network
        self.name = ""
        self.admitted = False
        self.since = time.monotonic()
        self.task: asyncio.Task[None] | None = None
        self._outer = outer
        self._inner: socket.socket | None = None
        self._ends: tuple[_End, ...] = ()

    def heard(self) -> None:
        """Nobody waits for its first bytes any more."""
        self.silence.cancel()
        if self.task is None:
            asyncio.get_running_loop().remove_reader(self._outer)

    def gone(self) -> bool:
        """Has the other end closed it without a word?"""
        try:
            return not self._outer.recv(1, socket.MSG_PEEK)
        except OSError:
            return True

    def join(self, path: str) -> None:
        """With gRPC's socket, by a name of its own. OSError if that takes no more."""
        made = self._inner = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        made.setblocking(False)
        made.bind("")  # the kernel finds a name
        made.connect(path)
        self.name = KIND + made.getsockname()[1:].decode()

    async def carry(self) -> None:
        """Until one end is closed, or this is cancelled."""
        loop, outer, inner = asyncio.get_running_loop(), _End(), _End()
        outer.other, inner.other = inner, outer
        self._ends = outer, inner
        await loop.create_connection(lambda: inner, sock=self._inner)
        await loop.create_connection(lambda: outer, sock=self._outer)
        inner.transport.resume_reading()
        over = [inner.over, outer.over]
        await asyncio.wait(over, return_when=asyncio.FIRST_COMPLETED)
        inner.transport.close()
        outer.transport.close()
        await asyncio.wait(over, timeout=LINGER)

    def close(self) -> None:
        """Both descriptors, whatever is not sent yet."""
        for end in self._ends:
            if end.transport is not None:
                end.transport.abort()
        self._outer.close()
        if self._inner is not None:
            self._inner.close()


class _End(asyncio.Protocol):
    """Gives what it gets to the other end, as fast as that takes it."""

    other: _End

    def __init__(self) -> None:
        self.transport: Any = None
        self.over: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport
        if self.other.transport is None:
            self.transport.pause_reading()

    def data_received(self, data: bytes) -> None:
        self.other.transport.write(data)

    def pause_writing(self) -> None:
        self.other.transport.pause_reading()

    def resume_writing(self) -> None:
        self.other.transport.resume_reading()

    def connection_lost(self, error: Exception | None) -> None:
        if not self.over.done():
            self.over.set_result(None)


# ---------------------------------------------------------------- sockets


def _listening(listen: str) -> socket.socket:
    host, _, port = listen.rpartition(":")
    found = socket.getaddrinfo(host.strip("[]"), port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    family, _, _, _, address = found[0]
    made = socket.socket(family, socket.SOCK_STREAM)
    try:
        made.setblocking(False)
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            made.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        made.bind(address)
        made.listen(socket.SOMAXCONN)
    except OSError:
        made.close()
        raise
    return made


def _joined(address: Sequence[Any]) -> str:
    return f"[{address[0]}]:{address[1]}" if ":" in address[0] else f"{address[0]}:{address[1]}"
