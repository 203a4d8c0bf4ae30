"""Namespaces and processes of a test, all of which go at its end."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

LONGEST = 60.0  # s for a command


class Network:
    """What a test made. Namespaces of others, those of `polysome up`, are used by their full name."""

    def __init__(self, prefix: str) -> None:
        self._prefix = f"{prefix}-{os.getpid()}"
        self._made: list[str] = []
        self._started: list[subprocess.Popen[str]] = []

    def namespace(self, name: str) -> str:
        full = f"{self._prefix}-{name}"
        ip("netns", "add", full)
        self._made.append(full)
        ip("-n", full, "link", "set", "lo", "up")
        return full

    def start(self, namespace: str, *command: str | Path, log: Path) -> subprocess.Popen[str]:
        """A program in the background; what it says goes to `log`."""
        with log.open("w") as file:
            process = subprocess.Popen(
                ["ip", "netns", "exec", namespace, *map(str, command)], stdout=file, stderr=file, text=True
            )
        self._started.append(process)
        return process

    def close(self) -> None:
        for process in self._started:
            end(process)
        for name in self._made:
            subprocess.run(["ip", "netns", "del", name], capture_output=True)


@contextmanager
def network(prefix: str) -> Iterator[Network]:
    made = Network(prefix)
    try:
        yield made
    finally:
        made.close()


def end(process: subprocess.Popen[str], number: int = signal.SIGTERM) -> int:
    """Ends a program that was started, and waits for it; its code."""
    if process.poll() is None:
        process.send_signal(number)
    try:
        return process.wait(10)
    except subprocess.TimeoutExpired:
        process.kill()
        return process.wait()


def ip(*arguments: str) -> None:
    done = subprocess.run(["ip", *arguments], capture_output=True, text=True)
    assert done.returncode == 0, f"ip {' '.join(arguments)}: {done.stderr}"


def run(namespace: str, *command: str | Path, timeout: float = LONGEST) -> str:
    """A program to its end, which must be a good one; what it printed."""
    words = ["ip", "netns", "exec", namespace, *map(str, command)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=timeout)
    assert done.returncode == 0, f"{' '.join(words)}: code {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def cable(first: tuple[str, str], second: tuple[str, str], mac: str = "") -> None:
    """Between two (namespace, interface); `mac`: of the second."""
    (a, left), (b, right) = first, second
    ip("link", "add", "name", left, "netns", a, "type", "veth", "peer", "name", right, "netns", b)
    if mac:
        ip("-n", b, "link", "set", right, "address", mac)
    for namespace, interface in (first, second):
        ip("-n", namespace, "link", "set", interface, "up")


def bridge(namespace: str, name: str, *members: str) -> None:
    ip("-n", namespace, "link", "add", "name", name, "type", "bridge")
    ip("-n", namespace, "link", "set", name, "up")
    for member in members:
        ip("-n", namespace, "link", "set", member, "master", name)


def neighbour(namespace: str, interface: str, address: str, mac: str) -> None:
    """NFs forward what they are for, and ARP and neighbour discovery are not: who is where is said by hand."""
    ip("-n", namespace, "neighbour", "replace", address, "lladdr", mac, "dev", interface, "nud", "permanent")


def mac_of(namespace: str, interface: str) -> str:
    return run(namespace, "cat", f"/sys/class/net/{interface}/address").strip()
