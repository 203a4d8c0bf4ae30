"""Profile-guided builds (clang): one that counts runs a capture, another uses the counts, and is kept if it is faster.

All builds are optimized in full, with link-time optimization. What was found is kept in the cache beside the builds, by
what it was made of: code, runtime, compiler, flags, config, room for state, and the packets.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from statistics import median, quantiles
from typing import Protocol

from polysome.backends.nf_cpp import build as building
from polysome.backends.nf_cpp import replay
from polysome.backends.nf_cpp.build import (
    BuildError,
    built,
    cache_folder,
    compiler,
    fingerprint,
    only_here,
    used,
    users_flags,
)
from polysome.backends.nf_cpp.generate import generate
from polysome.backends.nf_cpp.names import word
from polysome.backends.nf_cpp.replay import Trace
from polysome.backends.nf_cpp.sizes import sizes
from polysome.ir import program as ir

_OPTIMIZED = ("-std=c++20", "-O3", "-march=native", "-g0")
_LIBRARY = ("-fPIC", "-shared", "-fvisibility=hidden")

_PAIRS = 13  # runs of each build, taken in turn
_LEAST = 0.02  # a gain up to this is none
_SECONDS = 0.2  # that a run takes, or more if the capture is long
_PATIENCE = 30  # seconds until a run is given up
_LINES = 6  # of what a program says

Captures = Sequence[tuple[int, Path]]  # port, pcap file


@dataclass(frozen=True)
class Gain:
    """How much faster the profiled build is: 0.07 is 7 % more packets per second.

    `median` is of pairs of runs, one of each build; a quarter of the pairs gained less than `lower`.
    """

    median: float
    lower: float

    @property
    def spread(self) -> float:
        return self.median - self.lower

    @property
    def kept(self) -> bool:
        """Is it more than 2 %, and more than the spread? Equal builds pass at most one time in 20, by chance."""
        return self.median > _LEAST and self.median > self.spread

    def told(self, packets: str) -> str:
        """What the profile brings, for the user; `packets`: what they are."""
        measured = f"profile: {self.median:+.0%} on {packets} (spread {self.spread:.0%})"
        return measured + (", kept" if self.kept else ": no gain, not kept")


def compare(pairs: Sequence[tuple[float, float]]) -> Gain:
    """The gain from the speeds of the plain and the profiled build; two pairs or more."""
    gains = [profiled / plain - 1 for plain, profiled in pairs]
    return Gain(median(gains), quantiles(gains, n=4, method="inclusive")[0])


@dataclass(frozen=True)
class Profile:
    """A profile (`data`, a file for clang's -fprofile-instr-use), and what it brings."""

    data: Path
    gain: Gain


def missing() -> str | None:
    """What this machine lacks for profiles, and how to get it; None if nothing."""
    command = compiler()
    if command is None:
        return building.missing()
    if b"clang" not in building.version(command):
        return f"a profile needs clang++, and the compiler is `{command[0]}`: `apt install clang`, or another $CXX"
    if _merger(command) is None:
        return "a profile needs llvm-profdata of the compiler's version, and it is not here: `apt install llvm`"
    return None


def library(program: ir.Program, config: bytes, trace: Trace) -> tuple[Path, Gain]:
    """The shared library of an NF (as `build.build`): the faster one of a plain and a profiled build.

    `trace` has a packet or more; times are from 0 on and below 2**32 s. Raises BuildError; `missing` must be None.
    """
    subject = _Library(program)
    profile = _profile(subject, program, config, trace)
    return subject.build(*(_using(profile.data) if profile.gain.kept else ())), profile.gain


def host(program: ir.Program, config: bytes, trace: Trace) -> Profile:
    """The profile of the program that runs an NF on captures, to be used if its gain is kept. As `library`."""
    return _profile(_Host(program), program, config, trace)


# ---------------------------------------------------------------- what is built


class _Subject(Protocol):
    """Something that is built and runs captures."""

    def build(self, *flags: str) -> Path:
        """With these flags more; from the cache if it is there."""

    def command(self, made: Path, captures: Captures) -> list[str]:
        """That runs it; --config and --repeat follow. Its last line on stderr is `S s, N packets/s`."""


class _Library:
    def __init__(self, program: ir.Program) -> None:
        self._program = program
        self._sizes = ",".join(map(str, sizes(program)))

    def build(self, *flags: str) -> Path:
        return building.build(self._program, (*_optimized(), *_LIBRARY, *flags))

    def command(self, made: Path, captures: Captures) -> list[str]:
        inputs = [word for port, file in captures for word in ("--in", f"{port}={file}")]
        return [sys.executable, "-P", "-m", replay.__name__, str(made), self._sizes, *inputs]


class _Host:
    def __init__(self, program: ir.Program) -> None:
        self._ports = program.ports
        self._name = word(program.name)
        self._header = generate(program)

    def build(self, *flags: str) -> Path:
        included = f'#include "{self._name}.hpp"\n#include "host/pcap_main.hpp"\n'
        source = f"{included}\nPOLYSOME_PCAP_HOST(polysome::nf::{self._name}::Nf)\n"
        return built(self._name, self._header, source, (*_optimized(), *flags, *users_flags()))

    def command(self, made: Path, captures: Captures) -> list[str]:
        return [str(made), *(word for port, file in captures for word in ("--in", f"{self._ports[port]}={file}"))]


def _optimized() -> tuple[str, ...]:
    command = compiler()
    assert command is not None
    return (*_OPTIMIZED, *_link_time(command))


@cache
def _link_time(command: tuple[str, ...]) -> tuple[str, ...]:
    """Flags for link-time optimization: by lld if it is there and fits the compiler, else as the compiler does it."""
    with tempfile.TemporaryDirectory() as work:
        source = Path(work, "trial.cpp")
        source.write_text("int main() {}\n", encoding="utf-8")
        for flags in (("-flto", "-fuse-ld=lld"), ("-flto",)):
            trial = [*command, *flags, str(source), "-o", str(Path(work, "trial"))]
            if subprocess.run(trial, capture_output=True).returncode == 0:
                return flags
    return ()


def _using(data: Path) -> tuple[str, ...]:
    return (f"-fprofile-instr-use={data}",)


# ---------------------------------------------------------------- profiles


def _profile(subject: _Subject, program: ir.Program, config: bytes, trace: Trace) -> Profile:
    """The profile, from the cache if it was measured before."""
    plain = subject.build()
    packets = b"".join(b"%d %d %d\n" % (port, at, len(data)) + data for port, at, data in trace)
    parts = [plain.name.encode(), repr(sizes(program)).encode(), config, packets]
    data = cache_folder() / f"{word(program.name)}-{fingerprint(parts)}.profdata"
    found = data.with_suffix(".profile")
    with only_here(data.with_suffix(".lock")):
        if used(data) and (gain := _known(found)) is not None:
            return Profile(data, gain)
        gain = _found(subject, plain, data, config, trace)
        found.write_text(json.dumps(asdict(gain)), encoding="utf-8")
    return Profile(data, gain)


def _known(path: Path) -> Gain | None:
    """What was found before; None if that is not there, or damaged."""
    with suppress(OSError, ValueError, TypeError):
        if used(path):
            return Gain(**json.loads(path.read_text(encoding="utf-8")))
    return None


def _found(subject: _Subject, plain: Path, data: Path, config: bytes, trace: Trace) -> Gain:
    """Writes the profile to `data`, and measures what it brings."""
    with tempfile.TemporaryDirectory(prefix="build-", dir=data.parent) as work:
        folder, counts = Path(work), Path(work, "counts")
        (folder / "config.bin").write_bytes(config)
        captures = _captures(folder, trace)

        def run(made: Path, repeat: int) -> tuple[float, float]:
            options = ["--config", str(folder / "config.bin"), "--repeat", str(repeat)]
            return _run([*subject.command(made, captures), *options], counts)

        repeat = _repeat(lambda times: run(plain, times)[0], trace)
        run(subject.build("-fprofile-instr-generate"), repeat)
        _merge(counts, data)
        return compare(_pairs(lambda made: run(made, repeat)[1], plain, subject.build(*_using(data))))


def _captures(folder: Path, trace: Trace) -> Captures:
    """The trace as files, one for each port of it."""
    found = [(port, folder / f"{port}.pcap") for port in sorted({port for port, _, _ in trace})]
    for port, path in found:
        replay.write(path, [packet for packet in trace if packet[0] == port])
    return found


def _repeat(seconds: Callable[[int], float], trace: Trace) -> int:
    """How often the trace is run so that it takes a while; the machine's time stays within 63 bits."""
    most = max(1, (1 << 63) // (trace[-1][1] + replay.period(trace)) - 1)
    repeat = 1
    while (took := seconds(repeat)) < _SECONDS / 2 and repeat < most:
        repeat = min(most, int(repeat * max(2, min(1000, _SECONDS / max(took, 1e-6)))))
    return repeat


def _pairs(speed: Callable[[Path], float], plain: Path, profiled: Path) -> list[tuple[float, float]]:
    """Speeds of both, which take turns in being first: a machine that slows down helps none."""
    found = []
    for i in range(_PAIRS):
        order = (profiled, plain) if i % 2 else (plain, profiled)
        speeds = {made: speed(made) for made in order}
        found.append((speeds[plain], speeds[profiled]))
    return found


def _run(command: list[str], counts: Path) -> tuple[float, float]:
    """The seconds and the packets per second that a run says it took; a counting build writes its counts."""
    try:
        environment = {**os.environ, "LLVM_PROFILE_FILE": str(counts)}
        done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=_PATIENCE)
    except subprocess.TimeoutExpired:
        raise BuildError(f"the profile's capture did not run through in {_PATIENCE} s; take a shorter one") from None
    said = done.stderr.strip().splitlines()
    match = re.fullmatch(r"([0-9.]+) s, ([0-9]+) packets/s", said[-1]) if said else None
    if done.returncode != 0 or match is None:
        ending = f"the run for the profile ended with code {done.returncode}"
        raise BuildError("\n".join([ending, *said[-_LINES:]]))
    return float(match[1]), max(1.0, float(match[2]))


# ---------------------------------------------------------------- llvm-profdata


@cache
def _merger(command: tuple[str, ...]) -> str | None:
    """llvm-profdata: the one beside the compiler, which has its version, else what the compiler names."""
    path = shutil.which(command[0])
    beside = Path(path).resolve().parent / "llvm-profdata" if path is not None else None
    if beside is not None and os.access(beside, os.X_OK):
        return str(beside)
    asked = subprocess.run([*command, "-print-prog-name=llvm-profdata"], capture_output=True, text=True).stdout.strip()
    return asked if os.path.isabs(asked) else None


def _merge(counts: Path, data: Path) -> None:
    """Counts of a run as a profile."""
    command = compiler()
    merger = _merger(command) if command is not None else None
    if merger is None:
        raise BuildError(missing() or "")
    if not counts.exists():
        raise BuildError("the run for the profile left no counts")
    made = counts.with_suffix(".profdata")
    done = subprocess.run([merger, "merge", "-o", str(made), str(counts)], capture_output=True, text=True)
    if done.returncode != 0:
        raise BuildError("\n".join([f"{merger} ended with code {done.returncode}", *done.stderr.splitlines()[:_LINES]]))
    os.replace(made, data)
