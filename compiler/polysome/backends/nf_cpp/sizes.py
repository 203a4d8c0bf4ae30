"""The numbers that a native NF gets at its start, since its code does not depend on them: the room it has."""

from __future__ import annotations

from polysome.backends.nf_cpp.types_code import Unsupported
from polysome.ir import program as ir
from polysome.kinds.base import NativeState
from polysome.kinds.state import STATE_KINDS

NOT_GIVEN = 2**64 - 1
SCHEDULE = ("serve", "classes", "idle", "buffer", "queue", "window", "count")


def sizes(program: ir.Program) -> tuple[int, ...]:
    """64-bit numbers: of each state in order of declaration, then of the schedule (`SCHEDULE`, NOT_GIVEN for none).

    A map or set has its capacity; a pool low and high of each axis that is a range; a kind what it says
    (`NativeState.sizes`); arrays and scalars nothing.
    """
    found = [number for decl in program.state.values() for number in of_state(decl)]
    for name in SCHEDULE:
        value = program.schedule.options.get(name)
        found.append(value if isinstance(value, int) else NOT_GIVEN)
    return tuple(found)


def native_of(kind: str) -> NativeState:
    """How the kind of state is in C++; Unsupported if it is not."""
    native = STATE_KINDS[kind].native
    if native is None:
        raise Unsupported(f"state of kind {kind}")
    return native


def of_state(decl: ir.AnyState) -> tuple[int, ...]:
    """The numbers of one state."""
    match decl:
        case ir.MapDecl(capacity=capacity):
            return (capacity,)
        case ir.PoolDecl(axes=axes):
            return tuple(bound for axis in axes if not isinstance(axis, str) for bound in axis)
        case ir.KindDecl(kind=kind, options=options):
            return native_of(kind).sizes(options)
        case _:
            return ()
