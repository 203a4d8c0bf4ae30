"""Native NFs as shared libraries: generated, compiled, and kept in the user's cache by what they were made of."""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import shlex
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

from polysome.backends.nf_cpp.generate import generate
from polysome.backends.nf_cpp.names import word
from polysome.ir import program as ir
from polysome.resources import folder, ours, user_cache

CHECKED = ("-std=c++20", "-O2", "-g0", "-fPIC", "-shared", "-fvisibility=hidden")
HEADERS = ("nf/generated.hpp", "host/library.hpp")  # of the runtime, that a library includes

_UNUSED = 30 * 24 * 3600  # seconds after which an entry of the cache goes
_KEPT = (".so", ".hpp", ".program", ".lock", ".profile", ".profdata", ".proof")  # suffixes of the cache's entries
_FOLDERS = ("build-", "library-", "headers-")  # names of folders that go too
_LINES = 12  # of what the compiler says
_NONE: Mapping[str, str] = {}


class BuildError(Exception):
    """The generated C++ does not build. The text has what the compiler says first."""


def missing() -> str | None:
    """What this machine lacks to build native NFs, and how to get it; None if nothing."""
    if compiler() is not None:
        return None
    wanted = os.environ.get("CXX")
    if wanted:
        return f"the compiler that $CXX names, `{wanted}`, is not here; unset CXX, or name one that is"
    return "native NFs need a C++20 compiler, clang++ or g++, and neither is here: `apt install clang`"


def compiler() -> tuple[str, ...] | None:
    """The command of the compiler: $CXX if that is set, else clang++, clang++ of the highest version, g++."""
    return _compiler(os.environ.get("CXX", ""), os.environ.get("PATH", os.defpath))


def build(program: ir.Program, flags: Sequence[str] = CHECKED) -> Path:
    """The shared library of an NF, from the cache if it was built before.

    Safe beside other processes that build: each library is built once. Raises BuildError; `missing` must be None.
    Programs that differ in room for state only (`engines.shrunk`) have the same library.
    """
    name = word(program.name)
    return built(name, generate(program, defaults=False), _source(name), (*flags, *users_flags()), runtime=HEADERS)


def users_flags() -> tuple[str, ...]:
    """$CXXFLAGS, which come last and so count: `-O0` builds in a third of the time what little traffic will run."""
    text = os.environ.get("CXXFLAGS", "")
    try:
        return tuple(shlex.split(text))
    except ValueError as error:
        raise BuildError(f"the flags that $CXXFLAGS has, `{text}`, cannot be read: {error}") from error


def built(
    name: str,
    header: str,
    source: str,
    flags: tuple[str, ...],
    others: Mapping[str, str] = _NONE,
    runtime: tuple[str, ...] = (),
) -> Path:
    """What the compiler makes of `source`, which includes `NAME.hpp`, the text `header`; as `build`.

    `others`: more headers, text by name, that either may include. `runtime`: those of the runtime that all of
    them include; they are parsed once for all that is built with the same flags, which is half of a build with `-O0`.
    """
    command = compiler()
    if command is None:
        raise BuildError(missing() or "")
    suffix = ".so" if "-shared" in flags else ".program"
    headers = {f"{name}.hpp": header, **others}
    path = cache_folder() / f"{name}-{_fingerprint(headers, source, command, flags)}{suffix}"
    if used(path):
        return path
    with only_here(path.with_suffix(".lock")):
        if not used(path):  # not built by the one that had the lock before
            known = _parsed(runtime, command, flags)
            more = flags if known is None else (*flags, "-include", str(known))
            try:
                _compile(name, headers, source, command, more, path)
            except BuildError:
                if known is None:
                    raise
                # What was parsed may be older than a header of the system's: that it fails with it says nothing yet.
                _compile(name, headers, source, command, flags, path)
            prune(path.parent)
    return path


def _compile(
    name: str,
    headers: Mapping[str, str],
    source: str,
    command: tuple[str, ...],
    flags: tuple[str, ...],
    path: Path,
) -> None:
    with tempfile.TemporaryDirectory(prefix="build-", dir=path.parent) as work:
        file, made = Path(work, f"{name}_source.cpp"), Path(work, f"made{path.suffix}")
        for header, text in headers.items():
            Path(work, header).write_text(text, encoding="utf-8")
        file.write_text(source, encoding="utf-8")
        # Libraries among the flags come behind what needs them.
        arguments = [*command, f"-I{work}", f"-I{folder('runtime')}", str(file), *flags, "-o", str(made)]
        done = subprocess.run(arguments, capture_output=True, text=True, errors="replace")
        if done.returncode != 0 or not made.exists():
            said = (done.stderr or done.stdout).replace(f"{work}/", "").strip().splitlines()
            ending = f"{command[0]} ended with code {done.returncode}"
            raise BuildError("\n".join([f"the C++ of `{name}` does not build: {ending}", *said[:_LINES]]))
        os.replace(made, path)


