"""The folder that `polysome compile` writes: everything of one NF, and it builds by itself."""

from __future__ import annotations

from polysome.backends.dpdk.emit import emit as emit_dpdk
from polysome.backends.fastclick.emit import emit as emit_fastclick
from polysome.backends.fastclick.emit import immediate
from polysome.backends.nf_cpp.generate import generate, namespace
from polysome.backends.templates import fill
from polysome.ir import program as ir
from polysome.resources import folder

PARTS = ("nf", "host")  # folders of runtime/ that generated code includes
_PROFILE = "what the capture of `--profile` needed most, for clang; `-DPROFILE=OFF` builds without it"


def contents(program: ir.Program, config: bytes, profile: bytes | None = None) -> dict[str, bytes]:
    """The files by path in the folder; `config` is the blob that programs read at their start, `profile` one for clang.

    A function of its arguments and of the installed Polysome: the same give the same bytes. Raises Unsupported for what
    has no C++ yet.
    """
    values = {"name": program.name, "nf": namespace(program)}
    texts = {f"nf/{values['nf']}.hpp": generate(program), **emit_dpdk(program)}
    for name in ("library.cpp", "pcap_host.cpp", "af_packet_host.cpp"):
        texts[name] = fill(f"program/{name}", values)
    lines = fill("program/profile.cmake", values) if profile is not None else ""
    texts["CMakeLists.txt"] = fill("program/CMakeLists.txt", {**values, "profile": lines})
    row = f"| `{values['nf']}.profdata` | {_PROFILE} |\n" if profile is not None else ""
    texts["README.md"] = fill("program/README.md", {**values, **_readme(program), "profile": row})
    files = {path: text.encode() for path, text in texts.items()}
    if profile is not None:
        files[f"{values['nf']}.profdata"] = profile
    files |= emit_fastclick(program) | _runtime() | {"config.bin": config}
    return dict(sorted(files.items()))


def _readme(program: ir.Program) -> dict[str, str]:
    first = min(port for handler in program.packet_handlers for port in handler.ports)
    fields = f", and `fastclick/{program.name}-fields.click` behind a switch that keeps the packets"
    return {
        "ports": ", ".join(f"{number} `{name}`" for number, name in enumerate(program.ports)),
        "first": program.ports[first],
        "fields": fields if immediate(program) else "",
    }


def _runtime() -> dict[str, bytes]:
    """The runtime's headers, so that the folder needs no checkout."""
    top = folder("runtime")
    found = [path for part in PARTS for path in sorted((top / part).rglob("*.hpp"))]
    return {f"runtime/{path.relative_to(top).as_posix()}": path.read_bytes() for path in found}
