"""An event loop on virtual time: where another one would wait, the world goes on."""

from __future__ import annotations

import asyncio
from typing import Any, Protocol


class World(Protocol):
    seconds: float  # of its clock

    def go_on(self, seconds: float | None) -> None:
        """So many seconds, or less, if by then somebody has something to do; None: nobody waits for a time."""


class VirtualLoop(asyncio.BaseEventLoop):
    """Runs callbacks as asyncio does. Nothing comes from outside: there are no sockets, and no other threads."""

    def __init__(self, world: World) -> None:
        super().__init__()
        self._world = world
        self._selector = self  # which is what asyncio waits by

    def time(self) -> float:
        return self._world.seconds

    def select(self, timeout: float | None) -> tuple[()]:
        if timeout is None or timeout > 0:
            self._world.go_on(timeout)
        return ()

    def _process_events(self, events: Any) -> None:
        pass
