"""Where a test's server listens: at an address of this process, whose ports no other one of the tests takes meanwhile.

127.0.0.0/8 is all loopback (RFC 1122, 3.2.1.3). Who connects to it without binding comes from 127.0.0.1, so that the
ports of its outgoing connections do not count either.
"""

from __future__ import annotations

import os
import socket

HOST = f"127.{64 + (os.getpid() >> 16) % 64}.{os.getpid() >> 8 & 255}.{os.getpid() & 255}"


def free_address() -> str:
    """host:port, for a process that begins to listen there soon."""
    with socket.socket() as free:
        free.bind((HOST, 0))
        return f"{HOST}:{free.getsockname()[1]}"
