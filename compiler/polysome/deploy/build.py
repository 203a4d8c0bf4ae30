"""Building the CMake projects of a bundle into the user's cache, each only if something it is made of has changed."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from polysome.backends.includes import with_included
from polysome.backends.nf_cpp.build import (
    BuildError,
    cache_folder,
    compiler,
    fingerprint,
    missing,
    only_here,
    processor,
    prune,
    used,
    users_flags,
    version,
)

RULES, MESSAGES = Path("control/control.cmake"), Path("control/control.proto")
LIBRARIES = ("grpc++", "protobuf")
_LINES = 12  # of what the compiler says
_CODE = {".cpp", ".cc", ".c", ".hpp", ".h"}


def component(folder: Path, target: str) -> Path:
    """The program `target` of the CMake project `folder` of a bundle, from the cache if it was built before.

    Safe beside other processes that build. BuildError with what the compiler, or CMake, says first.
    """
    top = runtime(folder)
    parts = [part for path in sorted(inputs(folder)) for part in (str(_name(path, folder)).encode(), path.read_bytes())]
    path = cache_folder() / f"{target}-{fingerprint([*parts, target.encode(), *_tools(), processor()])}.program"
    if not used(path):
        options = [f"-DPOLYSOME_CONTROL={messages(top)}"] if (top / RULES).is_file() else []
        with only_here(path.with_suffix(".lock")):
            if not used(path):  # not built by the one that had the lock before
                _program(folder, target, options, path)
                prune(path.parent)
    return path


def messages(top: Path) -> Path:
    """The build folder of the gRPC messages of the runtime `top`: the same for all components, and half of their time.

    `libpolysome_control.a` is there, and the headers in `control`. BuildError, as `component`.
    """
    key = fingerprint([*((top / path).read_bytes() for path in (RULES, MESSAGES)), *_tools()])
    made = cache_folder() / f"library-{key}"
    if used(made):
        return made
    with only_here(made.with_suffix(".lock")), _work(made.parent) as work:
        if not used(made):
            project, build = work / "project", work / "build"
            project.mkdir()
            (project / "CMakeLists.txt").write_text(_PROJECT.format(runtime=top), encoding="utf-8")
            _build(project, build, "polysome_control")
            build.rename(made)
    return made


_PROJECT = """cmake_minimum_required(VERSION 3.18)
project(control CXX)
set(POLYSOME_RUNTIME "{runtime}")
include("{runtime}/control/control.cmake")
"""


def _tools() -> list[bytes]:
    """What builds, and what it links."""
    command = compiler()
    if command is None:
        raise BuildError(missing() or "")
    return [repr((command, _kind())).encode(), version(command), _libraries()]


def _kind() -> list[str]:
    """What kind of build it is: a release, unless $CXXFLAGS says how to compile."""
    flags = users_flags()
    if not flags:
        return ["-DCMAKE_BUILD_TYPE=Release"]
    return [
        "-DCMAKE_BUILD_TYPE=None",
        "-DCMAKE_INTERPROCEDURAL_OPTIMIZATION=OFF",
        f"-DCMAKE_CXX_FLAGS_NONE={shlex.join(flags)}",
    ]


@cache
def _libraries() -> bytes:
    try:
        return subprocess.run(["pkg-config", "--modversion", *LIBRARIES], capture_output=True).stdout
    except FileNotFoundError:  # CMake will say so
        return b""


def runtime(folder: Path) -> Path:
    """The bundle's runtime, which the project includes."""
    for above in folder.parents[:2]:
        if (above / "runtime").is_dir():
            return above / "runtime"
    raise BuildError(f"{folder} belongs to no bundle: there is no folder `runtime` beside or above it")


def inputs(folder: Path) -> set[Path]:
    """What a project is made of: its files, what they include of the runtime, and the runtime's build rules."""
    top = runtime(folder)
    own = {path for path in folder.rglob("*") if path.is_file() and "build" not in path.relative_to(folder).parts}
    rules = {path for path in top.rglob("*") if path.suffix in (".cmake", ".proto") or path.name == "CMakeLists.txt"}
    code = [*(path for path in own if path.suffix in _CODE), *_sources(own | rules, top)]
    return own | rules | with_included(code, lambda _: (top,))


def _sources(rules: set[Path], top: Path) -> Iterator[Path]:
    """Sources of the runtime that build rules name."""
    texts = [path.read_text(encoding="utf-8", errors="replace") for path in rules if path.suffix in (".cmake", ".txt")]
    for path in top.rglob("*"):
        if path.suffix in (".cpp", ".cc") and any(path.name in text for text in texts):
            yield path


def _name(path: Path, folder: Path) -> Path:
    """The same for the same project wherever the bundle is."""
    return Path(os.path.relpath(path, folder))


def _program(folder: Path, target: str, options: Sequence[str], path: Path) -> None:
    with _work(path.parent) as work:
        _build(folder, work, target, *options)
        made = next((found for found in work.rglob(target) if found.is_file()), None)
        if made is None:
            raise BuildError(f"{folder} was built, but has made no program `{target}`")
        os.replace(made, path)


@contextmanager
def _work(place: Path) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="build-", dir=place) as work:
        yield Path(work)


def _build(folder: Path, work: Path, target: str, *options: str) -> None:
    command = compiler() or ()
    generator = ["-G", "Ninja"] if shutil.which("ninja") else []
    chosen = [f"-DCMAKE_CXX_COMPILER={command[0]}", f"-DCMAKE_CXX_FLAGS={' '.join(command[1:])}", *_kind(), *options]
    _run(["cmake", "-S", str(folder), "-B", str(work), *generator, *chosen], target)
    parallel = ["--parallel", str(len(os.sched_getaffinity(0)))]
    _run(["cmake", "--build", str(work), "--target", target, *parallel], target)


def _run(command: list[str], target: str) -> None:
    """In a session of its own, which ends with us if we are interrupted: CMake does not pass that on to compilers."""
    both = subprocess.PIPE
    with subprocess.Popen(
        command, stdout=both, stderr=both, text=True, errors="replace", start_new_session=True
    ) as run:
        try:
            out, err = run.communicate()
        except BaseException:
            os.killpg(run.pid, signal.SIGKILL)
            raise
    if run.returncode != 0:
        said = (out + "\n" + err).strip().splitlines()
        wrong = [n for n, line in enumerate(said) if "error" in line.lower()]
        first = wrong[0] if wrong else 0
        ending = f"`{' '.join(command[:2])}` ended with code {run.returncode}"
        raise BuildError("\n".join([f"`{target}` does not build: {ending}", *said[first : first + _LINES]]))
