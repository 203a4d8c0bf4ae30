"""The folder that `polysome compile` writes: everything of one NF, and it builds by itself."""

from __future__ import annotations

from polysome.analysis.framed import MOST_PORTS
from polysome.backends.dpdk.emit import emit as emit_dpdk
from polysome.backends.fastclick.emit import emit as emit_fastclick
from polysome.backends.fastclick.emit import immediate
from polysome.backends.nf_cpp.generate import generate, namespace
from polysome.backends.templates import fill
from polysome.ir import program as ir
from polysome.resources import folder
from polysome_protocol import text_hash

PARTS = ("nf", "host", "control", "protocol")  # folders of runtime/ that generated code includes
HOSTS = ("library.cpp", "pcap_host.cpp", "af_packet_host.cpp")
BEHIND_A_SWITCH = ("fields_af_packet_host.cpp", "fields_dpdk.cpp", "fields_control.cpp")
_SUFFIXES = (".hpp", ".proto", ".cmake")
OWN = "runtime"
_PROFILE = "what the capture of `--profile` needed most, for clang; `-DPROFILE=OFF` builds without it"

_ROWS = """\
| `fields_af_packet_host.cpp`, `fields_dpdk.cpp` | programs that run it behind a switch that keeps the packets |
| `fields_control.cpp` | what these answer to the deployment's controller |
"""


def contents(program: ir.Program, config: bytes, profile: bytes | None = None, runtime: str = OWN) -> dict[str, bytes]:
    """The files by path in the folder; `config` is the blob that programs read at their start, `profile` one for clang.
    `runtime`: where the runtime is from the folder; its own, or one that is there already.

    A function of its arguments and of the installed Polysome: the same give the same bytes. Raises Unsupported for what
    has no C++ yet.
    """
    values = {"name": program.name, "nf": namespace(program), "runtime": runtime}
    header = generate(program)
    texts = {f"nf/{values['nf']}.hpp": header, **emit_dpdk(program)}
    texts |= {name: fill(f"program/{name}", values) for name in HOSTS}
    behind = section = {"behind": "", "rows": ""}
    if len(program.ports) <= MOST_PORTS:
        texts |= {name: fill(f"program/{name}", values | {"program": text_hash(header)}) for name in BEHIND_A_SWITCH}
        behind = {"behind": fill("program/fields.cmake", values)}
        section = {"behind": fill("program/fields.md", values), "rows": _ROWS}
    lines = fill("program/profile.cmake", values) if profile is not None else ""
    texts["CMakeLists.txt"] = fill("program/CMakeLists.txt", {**values, **behind, "profile": lines})
    row = f"| `{values['nf']}.profdata` | {_PROFILE} |\n" if profile is not None else ""
    texts["README.md"] = fill("program/README.md", {**values, **_readme(program), **section, "profile": row})
    files = {path: text.encode() for path, text in texts.items()}
    if profile is not None:
        files[f"{values['nf']}.profdata"] = profile
    files |= emit_fastclick(program, runtime) | {"config.bin": config}
    if runtime == OWN:
        files |= _runtime()
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
    """What of the runtime the programs are built from, so that the folder needs no checkout."""
    top = folder("runtime")
    found = [path for part in PARTS for path in sorted((top / part).rglob("*")) if path.suffix in _SUFFIXES]
    return {f"runtime/{path.relative_to(top).as_posix()}": path.read_bytes() for path in found}
