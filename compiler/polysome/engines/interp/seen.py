"""A packet with the eyes of the NF: its own parser's headers and fields, and which of them it needs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

from polysome.analysis.relevance import packet_reads, passing
from polysome.analysis.values_text import text
from polysome.config.tables import Tables
from polysome.engines.trace import Trace
from polysome.interp.code import code_of
from polysome.interp.machine import Machine, Nowhere
from polysome.interp.packet import Packet, read_bits
from polysome.ir import program as ir
from polysome.ir import types as t
from polysome.ir.reads import PacketRead


class Eyes:
    """Parses packets as the program of `machine` does."""

    def __init__(self, machine: Machine) -> None:
        self.program = machine.program
        self.parse = machine.parse

    @staticmethod
    def of(program: ir.Program, trace: Trace) -> Eyes:
        """Those of a machine that runs nothing else."""
        return Eyes(Machine(program, Tables(program, trace.config), Nowhere(), code_of(program)))

    @staticmethod
    def of_parser(program: ir.Program) -> Eyes:
        """Those of the program's parser; all else of it is left out, the config too."""
        parser = replace(program, packet_handlers=(), end_handlers={}, timers=(), state={}, config={})
        return Eyes(Machine(parser, Tables(parser, {}), Nowhere()))

    def headers(self, p: Packet) -> list[str]:
        """The headers it found, outermost first."""
        return [self.program.parser.instances[i].name for i in p.path]

    def passes(self, p: Packet) -> bool:
        """Has it what the NF demands, so that a handler sees it?"""
        return bool(passing(self.program) >> self._class(p) & 1)

    def relevant(self, p: Packet) -> dict[str, str]:
        """The fields that the NF reads of such a packet, by name in wire order; nothing for one no handler sees."""
        found: dict[tuple[int, int], tuple[str, str]] = {}
        instances, place = self.program.parser.instances, {i: n for n, i in enumerate(p.path)}
        for read in _reads(self.program):
            if not read.classes >> self._class(p) & 1:
                continue
            match read.node:
                case ir.HeaderField(instance=i, field=f):
                    found[place[i], f] = self._field(p, i, instances[i].header.fields[f])
                case ir.RestBytes(instance=i, field=f):
                    name = f"{instances[i].name}.{instances[i].header.fields[f].name}"
                    found[place[i], f] = name, self._rest(p, i)
                case ir.PayloadBytes():
                    shown = text(p.data[p.payload : p.end], t.BYTE_STRING, self.program)
                    found[len(place), 0] = "payload", shown
        return dict(found[key] for key in sorted(found))

    def fields(self, p: Packet) -> dict[str, str]:
        """All fields, by name; what is behind the headers is `payload`."""
        every = [(i, f) for i in p.path for f in self.program.parser.instances[i].header.fields if f.width]
        found = dict(self._field(p, i, f) for i, f in every)
        for i in p.path:
            instance = self.program.parser.instances[i]
            found |= {f"{instance.name}.{f.name}": self._rest(p, i) for f in instance.header.fields if f.rest}
        return found | {"payload": text(p.data[p.payload :], t.BYTE_STRING, self.program)}

    def _rest(self, p: Packet, i: int) -> str:
        first = p.offset[i] + self.program.parser.instances[i].header.fixed
        return text(p.data[first : p.header_end[i]], t.BYTE_STRING, self.program)

    def _field(self, p: Packet, i: int, f: ir.Field) -> tuple[str, str]:
        value = read_bits(p.data, p.offset[i] * 8 + f.offset, f.width, p.header_end[i])
        shown = f"0x{value:04x}" if f.checksum is not None else text(value, f.next or f.type, self.program)
        return f"{self.program.parser.instances[i].name}.{f.name}", shown

    def _class(self, p: Packet) -> int:
        return _numbers(self.program)[tuple(p.path)]


@dataclass(frozen=True)
class Difference:
    """How a packet left: `fields` that changed, as `name old -> new`; `headers` that came or went, as `+vlan`."""

    headers: tuple[str, ...]
    fields: tuple[str, ...]


def difference(eyes: Eyes, port: int, before: bytes, after: bytes) -> Difference:
    """What is different in the packet that left, by the NF's own parser."""
    old, new = eyes.parse(port, before), eyes.parse(port, after)
    gone = [h for h in eyes.headers(old) if h not in eyes.headers(new)]
    came = [h for h in eyes.headers(new) if h not in eyes.headers(old)]
    were, are = eyes.fields(old), eyes.fields(new)
    fields = [f"{name} {were[name]} -> {value}" for name, value in are.items() if were.get(name, value) != value]
    fields += [f"{name} {value}" for name, value in are.items() if name.split(".")[0] in came]
    return Difference((*(f"-{h}" for h in gone), *(f"+{h}" for h in came)), tuple(fields))


@lru_cache(maxsize=64)
def _reads(program: ir.Program) -> tuple[PacketRead, ...]:
    return tuple(packet_reads(program))


@lru_cache(maxsize=64)
def _numbers(program: ir.Program) -> dict[tuple[int, ...], int]:
    return {path: n for n, path in enumerate(program.parser.classes)}
