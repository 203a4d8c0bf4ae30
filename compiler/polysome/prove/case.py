"""What is proved: that a switch's program, known by its text, does to every packet what the spec says."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from polysome import smt
from polysome.analysis.layout import ClassLayout
from polysome.ir import program as ir
from polysome.p4 import program as pr
from polysome.p4.architecture import ARCHITECTURES
from polysome.p4.limits import ChipLimits
from polysome.plan.way import Way
from polysome.prove.p4.tables import Entries
from polysome.prove.window import Frame, Term, Window
from polysome.prove.wire import LINK
from polysome_protocol import PORT_METADATA, Role

PLAIN, TRAFFIC, NF, SERVER = Role.plain, Role.traffic, Role.nf, Role.server
RECIRCULATION, GENERATOR, CONTROLLER = Role.recirculation, Role.generator, Role.controller
FROM_MAC = {PLAIN, TRAFFIC, NF, SERVER, CONTROLLER}


@dataclass(frozen=True)
class Addresses:
    """The switch's own, as numbers; `recirculation`: the port whose frames come back."""

    mac: int
    ip: int
    recirculation: int


@dataclass(frozen=True)
class Case:
    """A program, the P4 that is to be its switch's, and what the controller will put into the P4's tables.

    `ways`: what the plan says of each way that it splits, lengths included (`Way.within`). `entries`: of tables, by
    full name; those that are not listed may hold anything. `sessions`: the longest length of each way's mirror session.
    `cell`, `cells`: bytes of a cell, and how many a server's region has; `timeout`: how long edits wait, in ticks of
    the clock; `most_reads`: that a queue pair may have out. `nf`: the C++ that the NF is compiled from; ""
    if it has none.
    """

    program: ir.Program
    p4: pr.Program
    chip: ChipLimits
    ways: tuple[Way, ...]
    layouts: tuple[ClassLayout, ...]
    addresses: Addresses
    entries: Entries
    sessions: tuple[int, ...]
    cell: int
    cells: int
    timeout: int
    most_reads: int
    nf: str

    @cached_property
    def frame(self) -> Frame:
        """The packet."""
        return Frame()

    @cached_property
    def own_address(self) -> Term:
        """Is the packet from or to the switch itself (PROTOCOL.md, rule 8)? One without a link header is neither."""
        mac, there = self.addresses.mac, smt.simplify(Window(self.frame).has(LINK))
        return smt.And(there, smt.Or(smt.simplify(self.bits(0, 48) == mac), smt.simplify(self.bits(48, 48) == mac)))

    def bits(self, at: int, width: int) -> Term:
        """Of the packet: `width` bits from bit `at` on."""
        return Window(self.frame).bits(at, width)

    def headers(self, instances: Iterable[int]) -> str:
        """Their names, as people read them."""
        return " / ".join(self.program.parser.instances[i].name for i in instances)

    def layout(self, number: int) -> ClassLayout | None:
        """Of the class that frames call `number`."""
        return next((one for one in self.layouts if one.number == number), None)


def port_metadata(program: pr.Program, role: int, index: Term | int = 0) -> Term:
    """What the controller has the chip put before a frame that comes in by a port: role, number of the spec's port."""
    number = smt.BitVecVal(index, 8) if isinstance(index, int) else index
    rest = ARCHITECTURES[program.arch].port_metadata - PORT_METADATA["index"].end
    return smt.Concat(smt.BitVecVal(role, PORT_METADATA["role"].bits), number, smt.BitVecVal(0, rest))
