"""Native NFs are built once, by the compiler that is there, and what cannot be built is said."""

from __future__ import annotations

import ctypes
import os
import shutil
import stat
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.testing.traffic.kit import written

from polysome.backends.nf_cpp import build as building
from polysome.backends.nf_cpp.build import BuildError, build, compiler, missing
from polysome.backends.nf_cpp.generate import generate
from polysome.backends.nf_cpp.sizes import NOT_GIVEN, sizes
from polysome.ir import program as ir
from polysome.testing.spec import Spec

SPEC = """
use net.l4;
nf small {
  port a, b;
  config hosts: list<ipv4>;
  state {
    seen:   map<ipv4, u16> { capacity 1000; idle 10s; when full evict oldest; }
    ids:    pool<(ipv4, u16)> { from hosts, 5..900; }
    counts: count_min<ipv4> { error 10%; confidence 99%; }
    added:  bloom<ipv4> { capacity 100; error 1%; }
    many:   hyperloglog<ipv4> { error 5%; }
    top:    top_k<ipv4> { k 3; error 1%; }
    slots:  array<u8>[4];
    total:  u32;
  }
  schedule { drr 1; serve 1Gbps; classes 64; buffer 64KB; queue 6KB; when full drop; }
  on packet from a { require ipv4 and l4 else drop "other"; seen[ipv4.src] = 1; send b; }
}
"""
RUNTIME = '#define POLYSOME_LIBRARY(Nf) extern "C" int polysome_version() { return version; }\n'
needs_compiler = pytest.mark.skipif(missing() is not None, reason="no C++ compiler")


