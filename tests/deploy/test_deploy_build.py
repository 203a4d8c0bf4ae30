"""Components of a bundle: built once for the same contents, and again for others."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from polysome.backends.nf_cpp.build import BuildError, missing
from polysome.deploy.build import component, inputs

if missing() is not None or shutil.which("cmake") is None:
    pytest.skip("needs a C++ compiler and cmake", allow_module_level=True)

CMAKE = """cmake_minimum_required(VERSION 3.18)
project(says CXX)
add_executable(says main.cpp)
target_include_directories(says PRIVATE ../../runtime)
"""
MAIN = '#include "nf/said.hpp"\n#include <cstdio>\nint main() { std::puts(SAID); }\n'

KINDS = """#include <cstdio>
#ifdef MINE
#define SAID MINE
#elif defined(__OPTIMIZE__)
#define SAID "fast"
#else
#define SAID "slow"
#endif
int main() { std::puts(SAID); }
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A component of a bundle, and a cache of its own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    texts = {
        "parts/says/CMakeLists.txt": CMAKE,
        "parts/says/main.cpp": MAIN,
        "runtime/nf/said.hpp": '#include "word.hpp"\n#define SAID WORD\n',
        "runtime/nf/word.hpp": '#define WORD "one"\n',
        "runtime/nf/other.hpp": "",
    }
    for name, text in texts.items():
        path = tmp_path / "bundle" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path / "bundle" / "parts" / "says"


def said(program: Path) -> str:
    return subprocess.run([program], capture_output=True, text=True, check=True).stdout.strip()


def test_what_it_includes_is_what_it_is_made_of(folder: Path) -> None:
    found = {path.name for path in inputs(folder)}
    assert found == {"CMakeLists.txt", "main.cpp", "said.hpp", "word.hpp"}


def test_built_once_for_the_same_contents(folder: Path, tmp_path: Path) -> None:
    first = component(folder, "says")
    made = first.stat().st_ino
    assert said(first) == "one"
    (tmp_path / "bundle" / "runtime" / "nf" / "other.hpp").write_text("// not included\n")
    copy = shutil.copytree(tmp_path / "bundle", tmp_path / "elsewhere") / "parts" / "says"
    assert component(folder, "says") == first == component(copy, "says") and first.stat().st_ino == made
    (tmp_path / "bundle" / "runtime" / "nf" / "word.hpp").write_text('#define WORD "two"\n')
    second = component(folder, "says")
    assert second != first and said(second) == "two" and said(first) == "one"


def test_it_is_a_release_unless_the_user_says_how(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "main.cpp").write_text(KINDS)
    found = []
    for flags in ("", "-O0", "-O1 '-DMINE=\"two words\"'"):
        monkeypatch.setenv("CXXFLAGS", flags)
        found.append(said(component(folder, "says")))
    assert found == ["fast", "slow", "two words"]
    monkeypatch.setenv("CXXFLAGS", "'")
    with pytest.raises(BuildError, match="CXXFLAGS"):
        component(folder, "says")


def test_the_compiler_says_what_is_wrong(folder: Path) -> None:
    (folder / "main.cpp").write_text("int main() { return none; }\n")
    with pytest.raises(BuildError, match=r"`says` does not build(.|\n)*'none'"):
        component(folder, "says")


def test_no_such_program(folder: Path) -> None:
    with pytest.raises(BuildError, match="`shouts` does not build"):
        component(folder, "shouts")


def test_what_is_in_no_bundle(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    with pytest.raises(BuildError, match="belongs to no bundle"):
        component(tmp_path / "a" / "b", "x")
