"""A FastClick package of an NF: its elements, a Makefile, and configurations for captures and for DPDK ports.

What the elements do is in runtime/host/fastclick.hpp. One takes whole packets: input and output K are the logical port
K. The other takes the frames of a switch that keeps the packets; it is left out if the schedule may hold packets, or if
there are more ports than the tags of such frames can name.
"""

from __future__ import annotations

import struct

from polysome.analysis.framed import MOST_PORTS
from polysome.backends.nf_cpp.generate import namespace
from polysome.backends.nf_cpp.lines import fitted
from polysome.backends.nf_cpp.names import identifier
from polysome.backends.templates import camel, fill
from polysome.ir import program as ir
from polysome_protocol import FRAMES

# A capture of Ethernet frames without any: what a port without an input is given.
EMPTY = struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 65535, 1)


def emit(program: ir.Program, runtime: str = "runtime") -> dict[str, bytes]:
    """The package's files, by path in the folder of the NF; `runtime`: of the headers, from that folder."""
    name = program.name
    values = {
        "name": name,
        "nf": namespace(program),
        "upper": f"POLYSOME_{name.upper()}",
        "element": element(program),
        "package": package(program),
        "runtime": runtime,
        "doc": program.doc.strip().split("\n")[0].replace("*/", "* /") or f"the network function {name}",
        "count": str(len(program.ports)),
        "flows": "".join(f'\n        each("{m}", nf.state.{identifier(m)}.size());' for m in _maps(program)),
        "ether_type": f"0x{FRAMES.ether_type:04X}",
        "port_lines": "".join(f"Port {k} is `{port}`.\n" for k, port in enumerate(program.ports)),
    }
    found = {
        f"{name}.hh": fill("fastclick/element.hh", values),
        f"{name}.cc": fill("fastclick/element.cc", values),
        "Makefile": fill("fastclick/Makefile", values),
        f"{name}-capture.click": fill("fastclick/capture.click", {**values, **_capture(program)}),
        f"{name}-dpdk.click": fill("fastclick/dpdk.click", {**values, **_dpdk(program)}),
    }
    if immediate(program) and len(program.ports) <= MOST_PORTS:
        found[f"{name}_fields.hh"] = fill("fastclick/fields.hh", values)
        found[f"{name}_fields.cc"] = fill("fastclick/fields.cc", values)
        found[f"{name}-fields.click"] = fill("fastclick/fields.click", values)
    fitting = {path: fitted(text) if path.endswith((".hh", ".cc")) else text for path, text in found.items()}
    files = {path: text.encode() for path, text in fitting.items()}
    return {f"fastclick/{path}": data for path, data in {**files, "empty.pcap": EMPTY}.items()}


def immediate(program: ir.Program) -> bool:
    """Does every packet leave at once? Only then can the switch keep it (runtime/nf/fields_frames.hpp)."""
    return program.schedule.plain


def element(program: ir.Program) -> str:
    """The element's class: not a name that FastClick's own elements or classes have."""
    return f"Polysome{camel(program.name)}"


def package(program: ir.Program) -> str:
    """What `require(package ...)` names."""
    return f"polysome_{program.name}"


def _maps(program: ir.Program) -> list[str]:
    return [name for name, decl in program.state.items() if isinstance(decl, ir.MapDecl)]


def _handled(program: ir.Program) -> list[int]:
    return sorted({port for handler in program.packet_handlers for port in handler.ports})


def _capture(program: ir.Program) -> dict[str, str]:
    """One file per handled port; several are merged by time, as `polysome run` does."""
    ports, handled = program.ports, _handled(program)
    idle = [f"Idle -> [{k}]nf;" for k in range(len(ports)) if k not in handled]
    if len(handled) == 1:
        sources = [f"FromDump($in_{ports[handled[0]]}, STOP true) -> [{handled[0]}]nf;"]
    else:
        sources = ["merged :: TimeSortedSched(STOP true);"]
        sources += [f"FromDump($in_{ports[k]}) -> Paint({k}) -> [{i}]merged;" for i, k in enumerate(handled)]
        sources += ["merged -> Unqueue(BURST 1) -> by_port :: PaintSwitch;"]
        sources += [f"by_port[{k}] -> {f'[{k}]nf' if k in handled else 'Discard'};" for k in range(max(handled) + 1)]
    return {
        "example_args": " ".join(f"in_{ports[k]}={ports[k]}.pcap" for k in handled),
        "defaults": ", ".join(
            [f"$in_{ports[k]} empty.pcap" for k in handled] + [f"$out_{port} {port}-out.pcap" for port in ports]
        ),
        "sources": "\n".join([*sources, *idle]),
        "sinks": "\n".join(f"nf[{k}] -> ToDump($out_{port}, SNAPLEN 0, NANO true);" for k, port in enumerate(ports)),
        "manager": "DriverManager(pause, print nf.in, print nf.sent, print nf.held, print nf.drops, stop);",
    }


def _dpdk(program: ir.Program) -> dict[str, str]:
    """All ports on one thread, because the NF's state is one."""
    ports = range(len(program.ports))
    sources = [f"FromDPDKDevice({k}, BURST $burst, MAXTHREADS 1) -> [{k}]nf;" for k in ports]
    return {
        "sources": "\n".join(sources),
        "sinks": "\n".join(f"nf[{k}] -> ToDPDKDevice({k});" for k in ports),
    }
