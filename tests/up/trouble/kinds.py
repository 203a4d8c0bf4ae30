"""What may befall a part of a deployment, each from `begin` to `end`."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from tests.up.load.examples import VIP
from tests.up.trouble.place import Place

PARTS = ("nf1", "switch", "memory1", "controller")
HALF_OPEN = 1_000
JUMPS = (3_600, -3_600, 400 * 86_400)  # s by which the wall clock is off: beyond the certificates' days too


@dataclass(frozen=True)
class Trouble:
    """`seconds`: for how long. `carries`: what carries requests is there meanwhile. `seen`: status must tell of it."""

    kind: str
    part: str
    seconds: float = 0.0
    number: int = 0

    @property
    def carries(self) -> bool:
        return self.part == "controller" or self.kind in ("clock", "half-open")

    @property
    def seen(self) -> bool:
        return self.kind == "stop"

    def __str__(self) -> str:
        much = {"clock": f" {self.number:+d} s", "half-open": f" {HALF_OPEN}"}.get(self.kind, "")
        return f"{self.kind}{much}"


def troubles() -> list[Trouble]:
    """One of each kind and part."""
    made = [Trouble("kill", part) for part in PARTS]
    made += [Trouble("stop", part, 4.0) for part in PARTS]
    made += [Trouble("full disk", part, 4.0) for part in PARTS]
    made += [Trouble("half-open", part, 4.0) for part in (*PARTS, "clients")]
    made += [Trouble("clock", part, 4.0, jump) for part in ("all", "controller") for jump in JUMPS]
    return made


def during(place: Place, trouble: Trouble) -> AbstractContextManager[None]:
    return KINDS[trouble.kind](place, trouble)


@contextmanager
def kill(place: Place, trouble: Trouble) -> Iterator[None]:
    os.kill(place.lb.up.pid(trouble.part), signal.SIGKILL)
    yield


@contextmanager
def stop(place: Place, trouble: Trouble) -> Iterator[None]:
    pid = place.lb.up.pid(trouble.part)
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGCONT)


@contextmanager
def full_disk(place: Place, trouble: Trouble) -> Iterator[None]:
    """Of logs and state; and the part begins anew meanwhile."""
    filling = place.disk / "filling"
    try:
        with filling.open("wb", buffering=0) as file, suppress(OSError):
            while True:
                file.write(bytes(4096))
        os.kill(place.lb.up.pid(trouble.part), signal.SIGKILL)
        yield
    finally:
        filling.unlink(missing_ok=True)


@contextmanager
def wrong_clock(place: Place, trouble: Trouble) -> Iterator[None]:
    """Of all processes; if a part is named, it begins anew with it."""
    place.set_clock(trouble.number)
    try:
        if trouble.part in PARTS:
            os.kill(place.lb.up.pid(trouble.part), signal.SIGKILL)
        yield
    finally:
        place.set_clock(0)


# Connections that are asked for and never made (argument `syn`), or made and never used.
CONNECT = """
import resource, socket, sys, time
address, port, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
resource.setrlimit(resource.RLIMIT_NOFILE, (count + 100, count + 100))
held = []
for _ in range(count):
    held.append(socket.socket())
    held[-1].setblocking(False)
    held[-1].connect_ex((address, port))
print("there", flush=True)
time.sleep(1000)
"""
# Answers to these connections are lost on their way, so they stay half-open.
STRANGER = "10.0.0.99"
LOSE = f"""
add table ip half; add chain ip half in {{ type filter hook input priority 0; }}
add rule ip half in ip daddr {STRANGER} drop
"""


@contextmanager
def half_open(place: Place, trouble: Trouble) -> Iterator[None]:
    """To the port where a part answers, the controller for metrics, TCP without TLS; or from a client to the service,
    without the third packet."""
    if trouble.part == "clients":
        with _stranger(place.lb.client), _connected(place.lb.client, VIP, 80, STRANGER):
            yield
    else:
        config = json.loads((place.disk / "config" / f"{trouble.part}.json").read_text())
        address, _, port = (config.get("listen") or config["metrics"]).rpartition(":")
        namespace = os.readlink(f"/proc/{place.lb.up.pid(trouble.part)}/ns/net")
        with _connected(_named(namespace), address, int(port)):
            yield


def _named(namespace: str) -> str:
    """The name of a process's network namespace."""
    inode = int(namespace.rpartition("[")[2].rstrip("]"))
    return next(place.name for place in Path("/run/netns").iterdir() if place.stat().st_ino == inode)


@contextmanager
def _stranger(namespace: str) -> Iterator[None]:
    inside = ["ip", "netns", "exec", namespace]
    subprocess.run([*inside, "ip", "address", "add", f"{STRANGER}/24", "dev", "eth0"], check=True)
    subprocess.run([*inside, "nft", LOSE], check=True)
    try:
        yield
    finally:
        subprocess.run([*inside, "nft", "delete table ip half"], check=True)
        subprocess.run([*inside, "ip", "address", "del", f"{STRANGER}/24", "dev", "eth0"], check=True)


@contextmanager
def _connected(namespace: str, address: str, port: int, source: str = "") -> Iterator[None]:
    program = CONNECT.replace(
        "    held[-1].setblocking", f"    held[-1].bind(('{source}', 0))\n    held[-1].setblocking"
    )
    words = ["python3", "-c", program if source else CONNECT, address, str(port), str(HALF_OPEN)]
    process = subprocess.Popen(["ip", "netns", "exec", namespace, *words], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None and process.stdout.readline() == "there\n"
        yield
    finally:
        process.kill()
        process.wait()


KINDS: dict[str, Callable[[Place, Trouble], AbstractContextManager[None]]] = {
    "kill": kill,
    "stop": stop,
    "full disk": full_disk,
    "clock": wrong_clock,
    "half-open": half_open,
}
