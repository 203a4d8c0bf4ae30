"""Who floods the port of a part's service: connections that say nothing, or all but a question, by the hundred."""

from __future__ import annotations

import contextlib
import resource
import socket
import ssl
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
SETTINGS = bytes(3) + b"\4" + bytes(5)
MANY = tuple(f"127.0.1.{i}" for i in range(1, 41))  # addresses


@dataclass(frozen=True)
class Port:
    """`address`: "ADDRESS:PORT"; `tls`: a folder with authority.pem, NAME.pem and NAME.key; `name`: the stranger."""

    address: str
    tls: Path
    name: str = "memory0"


Open = Callable[[Port, str], socket.socket]


def tcp(port: Port, source: str) -> socket.socket:
    """A connection that says nothing."""
    name, _, number = port.address.rpartition(":")
    return socket.create_connection((name, int(number)), 5, (source, 0))


def greeted(port: Port, source: str) -> socket.socket:
    """TLS is agreed on, and nothing said."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.load_verify_locations(port.tls / "authority.pem")
    context.load_cert_chain(port.tls / f"{port.name}.pem", port.tls / f"{port.name}.key")
    context.set_alpn_protocols(["h2"])
    return context.wrap_socket(tcp(port, source))


def preface(port: Port, source: str) -> socket.socket:
    made = greeted(port, source)
    made.sendall(PREFACE)
    return made


def idle(port: Port, source: str) -> socket.socket:
    """An HTTP/2 connection that asks nothing."""
    made = greeted(port, source)
    made.sendall(PREFACE + SETTINGS)
    return made


def closed(connection: socket.socket) -> bool:
    """Has the other end closed it by now?"""
    connection.settimeout(0.2)
    try:
        while connection.recv(4096):
            pass
    except TimeoutError:
        return False
    except OSError:
        return True
    return True


@contextlib.contextmanager
def many(port: Port, open_one: Open, count: int, sources: Sequence[str] = MANY) -> Iterator[list[socket.socket]]:
    """Connections from these addresses in turn; those that are refused are missing."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, max(soft, 4096)), hard))
    found: list[socket.socket] = []
    try:
        for i in range(count):
            with contextlib.suppress(OSError):
                found.append(open_one(port, sources[i % len(sources)]))
        yield found
    finally:
        for connection in found:
            connection.close()
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


# ---------------------------------------------------------------- beside who may ask


def check_the_controller_stays(port: Port, part: str, method: str) -> None:
    """However many strangers come, from the controller's own address and others: its connection to the `part` stays,
    each call is answered at once, and a new connection of its own is taken. `method`: one that takes Nothing."""
    import grpc

    texts = [(port.tls / file).read_bytes() for file in ("authority.pem", "controller.key", "controller.pem")]
    options = [("grpc.ssl_target_name_override", part), ("grpc.use_local_subchannel_pool", 1)]

    def channel() -> Any:
        return grpc.secure_channel(port.address, grpc.ssl_channel_credentials(*texts), options)

    def answered(by: Any) -> None:
        began = time.monotonic()
        by.unary_unary(method)(b"", timeout=10, wait_for_ready=True)
        assert time.monotonic() - began < 4  # not as long as it takes for a stranger to be cut off

    with channel() as own:
        answered(own)
        states: list[Any] = []
        own.subscribe(states.append)
        for open_one in (tcp, idle):
            beside = many(port, open_one, 100, ("127.0.0.1",))
            with beside, many(port, tcp, 1000):
                answered(own)
                with channel() as other:
                    answered(other)
        assert states == [grpc.ChannelConnectivity.READY], f"its connection did not stay: {states}"


if __name__ == "__main__":  # in a part's network namespace: ADDRESS:PORT FOLDER STRANGER PART METHOD
    check_the_controller_stays(Port(sys.argv[1], Path(sys.argv[2]), sys.argv[3]), *sys.argv[4:])
