"""Which port a packet of the trace arrives at, and gaps in time (LANGUAGE.md L2.6, L5.5)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

from polysome.analysis.relevance import passing
from polysome.config.tables import Tables
from polysome.interp.code import code_of
from polysome.interp.machine import Machine, Nowhere
from polysome.ir import program as ir


class Turns:
    """The rule for a capture that names no port (L5.5).

    With one handled port, every packet arrives there. With several, the first packet of a conversation arrives at the
    next of them in turn, in declaration order; packets of the same flow at the same port, those of the reverse flow at
    the port after it. Packets without a flow (the parser has no value `flow` with src, dst, sport, dport, or all are 0)
    take the next port in turn each.
    """

    def __init__(self, machine: Machine) -> None:
        """`machine` is asked for flows; it runs nothing."""
        self._machine = machine
        self.ports = sorted({port for h in machine.program.packet_handlers for port in h.ports})
        self._turn = 0
        self._port: dict[tuple[int, ...], int] = {}

    @classmethod
    def of(cls, program: ir.Program, config: Mapping[str, Any]) -> Self:
        """With a machine of its own."""
        return cls(Machine(program, Tables(program, config), Nowhere(), code_of(program)))

    def port(self, data: bytes) -> int:
        """The port for the next packet."""
        if len(self.ports) == 1:
            return self.ports[0]
        flow = self._machine.flow(data)
        if flow is None:
            return self._next()
        known = self._port.get(flow)
        if known is not None:
            return known
        src, dst, sport, dport, *rest = flow
        reverse = self._port.get((dst, src, dport, sport, *rest))
        after = None if reverse is None else (self.ports.index(reverse) + 1) % len(self.ports)
        port = self._next() if after is None else self.ports[after]
        self._port[flow] = port
        return port

    def handled(self, port: int, data: bytes) -> bool:
        """Has the port a handler, and does the packet meet the NF's contract?"""
        if port not in self.ports:
            return False
        parser = self._machine.program.parser
        path = tuple(self._machine.parse(port, data).path)
        return bool(passing(self._machine.program) >> parser.classes.index(path) & 1)

    def _next(self) -> int:
        port = self.ports[self._turn % len(self.ports)]
        self._turn += 1
        return port


class Gaps:
    """Shortens gaps between packets above `longest` ns to it and shifts all that follows."""

    def __init__(self, longest: int) -> None:
        self.longest = longest
        self.shortened = 0
        self.removed = 0
        self._last: int | None = None

    def time(self, arrival: int) -> int:
        """The packet's time after shortening; never before the packet that came before it."""
        shifted = arrival - self.removed
        if self._last is not None and shifted - self._last > self.longest:
            self.removed += shifted - self._last - self.longest
            self.shortened += 1
            shifted = self._last + self.longest
        self._last = shifted if self._last is None else max(self._last, shifted)
        return shifted
