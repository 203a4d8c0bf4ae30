"""iperf3 between two namespaces."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.up.load.network import Network, end, run


@contextmanager
def server(made: Network, namespace: str, log: Path) -> Iterator[subprocess.Popen[str]]:
    """From when it listens; it serves until the end."""
    process = made.start(namespace, "iperf3", "--server", "--forceflush", log=log)
    try:
        deadline = time.monotonic() + 20
        while "Server listening" not in log.read_text():
            assert time.monotonic() < deadline and process.poll() is None, log.read_text()
            time.sleep(0.02)
        yield process
    finally:
        end(process, signal.SIGINT)


def measure(client: str, address: str, *options: str, seconds: int = 3) -> dict[str, Any]:
    """The sums at the end of a run against a server that listens."""
    text = run(client, "iperf3", "--client", address, "--json", "--time", str(seconds), *options)
    found: dict[str, Any] = json.loads(text)
    assert "error" not in found, text
    sums: dict[str, Any] = found["end"]
    return sums
