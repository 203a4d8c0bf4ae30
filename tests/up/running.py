"""`polysome up` as a process of its own, as a user starts it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from polysome.deploy.client import open_client
from polysome.deploy.errors import DeployError
from polysome.deploy.find import endpoint_in
from polysome.deploy.messages import control

POLYSOME = (sys.executable, "-m", "polysome.cli.main")
LONGEST_START, LONGEST_END = 60.0, 30.0  # s, on a loaded machine
_NONE: Mapping[str, str] = {}


def polysome(*arguments: str | Path, prefix: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
    """A command to its end."""
    command = [*prefix, *POLYSOME, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=LONGEST_START)


class Up:
    """A run of a bundle. What it says is in the file `said` beside its folder."""

    def __init__(self, bundle: Path, folder: Path, *options: str, variables: Mapping[str, str] = _NONE) -> None:
        self.folder, self._said = folder, folder.with_suffix(".said")
        command = [*POLYSOME, "up", str(bundle), "--run-folder", str(folder), "--no-view", *options]
        with self._said.open("w") as said:
            self.process = subprocess.Popen(
                command, stdout=said, stderr=said, stdin=subprocess.DEVNULL, env={**os.environ, **variables}
            )

    @property
    def said(self) -> str:
        return self._said.read_text(encoding="utf-8")

    def log(self, part: str) -> str:
        return (self.folder / "logs" / f"{part}.log").read_text(encoding="utf-8", errors="replace")

    def wait_for(self, text: str, longest: float = LONGEST_START) -> None:
        """Until it says so; fails with what it says if it ends before."""
        deadline = time.monotonic() + longest
        while text not in self.said:
            assert self.process.poll() is None, f"`polysome up` ended with {self.process.returncode}:\n{self.said}"
            assert "ended with code 2" not in self.said, f"a part does not take its configuration:\n{self.said}"
            assert time.monotonic() < deadline, f"it never said `{text}`:\n{self.said}"
            time.sleep(0.02)

    def wait_until_up(self, longest: float = LONGEST_START) -> None:
        self.wait_for("all parts are up", longest)

    def status(self) -> Any:
        """A ControllerStatus; an empty one if there is no answer."""
        with open_client(endpoint_in(self.folder)) as client:
            try:
                return client.status()
            except DeployError:
                return control().ControllerStatus()

    def pid(self, part: str) -> int:
        """Of a part's process; 0 while it has none."""
        wanted = f"{self.folder}/config/{part}.json".encode()
        for place in Path("/proc").glob("[0-9]*"):
            try:
                arguments = (place / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if wanted in arguments and b"netns" not in arguments:
                return int(place.name)
        return 0

    def end(self, number: int = signal.SIGTERM) -> int:
        """Its exit code. What is left behind in spite of everything goes too, so that no test disturbs the next."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        try:
            return self.process.wait(LONGEST_END)
        except subprocess.TimeoutExpired:
            os.kill(self.process.pid, signal.SIGKILL)
            self.process.wait()
            raise
