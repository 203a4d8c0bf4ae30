"""What `make lint` asks of hand-written C++: clang-format of all of it, clang-tidy of the runtime and of kinds.

clang-tidy has two sources that include everything, those that need no library but C++'s own apart from the others:
parsing what they include takes longer than checking them. What includes headers that are not on this machine is left
out, and named. `--format` formats instead.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
BIN = Path(sys.executable).parent
BUILD = ROOT / "build" / "lint"
RUNTIME = ROOT / "runtime"
SUFFIXES = {".hpp", ".cpp", ".hh", ".cc", ".c"}
TIDY = ("runtime", "compiler/polysome", "tests/kinds")
CONTROL = ("control.pb.h", "control.grpc.pb.h")  # what protoc makes
_INCLUDE = re.compile(r'^#include ([<"])([^>"]+)[>"]', re.MULTILINE)


def main() -> int:
    files = [p for top in ("runtime", "compiler/polysome", "tests") for p in sorted((ROOT / top).rglob("*"))]
    files = [p for p in files if p.suffix in SUFFIXES]
    if sys.argv[1:] == ["--format"]:
        return subprocess.run([BIN / "clang-format", "-i", *files], cwd=ROOT).returncode
    if subprocess.run([BIN / "clang-format", "--dry-run", "-Werror", *files], cwd=ROOT).returncode != 0:
        print("`make format` formats it")
        return 1
    return tidy([p for p in files if any(p.is_relative_to(ROOT / top) for top in TIDY)])


def tidy(files: list[Path]) -> int:
    messages()
    if unit("library", ["#include <version>"]).returncode != 0:
        print("no C++ standard library: clang-tidy checks nothing (Debian, Ubuntu: apt install g++)")
        return 0
    plain, others, absent = list[Path](), list[Path](), dict[str, list[str]]()
    for path in files:
        needed = needs(path)
        if missing := sorted(name for name in needed if not there(name)):
            absent.setdefault(missing[0], []).append(str(path.relative_to(ROOT)))
        else:
            (others if needed else plain).append(path)
    for name, left_out in absent.items():
        print(f"{name} is not here: clang-tidy leaves out {', '.join(left_out)}")
    units = {"plain": plain, "others": others}
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        runs = list(pool.map(lambda name: unit(name, [f'#include "{p}"' for p in units[name]]), units))
    for run in runs:
        print(run.stdout.replace(f"{ROOT}/", ""), end="")
    return max(run.returncode for run in runs)


def unit(name: str, lines: list[str]) -> subprocess.CompletedProcess[str]:
    """clang-tidy on a source of these lines."""
    source = BUILD / f"{name}.cpp"
    source.write_text("".join(f"{line}  // NOLINT\n" for line in lines), encoding="utf-8")
    options = ["--quiet", f"--config-file={ROOT / '.clang-tidy'}", f"--header-filter={ROOT}/({'|'.join(TIDY)})/"]
    flags = ["-std=c++20", f"-I{RUNTIME}", f"-isystem{BUILD}", *map("-isystem{}".format, packaged())]
    command = [str(BIN / "clang-tidy"), *options, str(source), "--", *flags]
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)


def messages() -> None:
    """The C++ of control.proto, if protoc and its part of gRPC are here."""
    BUILD.mkdir(parents=True, exist_ok=True)
    plugin = shutil.which("grpc_cpp_plugin")
    proto = RUNTIME / "control" / "control.proto"
    made = [BUILD / name for name in CONTROL]
    if not plugin or not shutil.which("protoc"):
        for path in made:
            path.unlink(missing_ok=True)
    elif not all(p.exists() and p.stat().st_mtime > proto.stat().st_mtime for p in made):
        options = [
            f"-I{proto.parent}",
            f"--cpp_out={BUILD}",
            f"--grpc_out={BUILD}",
            f"--plugin=protoc-gen-grpc={plugin}",
        ]
        subprocess.run(["protoc", *options, str(proto)], check=True)


@cache
def needs(path: Path) -> frozenset[str]:
    """Headers of libraries that a file includes, itself or by those of ours: C++'s own have no .h."""
    found: set[str] = set()
    for kind, name in _INCLUDE.findall(path.read_text(encoding="utf-8")):
        ours = [folder / name for folder in (path.parent, RUNTIME) if kind == '"' and (folder / name).exists()]
        if ours:
            found |= needs(ours[0])
        elif name.endswith((".h", ".hh", ".hpp")):
            found.add(name)
    return frozenset(found)


@cache
def there(name: str) -> bool:
    return any((folder / name).exists() for folder in folders())


@cache
def folders() -> list[Path]:
    system = [Path("/usr/include"), Path("/usr/local/include"), *Path("/usr/include").glob("*-linux-*")]
    own = Path(sys.prefix).glob("lib/python*/site-packages/clang_tidy/data/lib/clang/*/include")
    return [BUILD, *system, *own, *map(Path, packaged())]


@cache
def packaged() -> list[str]:
    """Where DPDK's headers are, which have a folder of their own."""
    if shutil.which("pkg-config") is None:
        return []
    done = subprocess.run(["pkg-config", "--cflags-only-I", "libdpdk"], capture_output=True, text=True)
    return [word.removeprefix("-I") for word in done.stdout.split()]


if __name__ == "__main__":
    sys.exit(main())