def _parsed(headers: tuple[str, ...], command: tuple[str, ...], flags: tuple[str, ...]) -> Path | None:
    """A header that includes these of the runtime, and beside it what the compiler keeps of them: for `-include`.

    None if there are none, or the compiler keeps nothing.
    """
    if not headers:
        return None
    # Neither what is for the linker, nor macros: those that the headers ask for would be in the texts before them.
    kept = [flag for flag in flags if flag.startswith("-") and not flag.startswith(("-l", "-D", "-U", "-shared"))]
    place = folder("runtime")
    # With their times, as the compiler holds what it kept against them.
    times = [path.stat().st_mtime_ns for path in sorted(place.rglob("*.hpp"))]
    parts = [repr((command, kept, headers, str(place), times)).encode(), _runtime(), version(command)]
    if "-march=native" in flags:
        parts.append(processor())
    header = cache_folder() / f"headers-{fingerprint(parts)}" / "all.hpp"
    header.parent.mkdir(exist_ok=True)
    found = header.with_suffix(".hpp.gch")
    if not used(found):
        with only_here(header.parent.with_suffix(".lock")):
            if not used(found):
                _parse(headers, [*command, *kept, f"-I{place}"], header, found)
    used(header.parent)
    return header if found.exists() else None


def _parse(headers: tuple[str, ...], command: list[str], header: Path, found: Path) -> None:
    """Where it is used, as the compiler keeps its place too. If this fails, so does what includes the headers."""
    header.write_text("".join(f'#include "{name}"\n' for name in headers), encoding="utf-8")
    made = found.with_suffix(f".{os.getpid()}")
    subprocess.run([*command, "-x", "c++-header", str(header), "-o", str(made)], capture_output=True)
    with suppress(FileNotFoundError):
        made.replace(found)


def _source(name: str) -> str:
    """The library: its functions, and nothing else, are seen from outside."""
    return f"""#include "{name}.hpp"

#include "host/library.hpp"

#pragma GCC visibility push(default)
POLYSOME_LIBRARY(polysome::nf::{name}::Nf)
#pragma GCC visibility pop
"""


# ---------------------------------------------------------------- the compiler


@cache
def _compiler(wanted: str, path: str) -> tuple[str, ...] | None:
    if wanted:
        command = tuple(shlex.split(wanted))
        return command if command and shutil.which(command[0], path=path) else None
    for name in ("clang++", *_versioned(path), "g++"):
        if shutil.which(name, path=path):
            return (name,)
    return None


def _versioned(path: str) -> list[str]:
    """`clang++-NN`, the highest first."""
    found: set[int] = set()
    for place in path.split(os.pathsep):
        with suppress(OSError):
            matches = (re.fullmatch(r"clang\+\+-(\d+)", name) for name in os.listdir(place or "."))
            found |= {int(match[1]) for match in matches if match}
    return [f"clang++-{number}" for number in sorted(found, reverse=True)]


@cache
def version(command: tuple[str, ...]) -> bytes:
    """What the compiler says of itself."""
    return subprocess.run([*command, "--version"], capture_output=True).stdout


@cache
def _runtime() -> bytes:
    """A digest of the headers that generated code includes."""
    digest = hashlib.sha256()
    top = folder("runtime")
    for path in sorted(top.rglob("*.hpp")):
        digest.update(f"{path.relative_to(top)}\0".encode() + hashlib.sha256(path.read_bytes()).digest())
    return digest.digest()


@cache
def processor() -> bytes:
    """What `-march=native` stands for: a cache may be shared by machines."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return b""
    return "\n".join(sorted({line for line in lines if line.startswith(("model name", "flags", "Features"))})).encode()


def _fingerprint(headers: Mapping[str, str], source: str, command: tuple[str, ...], flags: tuple[str, ...]) -> str:
    texts = [part.encode() for header in headers.items() for part in header]
    parts = [source.encode(), *texts, _runtime(), repr((command, flags)).encode(), version(command)]
    if "-march=native" in flags:
        parts.append(processor())
    return fingerprint(parts)


def fingerprint(parts: Iterable[bytes]) -> str:
    """A name for something that was made of these parts."""
    digest = hashlib.sha256()
    for part in parts:
        digest.update(len(part).to_bytes(8, "big") + part)
    return digest.hexdigest()[:32]


# ---------------------------------------------------------------- the cache


def cache_folder() -> Path:
    """Where everything is kept; made if it is not there. BuildError if another user may have put something there."""
    found = user_cache() / "native"
    try:
        found.mkdir(parents=True, exist_ok=True)
        trusted = ours(found)
    except OSError as error:
        raise BuildError(f"{found}, where native NFs are kept, cannot be made: {error.strerror}") from error
    if not trusted:
        raise BuildError(f"{found}, where native NFs are kept and run from, is another user's, or all may write there")
    return found


def used(path: Path) -> bool:
    """Is it there? Then it is not old any more."""
    try:
        os.utime(path)
    except FileNotFoundError:
        return False
    except OSError:  # another's, or on a disk that cannot be written
        return path.exists()
    return True


@contextmanager
def only_here(lock: Path) -> Iterator[None]:
    """One process (or thread) at a time."""
    with lock.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def prune(place: Path) -> None:
    """Removes what was not used for a month, and what builds that were killed left behind."""
    oldest = time.time() - _UNUSED
    for path in place.iterdir():
        with suppress(OSError):
            if path.stat().st_mtime >= oldest:
                continue
            if path.is_dir() and path.name.startswith(_FOLDERS):
                shutil.rmtree(path)
            elif path.suffix in _KEPT:
                path.unlink()
