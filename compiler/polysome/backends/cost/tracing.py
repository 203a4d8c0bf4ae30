"""Every instruction that a generated NF executes for chosen packets (targets/cost/trace.cpp.j2 does the recording)."""

from __future__ import annotations

import platform
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from struct import Struct, pack

from polysome.backends.nf_cpp.generate import generate, namespace
from polysome.backends.templates import fill
from polysome.ir import program as ir
from polysome.resources import folder

FLAGS = ("-std=c++20", "-O3", "-march=native", "-gline-tables-only", "-no-pie", "-w")
TOOLS = ("llvm-mca", "llvm-objdump", "llvm-symbolizer")

MOST = 1 << 17  # instructions that are recorded for one packet

_STEP = Struct("<17Q")
_HEAD = Struct("<9Q")
_MAP = re.compile(r"([0-9a-f]+)-([0-9a-f]+) \S+ ([0-9a-f]+) \S+ \d+\s*(/.*)")
_LINES = 12  # of what a tool says
_FEWEST = 5  # instructions that belong to the recorder


class CostError(Exception):
    """The cost cannot be found out here. `mend`: how to change that, if anything does."""

    def __init__(self, message: str, mend: str = "") -> None:
        super().__init__(message)
        self.mend = mend


@dataclass(frozen=True)
class Arrival:
    """A packet of a run; `traced`: its instructions are wanted."""

    port: int
    time: int
    data: bytes
    traced: bool


@dataclass(frozen=True)
class Run:
    """One NF from its start: config blob, sizes (nf_cpp.sizes), config changes as (time, blob), packets in order."""

    config: bytes
    sizes: tuple[int, ...]
    changes: tuple[tuple[int, bytes], ...]
    packets: tuple[Arrival, ...]


@dataclass(frozen=True)
class Region:
    """Bytes of memory from `start`."""

    start: int
    size: int

    def __contains__(self, address: int) -> bool:
        return self.start <= address < self.start + self.size


@dataclass(frozen=True)
class Mapped:
    """Memory that a file is mapped to: byte `offset` of the file at the region's start."""

    region: Region
    offset: int
    file: str


class Steps:
    """The instructions for one packet. Each has an address, and the 16 registers as they were before it.

    Registers in the processor's order: rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi, r8 to r15.
    """

    def __init__(self, regions: Sequence[int], raw: bytes) -> None:
        self.machine, self.packet, self.frame, self.stack = (
            Region(regions[i], regions[i + 1]) for i in range(0, len(regions), 2)
        )
        self._raw = raw
        # The recorder's own: the return from what starts it; at the end the call of what stops it, up to its `popfq`.
        self._first, self._end = 1, len(raw) // _STEP.size - 4

    @property
    def cut(self) -> bool:
        """Are there more instructions than were recorded?"""
        return len(self._raw) // _STEP.size >= MOST

    def __len__(self) -> int:
        return self._end - self._first

    def __iter__(self) -> Iterator[tuple[int, ...]]:
        """Address and registers of each."""
        return _STEP.iter_unpack(self._raw[self._first * _STEP.size : self._end * _STEP.size])


@dataclass(frozen=True)
class Recording:
    """What was executed. `stages`: the addresses where the parts of the work begin, by name; `program`: the file that
    ran, with line tables, loaded at the addresses in it; `source`: the generated header that it was made from.
    """

    packets: tuple[Steps, ...]
    stages: Mapping[int, str]
    mapped: tuple[Mapped, ...]
    program: Path
    source: Path


def missing() -> CostError | None:
    """What this machine lacks to record and analyse; None if nothing."""
    if sys.platform != "linux" or platform.machine() != "x86_64":
        return CostError("--cost records instructions one by one, which needs Linux on x86-64")
    if tool("clang++") is None:
        return CostError("--cost needs clang++, which is not here", "apt install clang")
    lacking = [name for name in TOOLS if tool(name) is None]
    if lacking:
        are = "which is not here" if len(lacking) == 1 else "which are not here"
        return CostError(f"--cost needs {', '.join(lacking)}, {are}", "apt install llvm")
    return None


@contextmanager
def recorded(program: ir.Program, runs: Sequence[Run]) -> Iterator[Recording]:
    """Builds the NF and lets it run; the files are there until the end. Raises CostError; `missing` must be None."""
    with tempfile.TemporaryDirectory(prefix="polysome-cost-") as work:
        made = _build(program, Path(work))
        given, found = Path(work, "in"), Path(work, "out")
        given.write_bytes(b"".join(map(_encoded, runs)))
        said = output(str(made), str(given), str(found))
        stages = {int(n): name for name, n in re.findall(r"^stage (\w+) (\d+)$", said, re.MULTILINE)}
        mapped = tuple(_mapped(said))
        yield Recording(
            tuple(_packets(found.read_bytes())), stages, mapped, made, Path(work, f"{namespace(program)}.hpp")
        )


def output(name: str, *arguments: str, given: str | None = None) -> str:
    """What a tool prints, for `given` as its input; CostError if it fails."""
    command = tool(name)
    if command is None:
        raise CostError(f"{name} is not here")
    done = subprocess.run([command, *arguments], input=given, capture_output=True, text=True, errors="replace")
    if done.returncode != 0:
        said = (done.stderr or done.stdout).strip().splitlines()
        raise CostError("\n".join([f"{Path(name).name} ended with code {done.returncode}", *said[:_LINES]]))
    return done.stdout


def tool(name: str) -> str | None:
    """The program of this name, else that of the highest version, `name-NN`."""
    versions = (f"{name}-{number}" for number in range(30, 12, -1))
    return next((found for one in (name, *versions) if (found := shutil.which(one))), None)


def _build(program: ir.Program, work: Path) -> Path:
    name = namespace(program)
    Path(work, f"{name}.hpp").write_text(generate(program, defaults=False), encoding="utf-8")
    source, made = Path(work, "trace.cpp"), Path(work, "trace")
    source.write_text(fill("cost/trace.cpp", {"nf": name, "name": program.name}), encoding="utf-8")
    output("clang++", *FLAGS, f"-I{work}", f"-I{folder('runtime')}", str(source), "-o", str(made))
    return made


def _encoded(run: Run) -> bytes:
    parts = [pack(f"<I{len(run.sizes)}Q", len(run.sizes), *run.sizes), pack("<I", len(run.config)), run.config]
    parts.append(pack("<I", len(run.changes)))
    for time, blob in run.changes:
        parts += [pack("<QI", time, len(blob)), blob]
    parts.append(pack("<I", len(run.packets)))
    for p in run.packets:
        parts += [pack("<QHHI", p.time, p.port, p.traced, len(p.data)), p.data]
    return b"".join(parts)


def _packets(data: bytes) -> Iterator[Steps]:
    at = 0
    while at < len(data):
        count, *regions = _HEAD.unpack_from(data, at)
        at += _HEAD.size
        if count <= _FEWEST:
            raise CostError("this machine does not let a program be followed step by step, as --cost needs")
        yield Steps(regions, data[at : at + count * _STEP.size])
        at += count * _STEP.size


def _mapped(said: str) -> Iterator[Mapped]:
    for line in said.splitlines():
        if (found := _MAP.match(line)) is not None:
            start, end, offset = (int(found[i], 16) for i in (1, 2, 3))
            yield Mapped(Region(start, end - start), offset, found[4])
