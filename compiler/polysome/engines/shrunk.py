"""Programs with little room: full maps, queues and pools after a few packets."""

from __future__ import annotations

import dataclasses
from functools import lru_cache

from polysome.ir import program as ir
from polysome.kinds.state import STATE_KINDS

_FRAME = 1514  # bytes of the largest usual Ethernet frame, without its checksum


@lru_cache(maxsize=256)
def shrunk(program: ir.Program, entries: int) -> ir.Program:
    """The program with room for `entries` in all state that has some, and for as many classes and waiting frames."""
    state = {name: _smaller(decl, entries) for name, decl in program.state.items()}
    limits = {"classes": entries, "queue": entries * _FRAME, "buffer": entries * _FRAME}
    options: dict[str, int | str] = {
        name: min(value, limits[name]) if name in limits and isinstance(value, int) else value
        for name, value in program.schedule.options.items()
    }
    schedule = dataclasses.replace(program.schedule, options=options)
    return dataclasses.replace(program, state=state, schedule=schedule)


def _smaller(decl: ir.AnyState, entries: int) -> ir.AnyState:
    match decl:
        case ir.MapDecl():
            return dataclasses.replace(decl, capacity=min(decl.capacity, entries))
        case ir.PoolDecl():
            axes = tuple(a if isinstance(a, str) else (a[0], min(a[1], a[0] + entries - 1)) for a in decl.axes)
            return dataclasses.replace(decl, axes=axes)
        case ir.KindDecl(kind=kind, options=options):
            rooms = {option.name for option in STATE_KINDS[kind].options if option.room}
            smaller = {name: min(value, entries) if name in rooms else value for name, value in options.items()}
            return dataclasses.replace(decl, options=smaller)
        case _:
            return decl
