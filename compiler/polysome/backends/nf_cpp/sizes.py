"""The numbers that a native NF gets at its start, since its code does not depend on them: the room it has."""

from __future__ import annotations

from polysome.ir import program as ir
from polysome.kinds.state import bloom, count_min, hyperloglog, top_k

NOT_GIVEN = 2**64 - 1
SCHEDULE = ("serve", "classes", "idle", "buffer", "queue", "window", "count")


def sizes(program: ir.Program) -> tuple[int, ...]:
    """64-bit numbers: of each state in order of declaration, then of the schedule (`SCHEDULE`, NOT_GIVEN for none).

    A map or set has its capacity; a pool low and high of each axis that is a range; a count_min width and depth, a
    bloom bits and bits per key, a hyperloglog the bits of a register's number, a top_k keys shown and counters; arrays
    and scalars nothing.
    """
    found = [number for decl in program.state.values() for number in of_state(decl)]
    for name in SCHEDULE:
        value = program.schedule.options.get(name)
        found.append(value if isinstance(value, int) else NOT_GIVEN)
    return tuple(found)


def of_state(decl: ir.AnyState) -> tuple[int, ...]:
    """The numbers of one state."""
    match decl:
        case ir.MapDecl(capacity=capacity):
            return (capacity,)
        case ir.PoolDecl(axes=axes):
            return tuple(bound for axis in axes if not isinstance(axis, str) for bound in axis)
        case ir.KindDecl(kind=kind, options=options):
            match kind:
                case "count_min":
                    return count_min.width(options["error"]), count_min.depth(options["confidence"])
                case "bloom":
                    return bloom.bits(options["capacity"], options["error"]), bloom.hashes(options["error"])
                case "hyperloglog":
                    return (hyperloglog.bits(options["error"]),)
                case "top_k":
                    return options["k"], top_k.counters(options)
                case _:
                    raise TypeError(f"nobody said how the size of a {kind} is given to a native NF")
        case _:
            return ()
