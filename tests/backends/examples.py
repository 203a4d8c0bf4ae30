"""The examples for the tests of backends: their programs, config and captures, and what the interpreter sends."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import dpkt

from polysome.backends.folder import contents
from polysome.backends.manifest import write
from polysome.backends.nf_cpp.config_blob import encode
from polysome.captures.merge import merge
from polysome.config.load import load_config
from polysome.config.tables import Tables
from polysome.interp.machine import Machine
from polysome.ir import program as ir
from polysome.semantics.check import Options, check
from polysome.syntax.diagnostics import Report

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


@dataclass
class Sent:
    """A sink: the packets that leave each port, in order."""

    ports: tuple[str, ...]
    packets: dict[str, list[bytes]] = field(default_factory=dict)

    def leave(self, port: int, time: int, data: bytes, order: int) -> None:
        self.packets.setdefault(self.ports[port], []).append(data)

    def emitted(self, port: int, time: int, data: bytes) -> None:
        self.packets.setdefault(self.ports[port], []).append(data)


def program(example: str, **capacities: int) -> ir.Program:
    return check(EXAMPLES / example / f"{example}.nf", Report(), Options({}, capacities))


def config(program: ir.Program) -> Mapping[str, Any]:
    folder = EXAMPLES / program.name
    files = [str(p) for p in folder.glob("config*.toml")] + [f"{p.stem}={p}" for p in folder.glob("*.csv")]
    return load_config(program, files, Report()) if files else {}


def write_folder(target: Path, program: ir.Program) -> None:
    """What `polysome compile` writes, with the example's config."""
    write(target, contents(program, encode(program, config(program))), {"nf": program.name})


def interpreted(program: ir.Program, captures: Mapping[str, Path]) -> tuple[Machine, dict[str, list[bytes]]]:
    """The interpreter after the captures (by port), and what it sent to each port."""
    sink = Sent(program.ports)
    machine = Machine(program, Tables(program, dict(config(program))), sink)
    for port, packet in merge(list(captures.items())):
        assert port is not None
        machine.arrive(program.ports.index(port), packet.time, packet.data)
    machine.finish()
    return machine, sink.packets


def packets(capture: Path) -> list[bytes]:
    """The packets of a pcap file."""
    with capture.open("rb") as file:
        return [data for _, data in dpkt.pcap.UniversalReader(file)]
