"""What `polysome up` shows while it runs: a picture on a terminal, else lines."""

from __future__ import annotations

import threading
import time
from collections import deque
from pathlib import Path
from types import TracebackType
from typing import Any, Self

PICTURE_PERIOD, LINE_PERIOD = 1.0, 5.0  # s
MOST_NOTES = 6


class Poller:
    """Asks the controller again and again, beside the one who watches the parts. `latest`: None while it is silent."""

    def __init__(self, folder: Path, period: float) -> None:
        self.latest: Any = None
        self.count = 0
        self._folder, self._period, self._end = folder, period, threading.Event()
        self._thread = threading.Thread(target=self._ask, daemon=True)
        self._thread.start()

    def _ask(self) -> None:
        from polysome.deploy.client import open_client
        from polysome.deploy.errors import DeployError
        from polysome.deploy.find import endpoint_in

        with open_client(endpoint_in(self._folder)) as client:
            while not self._end.wait(self._period if self.latest is not None else 0.2):
                try:
                    self.latest = client.status(deadline=2.0)
                except DeployError:
                    self.latest = None
                self.count += 1

    def close(self) -> None:
        self._end.set()
        self._thread.join(timeout=5)


class _Screen:
    def __init__(self, folder: Path, period: float) -> None:
        self.folder, self.began = folder, time.monotonic()
        self.poller = Poller(folder, min(period, 1.0))
        self._was_healthy = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.poller.close()

    def turned(self) -> str | None:
        """What there is to say when all is up, or is not any more."""
        from polysome.cli.deployment_text import WELL, healthy

        status = self.poller.latest
        now = status is not None and healthy(status)
        if now == self._was_healthy:
            return None
        self._was_healthy = now
        if now:
            return f"all parts are up after {time.monotonic() - self.began:.1f} s"
        if status is None:
            return "the controller does not answer"
        wrong = [f"{part.name} is {part.state}" for part in status.parts if part.state not in WELL]
        pairs = sum(pair.state != "up" for pair in status.queue_pairs)
        return ", ".join([*wrong, *([f"{pairs} queue pairs are not up"] if pairs else [])])


class Lines(_Screen):
    """A line for what happens, and unless `brief` one every few seconds."""

    def __init__(self, folder: Path, brief: bool) -> None:
        super().__init__(folder, LINE_PERIOD)
        self._brief, self._due = brief, time.monotonic() + LINE_PERIOD

    def happened(self, text: str) -> None:
        print(f"{time.strftime('%H:%M:%S')} {text}", flush=True)

    def refresh(self) -> None:
        from polysome.cli.deployment_text import line

        news = self.turned()
        if news is not None:
            self.happened(news)
        if not self._brief and time.monotonic() >= self._due:
            self._due += LINE_PERIOD
            status = self.poller.latest
            self.happened("the controller does not answer" if status is None else line(status))


class Picture(_Screen):
    """The whole state, anew every second."""

    def __init__(self, folder: Path) -> None:
        from rich.live import Live

        super().__init__(folder, PICTURE_PERIOD)
        self._notes: deque[str] = deque(maxlen=MOST_NOTES)
        self._shown = -1
        self._live = Live(auto_refresh=False)

    def __enter__(self) -> Self:
        self._live.__enter__()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        super().__exit__(kind, error, at)
        self._live.__exit__(kind, error, at)

    def happened(self, text: str) -> None:
        self._notes.append(f"{time.strftime('%H:%M:%S')} {text}")
        self._shown = -1

    def refresh(self) -> None:
        from rich.console import Group
        from rich.text import Text

        from polysome.cli.deployment_text import view

        news = self.turned()
        if news is not None:
            self.happened(news)
        if self._shown == self.poller.count:
            return
        self._shown = self.poller.count
        status = self.poller.latest
        if status is not None:
            picture: Any = view(status, str(self.folder), tuple(self._notes))
        else:
            picture = Group(Text("waiting for the controller"), *(Text(note) for note in self._notes))
        self._live.update(picture, refresh=True)
