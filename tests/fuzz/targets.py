"""The libFuzzer targets of the parts of a deployment that read frames, with AddressSanitizer and
UndefinedBehaviorSanitizer: built from the shipped code and from what is emitted for an example, kept by content."""

from __future__ import annotations

import ctypes
import re
from dataclasses import dataclass
from pathlib import Path

from tests.fuzz.controlled import PLAIN_PORT, as_cpp, set_up
from tests.nf_host.hosts import pkg_config
from tests.system.outcome import START, designed

from polysome.backends.nf_cpp import build
from polysome.backends.nf_cpp.config_blob import encode
from polysome.backends.nf_cpp.generate import generate, namespace
from polysome.backends.nf_cpp.sizes import sizes
from polysome.backends.system.configure import Run, configure
from polysome.backends.system.library import limits, p4_text, translated
from polysome.deploy.build import messages
from polysome.engines.shrunk import shrunk
from polysome.resources import folder

HERE = Path(__file__).resolve().parent
SANITIZED = "-fsanitize=fuzzer,address,undefined"
FLAGS = ("-std=c++20", "-O1", "-g1", "-Wall", "-Wextra", "-fno-omit-frame-pointer")
FLAGS += (SANITIZED, "-fno-sanitize-recover=all")
ROOM = 64  # entries of each state: it is soon full, and made anew for each input


@dataclass(frozen=True)
class Target:
    """`source`: in this folder. `example`: whose NF and P4 program; none for what is the same for all. `control`: with
    the messages of control.proto. `libraries`: for the linker."""

    source: str
    example: str = ""
    control: bool = False
    libraries: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        stem = Path(self.source).stem.removeprefix("fuzz_")
        return f"{stem}-{self.example}" if self.example else stem


TARGETS = (
    Target("fuzz_switch.cpp", "load_balancer", control=True),
    Target("fuzz_system.cpp", "load_balancer"),
    Target("fuzz_nf_host.cpp", "nat"),
    Target("fuzz_nf_host.cpp", "shaper"),
    Target("fuzz_agent.cpp", control=True, libraries=("-lnuma",)),
    Target("fuzz_responder.cpp"),
)


def built(target: Target) -> Path:
    """The program. BuildError if it does not build."""
    source = (HERE / target.source).read_text()
    headers = {path.name: path.read_text() for path in (*HERE.glob("*.hpp"), HERE.parent / "rdma" / "requester.hpp")}
    flags = FLAGS
    if target.example:
        headers |= _emitted(target.example)
    if target.control:
        # Without sanitizers: it is protoc's code, and the library that it calls has none either.
        place = messages(folder("runtime"))
        flags += (f"-isystem{place / 'control'}", str(place / "libpolysome_control.a"))
        flags += tuple(pkg_config("--libs", "protobuf"))
    return build.built(f"fuzz_{target.name.replace('-', '_')}", "", source, (*flags, *target.libraries), headers)


def _emitted(example: str) -> dict[str, str]:
    """What a bundle of the example has of C++, and the deployment that the simulated system has."""
    spec, design = designed(example)
    name = namespace(spec.program)
    nf = f'#include "{name}.hpp"\nnamespace fuzz {{ using Nf = polysome::nf::{name}::Nf; }}\n'
    return {
        f"{name}.hpp": generate(shrunk(spec.program, ROOM), carry=design.carry),
        "nf.hpp": nf,
        "program.hpp": translated(f"{name}.p4", p4_text(design), limits(design.site.switch)),
        "described.hpp": _described(example),
    }


# ---------------------------------------------------------------- a deployment as C++


def _described(example: str) -> str:
    """`described()`, a polysome_system with all that it points to; `set_up(to)`, what its controller does before the
    first packet; `config()`, the NF's, and `cell`, bytes of one."""
    spec, design = designed(example)
    arrays: list[str] = []
    run = Run(sizes(shrunk(spec.program, ROOM)), start=START, capture=True)
    system, site = configure(design, run), design.site
    members = _literal(system, arrays)
    config = encode(spec.program, spec.config or {})
    size, blob = len(config), ", ".join(map(str, config))
    lines = [
        "#pragma once",
        "#include <array>",
        "#include <span>",
        '#include "system/c_config.hpp"',
        "namespace fuzz {",
        f"inline constexpr std::size_t cell = {design.sizes.cell};",
        f"inline constexpr std::uint64_t start = {START}u;",
        f"inline constexpr std::uint16_t controller_port = {site.cpu_port}, plain_port = {PLAIN_PORT};",
        "inline std::span<const std::uint8_t> config_blob() {",
        f"    static constexpr std::array<std::uint8_t, {size}> blob = {{{blob}}};",
        "    return blob;",
        "}",
        "inline polysome_system described() {",
        *(f"    {line}" for line in arrays),
        f"    return {members};",
        "}",
        *as_cpp(set_up(spec, design, run)),
        "}  // namespace fuzz",
    ]
    return "\n".join(lines) + "\n"


def _literal(of: ctypes.Structure, arrays: list[str]) -> str:
    """A struct's members in order; what they point to becomes arrays, as long as the member `..._count` says."""
    members = []
    for name, kind in ((field[0], field[1]) for field in of._fields_):
        value = getattr(of, name)
        if isinstance(value, ctypes._Pointer):
            members.append(_array(name, kind._type_, value[: _count(of, name)], arrays))
        elif isinstance(value, ctypes.Structure):
            members.append(_literal(value, arrays))
        elif isinstance(value, ctypes.Array):
            members.append("{" + ", ".join(map(str, value)) + "}")
        else:
            members.append(f"{value}u" if isinstance(value, int) else str(value))
    return "{" + ", ".join(members) + "}"


def _array(name: str, kind: type, values: list[object], arrays: list[str]) -> str:
    if not values:
        return "nullptr"
    texts = [_literal(value, arrays) if isinstance(value, ctypes.Structure) else f"{value}u" for value in values]
    struct = issubclass(kind, ctypes.Structure)
    c_type = f"polysome_{kind.__name__.lower()}" if struct else f"std::uint{8 * ctypes.sizeof(kind)}_t"
    arrays.append(f"static constexpr {c_type} {name}[] = {{{', '.join(texts)}}};")
    return name


def _count(of: ctypes.Structure, name: str) -> int:
    found = [field[0] for field in of._fields_ if re.fullmatch(rf"{name.rstrip('s')}s?_count", field[0])]
    return int(getattr(of, found[0]))
