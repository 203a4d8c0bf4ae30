"""A load balancer to be troubled: its run's folder is a small disk of its own, and its processes' wall clock a file."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.up.load.examples import Balanced, balancer

from polysome.backends.nf_cpp.build import compiler

DISK = "16m"
SOURCE = Path(__file__).parent / "wrong_clock.c"


@dataclass(frozen=True)
class Place:
    """`clock`: the file that says by how many seconds the wall clock is off."""

    lb: Balanced
    clock: Path

    @property
    def disk(self) -> Path:
        """Logs and state of all parts."""
        return self.lb.up.folder

    def set_clock(self, seconds: int) -> None:
        with self.clock.open("r+b") as file:
            file.write(seconds.to_bytes(8, "little", signed=True))


@contextmanager
def place(folder: Path) -> Iterator[Place]:
    run, clock, library = folder / "run", folder / "clock", folder / "wrong_clock.so"
    clock.write_bytes(bytes(8))
    command = [*(compiler() or ()), "-x", "c", "-O1", "-shared", "-fPIC", str(SOURCE), "-o", str(library)]
    subprocess.run(command, check=True)
    run.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={DISK},mode=755", "tmpfs", run], check=True)
    try:
        with balancer(folder, {"LD_PRELOAD": str(library), "WRONG_CLOCK": str(clock)}) as lb:
            yield Place(lb, clock)
    finally:
        subprocess.run(["umount", "--lazy", run], check=False)