@pytest.fixture
def spec(tmp_path: Path) -> Spec:
    return written(tmp_path, SPEC)


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty cache, and a small runtime; `generate` writes one line."""
    runtime = tmp_path / "runtime"
    (runtime / "host").mkdir(parents=True)
    (runtime / "host" / "library.hpp").write_text(RUNTIME, encoding="utf-8")
    (runtime / "nf").mkdir()
    (runtime / "nf" / "generated.hpp").write_text("#pragma once\n", encoding="utf-8")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(building, "folder", lambda name: tmp_path / name)
    says(monkeypatch, "static int version = 1;\n")
    building._runtime.cache_clear()
    yield tmp_path
    building._runtime.cache_clear()


def says(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    """What `generate` makes of every program from now on."""

    def one(program: ir.Program, defaults: bool = True) -> str:
        return text

    monkeypatch.setattr(building, "generate", one)


def counting(place: Path, monkeypatch: pytest.MonkeyPatch, extra: str = "") -> Path:
    """A compiler that notes each build in a file."""
    real = shutil.which("clang++") or shutil.which("g++")
    script, log = place / "cxx", place / "log"
    script.write_text(f'#!/bin/sh\ncase "$*" in *-shared*-o*) echo built >>{log};{extra} esac\nexec {real} "$@"\n')
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("CXX", str(script))
    return log


def builds(log: Path) -> int:
    return log.read_text().count("built") if log.exists() else 0


# ---------------------------------------------------------------- what is built, and how often


@needs_compiler
def test_the_same_is_built_once(spec: Spec, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = counting(place, monkeypatch)
    first = build(spec.program)
    assert first.is_relative_to(place / "cache" / "polysome" / "native") and first.stat().st_size > 0
    assert build(spec.program) == first == build(spec.small().program)
    assert builds(log) == 1
    assert {path.suffix for path in first.parent.iterdir()} == {".so", ".lock", ""}  # and the parsed headers' folder


@needs_compiler
def test_the_runtime_is_parsed_once_for_equal_flags(spec: Spec, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = build(spec.program)
    (kept,) = first.parent.glob("headers-*/*.gch")
    number = kept.stat().st_ino
    says(monkeypatch, "static int version = sizeof(Nobody);\n")
    header = place / "runtime" / "nf" / "generated.hpp"
    with pytest.raises(BuildError):
        build(spec.program)
    assert kept.stat().st_ino == number
    header.write_text("#pragma once\nstruct Nobody {};\n", encoding="utf-8")
    building._runtime.cache_clear()
    assert ctypes.CDLL(str(build(spec.program))).polysome_version() == 1
    assert len(list(first.parent.glob("headers-*/*.gch"))) == 2
    build(spec.program, (*building.CHECKED, "-O1"))
    assert len(list(first.parent.glob("headers-*/*.gch"))) == 3


@needs_compiler
def test_it_builds_without_what_was_parsed_if_that_does_not_fit(
    spec: Spec, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = build(spec.program)
    (kept,) = first.parent.glob("headers-*/*.gch")
    kept.write_bytes(b"of another compiler")
    says(monkeypatch, "static int version = 2;\n")
    assert ctypes.CDLL(str(build(spec.program))).polysome_version() == 2


@needs_compiler
def test_what_differs_is_built_anew(spec: Spec, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = {build(spec.program)}
    found.add(build(spec.program, (*building.CHECKED, "-DOTHER")))
    says(monkeypatch, "static int version = 2;\n")
    found.add(build(spec.program))
    with (place / "runtime" / "host" / "library.hpp").open("a") as header:
        header.write("// changed\n")
    building._runtime.cache_clear()
    found.add(build(spec.program))
    counting(place, monkeypatch)
    found.add(build(spec.program))
    assert len(found) == 5


@needs_compiler
def test_the_user_s_flags_count(spec: Spec, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    says(monkeypatch, "static int version = VERSION;\n")
    flags = (*building.CHECKED, "-DVERSION=1")
    found = {}
    for given in ("", "-UVERSION '-DVERSION=2'"):
        monkeypatch.setenv("CXXFLAGS", given)
        path = build(spec.program, flags)
        found[path] = ctypes.CDLL(str(path)).polysome_version()
    assert list(found.values()) == [1, 2]
    monkeypatch.setenv("CXXFLAGS", "'-O2")
    with pytest.raises(BuildError, match=r"\$CXXFLAGS has, `'-O2`, cannot be read: No closing quotation"):
        build(spec.program, flags)


@needs_compiler
def test_several_at_once_build_one(spec: Spec, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = counting(place, monkeypatch, extra=" sleep 0.2;")
    found: list[Path] = []
    threads = [threading.Thread(target=lambda: found.append(build(spec.program))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert len(found) == 4 and len(set(found)) == 1
    assert builds(log) == 1


@needs_compiler
def test_what_was_not_used_for_long_goes(spec: Spec, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = build(spec.program)
    long_ago = time.time() - 32 * 24 * 3600
    (kept.parent / "build-killed").mkdir()
    for name in ("old.so", "old.lock", "other", "build-killed"):
        path = kept.parent / name
        if not path.exists():
            path.touch()
        os.utime(path, (long_ago, long_ago))
    os.utime(kept, (long_ago, long_ago))
    assert build(spec.program) == kept  # used: young again
    says(monkeypatch, "static int version = 3;\n")
    build(spec.program)
    left = {path.name for path in kept.parent.iterdir()}
    assert {kept.name, "other"} <= left and not {"old.so", "old.lock", "build-killed"} & left


@needs_compiler
def test_what_does_not_build_says_why_and_leaves_nothing(
    spec: Spec, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    says(monkeypatch, "static int version = nobody_knows;\n")
    with pytest.raises(BuildError, match="the C\\+\\+ of `small` does not build") as found:
        build(spec.program)
    assert "nobody_knows" in str(found.value) and "small.hpp:1:" in str(found.value)
    assert not list((place / "cache").rglob("*.so"))


# ---------------------------------------------------------------- the compiler


def executable(path: Path) -> None:
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)


def test_nothing_is_run_that_another_user_may_have_put_there(
    spec: Spec, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    built = build(spec.program)
    folder = building.cache_folder()
    folder.chmod(0o777)
    with pytest.raises(BuildError, match="another user's, or all may write there"):
        build(spec.program)
    folder.chmod(0o755)
    if os.geteuid() == 0:
        os.chown(folder, 65534, 65534)
        monkeypatch.setattr(os, "geteuid", lambda: 1000)  # to root all is its own's business
        with pytest.raises(BuildError, match="another user's"):
            build(spec.program)
    assert built


def test_compilers_in_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CXX", raising=False)
    for number, (name, expected) in enumerate(
        [("g++", "g++"), ("clang++-9", "clang++-9"), ("clang++-14", "clang++-14"), ("clang++", "clang++")]
    ):
        place = tmp_path / str(number)
        place.mkdir()
        if number:
            for old in (tmp_path / str(number - 1)).iterdir():
                executable(place / old.name)
        executable(place / name)
        monkeypatch.setenv("PATH", str(place))
        assert compiler() == (expected,) and missing() is None


def test_no_compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CXX", raising=False)
    assert "`apt install clang`" in str(missing())
    monkeypatch.setenv("CXX", "best-c++ -m64")
    assert "best-c++" in str(missing())
    monkeypatch.setenv("CXX", f"{sys.executable} -x")
    assert compiler() == (sys.executable, "-x") and missing() is None


# ---------------------------------------------------------------- sizes


def test_sizes_in_order_of_declaration(spec: Spec) -> None:
    room = [1000, 5, 900, 28, 5, 1010, 7, 9, 3, 100]
    assert list(sizes(spec.program)) == [*room, 10**9, 64, NOT_GIVEN, 64000, 6000, NOT_GIVEN, NOT_GIVEN]
    small = list(sizes(spec.small().program))
    assert small[:3] == [3, 5, 7] and small[5] == 31 and small[11] == 3 and len(small) == len(room) + 7


def test_the_text_does_not_depend_on_room(spec: Spec) -> None:
    assert generate(spec.program, defaults=False) == generate(spec.small(1).program, defaults=False)
    assert generate(spec.program) != generate(spec.small(1).program)
