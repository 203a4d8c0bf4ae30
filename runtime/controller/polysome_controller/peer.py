"""What the controller needs of another part: an answer to each request, whichever way it comes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from google.protobuf.message import Message

from polysome_controller import control_pb2 as pb


class Peer(Protocol):
    """One service of a part, by the part's name. Methods are those of control.proto; errors are Unreachable, Untrusted
    or Refused. `certificate`: what the part has said of its own last.
    """

    name: str
    certificate: pb.CertificateState

    async def call(self, method: str, request: Message, deadline: float = 0) -> Any:
        """The answer, within `deadline` seconds; 0: the usual time."""

    async def change(self, method: str, request: Message, deadline: float = 0) -> Any:
        """A request with a lease: in the order of the leases, as the part takes no earlier one."""

    async def close(self) -> None: ...


Connect = Callable[[str, str, str], Peer]
"""The peer of a service (its name in control.proto) at an address, by the part's name."""
