"""The sets of ports that an NF may send to."""

from __future__ import annotations

from itertools import combinations

from polysome.backends.nf_cpp.types_code import Unsupported
from polysome.ir import program as ir
from polysome.ir import types as t
from polysome.ir.walk import walk
from polysome_protocol import VERDICTS

MOST_SET_PORTS = 8  # the table of verdicts has 512 entries: any set of so many ports


def port_sets(program: ir.Program) -> list[int]:
    """As verdicts (runtime/PROTOCOL.md): any set of two ports and more, if the NF sends to sets at all.

    Raises Unsupported if the switch's table has no room for them.
    """
    bodies = [handler.body for handler in program.packet_handlers]
    if not any(isinstance(n, ir.Send) and isinstance(n.target.type, t.SetOf) for n in walk(bodies)):
        return []
    ports = range(len(program.ports))
    if len(ports) > MOST_SET_PORTS:
        raise Unsupported(f"copies to several of {len(ports)} ports: the switch's table has room for {MOST_SET_PORTS}")
    sets = [chosen for size in range(2, len(ports) + 1) for chosen in combinations(ports, size)]
    return [VERDICTS.set | sum(1 << port for port in chosen) for chosen in sets]
