"""Builds the programs of the native bench: one per network function, and one for the flow map alone."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from polysome.analysis.layout import layout
from polysome.backends.nf_cpp.generate import generate
from polysome.backends.nf_cpp.names import identifier
from polysome.backends.nf_cpp.types_code import Unsupported
from polysome.ir import program as ir
from polysome.semantics.check import check
from polysome.syntax.diagnostics import Report

ROOT = Path(__file__).resolve().parents[2]
HEADERS = {"ethernet": 0, "ipv4": 14, "tcp": 34, "udp": 34}  # where they are in the frames of native/traffic.hpp
SOURCE = Path(__file__).resolve().parent / "native"


def missing() -> str | None:
    """What is not installed, and how to get it."""
    packages = []
    if shutil.which("clang++") is None:
        packages += ["clang", "lld"]
    elif shutil.which("ld.lld") is None:
        packages.append("lld")
    packages += [
        package for tool, package in (("cmake", "cmake"), ("ninja", "ninja-build")) if shutil.which(tool) is None
    ]
    if shutil.which("pkg-config") is None:
        packages += ["pkg-config", "libdpdk-dev"]
    elif subprocess.run(["pkg-config", "--exists", "libdpdk"]).returncode != 0:
        packages.append("libdpdk-dev")
    if not packages:
        return None
    return f"the native bench needs {', '.join(packages)}. Debian, Ubuntu: apt install {' '.join(packages)}"


def programs(names: Sequence[str]) -> dict[str, ir.Program]:
    """The examples, checked."""
    return {name: check(ROOT / "examples" / name / f"{name}.nf", Report()) for name in names}


def write_generated(checked: dict[str, ir.Program], folder: Path) -> None:
    """NAME.hpp of each; files whose text stays the same are left alone, so that nothing is built twice."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, program in checked.items():
        path = folder / f"{name}.hpp"
        try:
            files = {path: generate(program), folder / f"{name}_facts.hpp": facts(program)}
        except Unsupported as error:
            print(f"{name} has no generated code: {error}", file=sys.stderr)
            path.unlink(missing_ok=True)
            continue
        for file, text in files.items():
            if not file.exists() or file.read_text(encoding="utf-8") != text:
                file.write_text(text, encoding="utf-8")


def facts(program: ir.Program) -> str:
    """What native/generated.hpp needs to know: where edits of fields frames go, and which flow maps there are."""
    places = []
    for one in layout(program).classes:
        for edit in one.edits if one.number is not None else ():
            instance = program.parser.instances[edit.instance]
            if edit.kind == "field" and instance.name in HEADERS:
                f = instance.header.fields[edit.field]
                numbers = (one.number, HEADERS[instance.name] * 8 + f.offset, f.width, edit.offset, edit.length)
                places.append(f"    {{{', '.join(map(str, numbers))}}},")
    maps = [name for name, decl in program.state.items() if isinstance(decl, ir.MapDecl)]
    return "\n".join(
        [
            f"// What the bench must know of {program.name}; written by tests/bench/native_build.py.",
            "namespace polysome::bench {",
            f"inline constexpr std::array<EditPlace, {len(places)}> edit_places{{{{",
            *places,
            "}};",
            "template <class Nf, class Each>",
            "void each_map([[maybe_unused]] const Nf& nf, [[maybe_unused]] Each&& each) {",
            *(f"    each(nf.state.{identifier(name)});" for name in maps),
            "}",
            "}  // namespace polysome::bench",
            "",
        ]
    )


def build(checked: dict[str, ir.Program], folder: Path, alone: bool) -> bool:
    """Builds a program for each, and that of the flow map if it is wanted `alone`; see `build_programs`."""
    write_generated(checked, folder / "generated")
    return build_programs(folder, [f"bench_{name}" for name in checked] + ["bench_table"] * alone)


def build_programs(folder: Path, targets: Sequence[str]) -> bool:
    """Builds what native/CMakeLists.txt has by these names; prints what the compiler says if one does not build."""
    generated = f"-DGENERATED_DIR={folder / 'generated'}"
    configure = ["cmake", "-G", "Ninja", "-S", str(SOURCE), "-B", str(folder), generated]
    environment = {**os.environ, "CXX": os.environ.get("CXX", "clang++")}
    for command in (configure, ["ninja", "-C", str(folder), *targets]):
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
        if done.returncode != 0:
            print(done.stdout + done.stderr, file=sys.stderr)
            return False
    return True
