"""Parts of a simulated system, as the controller's peers."""

from __future__ import annotations

from typing import Any

from google.protobuf.message import Message

from polysome_controller import control_pb2 as pb
from polysome_controller.errors import Unreachable


class Simulated:
    """Answers by the method of the same name."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.certificate = pb.CertificateState()

    async def call(self, method: str, request: Message, deadline: float = 0) -> Any:
        return getattr(self, method.lower())(request)

    async def change(self, method: str, request: Message, deadline: float = 0) -> Any:
        return await self.call(method, request, deadline)

    async def close(self) -> None:
        pass


class Away(Simulated):
    """A part that there is not."""

    async def call(self, method: str, request: Message, deadline: float = 0) -> Any:
        raise Unreachable(f"{method}: no such part in a simulated system")
