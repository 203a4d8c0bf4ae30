"""Web requests that never stop, each with content of its own, to see what a fault does to them."""

from __future__ import annotations

import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.up.load.web import Server, digest, random_file

LONGEST = 40  # s for one upload: more than any fault here may take


@dataclass(frozen=True)
class Upload:
    """`code`: curl's; 0 if the server has confirmed it. Times of time.monotonic()."""

    name: str
    digest: str
    began: float
    ended: float
    code: int


class Uploads:
    """From several clients at once until `stop`."""

    def __init__(self, client: str, url: str, sources: tuple[str, ...], folder: Path, size: int) -> None:
        self.done: list[Upload] = []
        self._client, self._url, self._folder, self._size = client, url, folder, size
        self._stop = threading.Event()
        self._threads = [threading.Thread(target=self._loop, args=(source,)) for source in sources]
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join()

    def _loop(self, source: str) -> None:
        number = 0
        while not self._stop.is_set():
            name = f"{self._folder.name}-{source}-{number}"
            file = self._folder / name
            wanted, began = random_file(file, self._size), time.monotonic()
            curl = ("curl", "--silent", "--fail", "--max-time", str(LONGEST), "--interface", source)
            command = ("ip", "netns", "exec", self._client, *curl, "--upload-file", str(file), f"{self._url}/{name}")
            done = subprocess.run(command, capture_output=True)
            self.done.append(Upload(name, wanted, began, time.monotonic(), done.returncode))
            file.unlink()
            number += 1

    def wait_for_one(self, since: float, longest: float) -> float:
        """Until an upload that began after `since` has arrived; how long after `since` that was, in s."""
        while time.monotonic() < since + longest:
            ended = [upload.ended for upload in list(self.done) if upload.began >= since and upload.code == 0]
            if ended:
                return min(ended) - since
            time.sleep(0.02)
        raise AssertionError(f"no upload has arrived for {longest} s")

    def failed(self) -> list[Upload]:
        return [upload for upload in self.done if upload.code != 0]


@contextmanager
def uploads(client: str, url: str, sources: tuple[str, ...], folder: Path, size: int = 300_000) -> Iterator[Uploads]:
    folder.mkdir()
    found = Uploads(client, url, sources, folder, size)
    try:
        yield found
    finally:
        found.stop()


def check_kept(done: list[Upload], servers: tuple[Server, ...]) -> None:
    """Whatever a server has of these is what was sent, and it has all that it confirmed."""
    assert done
    for upload in done:
        kept = [digest(server.files / upload.name) for server in servers if (server.files / upload.name).exists()]
        assert set(kept) <= {upload.digest}, f"{upload} was corrupted"
        assert kept or upload.code != 0, f"{upload} was confirmed and is not there"
