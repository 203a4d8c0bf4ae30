"""How the controller sees one part: up or not, since when, and why."""

from __future__ import annotations

import asyncio
import time

from polysome_controller import control_pb2 as pb
from polysome_controller.errors import PartError, Refused
from polysome_controller.journal import Journal


class Part:
    """State of a part. Changes go to the journal, each once. `ups`: of parts that are up, by name, which run is and
    since when: what a controller before this one knew, too.
    """

    def __init__(self, name: str, role: str, address: str, journal: Journal, ups: dict[str, tuple[int, int]]) -> None:
        self.name = name
        self.role = role
        self.address = address
        self._journal = journal
        self._ups = ups
        self.state = "joining"
        self.detail = "not heard of yet"
        self.since = time.time_ns()
        self.misses = 0

    @property
    def up(self) -> bool:
        return self.state == "up"

    def joined(self, run: int, detail: str = "") -> None:
        self.misses = 0
        before = self._ups.get(self.name, (0, 0))
        self._become("up", detail)
        if before[0] == run:
            self.since = before[1]
        elif before[0]:
            self.since = time.time_ns()  # it began anew between two looks
        self._ups[self.name] = run, self.since

    def joining(self, detail: str) -> None:
        self._become("joining", detail)

    def refused(self, why: str) -> None:
        """It answers, and is of no use, or is not trusted."""
        if (self.state, self.detail) != ("refused", why):
            self._journal.refusal(self.name, why)
        self._become("refused", why, quiet=True)

    def failed(self, error: PartError, misses: int) -> None:
        """It counts as down when it has missed so many answers; a refusal counts at once."""
        if isinstance(error, Refused):
            self.refused(str(error))
            return
        self.misses += 1
        if self.misses >= misses or self.state != "up":
            self._become("down" if self.misses >= misses else self.state, str(error))

    def _become(self, state: str, detail: str, quiet: bool = False) -> None:
        if state != self.state:
            if self.state == "up":
                self._ups.pop(self.name, None)
            self.since = time.time_ns()
            if not quiet:
                tell = self._journal.warning if state == "down" else self._journal.info
                tell(self.name, f"{state}{': ' if detail else ''}{detail}")
        self.state, self.detail = state, detail

    def message(self) -> pb.Part:
        return pb.Part(
            name=self.name,
            role=self.role,
            state=self.state,
            detail=self.detail,
            since=self.since,
            address=self.address,
        )


class Pulse:
    """Waits for a period, or until somebody says that there is something to do."""

    def __init__(self) -> None:
        self._due = False
        self._waiting: asyncio.Future[None] | None = None

    def wake(self) -> None:
        self._due = True
        _end(self._waiting)

    async def wait(self, seconds: float) -> None:
        """Not by asyncio.wait_for, which may lose a cancellation before Python 3.12."""
        if not self._due:
            loop = asyncio.get_running_loop()
            self._waiting = loop.create_future()
            timer = loop.call_later(seconds, _end, self._waiting)
            try:
                await self._waiting
            finally:
                timer.cancel()
        self._due = False


def _end(waiting: asyncio.Future[None] | None) -> None:
    if waiting is not None and not waiting.done():
        waiting.set_result(None)
