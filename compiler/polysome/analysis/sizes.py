"""How much memory state takes: its data, packed to bytes, and the times that entries keep.

What an engine adds for finding entries (buckets, links) is its own affair and not counted.
"""

from __future__ import annotations

from dataclasses import dataclass

from polysome.ir import program as ir
from polysome.ir import types as t
from polysome.kinds.policy import POLICIES
from polysome.kinds.policy.base import Settings
from polysome.kinds.state import STATE_KINDS

TIME = 8  # bytes of a time in ns
BUCKET = 16 + 8  # tokens (128 bits) and the time of the last take (STATE.md, section 4)
ROW = 4  # the number of a config row


@dataclass(frozen=True)
class StateSize:
    """`entries` at most, of `entry` bytes each (None: not made of entries that are all alike), `memory` bytes in all.

    `per`: lists of config that multiply entries and memory by their rows. `note`: what the options made of it.
    """

    entries: int | None
    entry: int | None
    memory: int
    per: tuple[str, ...] = ()
    note: str = ""


def state_size(decl: ir.AnyState) -> StateSize:
    """The memory of one copy of the state (with `per core`, of one core's)."""
    match decl:
        case ir.MapDecl():
            entry = type_bytes(decl.key) + (type_bytes(decl.value) if decl.value is not None else 0)
            entry += sum(TIME for timeout in (decl.idle, decl.age) if timeout is not None)
            entry += sum(type_bytes(index.key.type) for index in decl.indexes)
            return StateSize(decl.capacity, entry, decl.capacity * entry)
        case ir.PoolDecl():
            return _pool(decl)
        case ir.ArrayDecl():
            entry = type_bytes(decl.item)
            return StateSize(decl.size, entry, decl.size * entry)
        case ir.ScalarDecl():
            return StateSize(1, type_bytes(decl.type), type_bytes(decl.type))
        case ir.KindDecl():
            kind = STATE_KINDS[decl.kind]
            bits = [8 * type_bytes(p) for p in decl.params] + [0, 0]
            return StateSize(None, None, kind.memory(decl.options, bits[0], bits[1]), note=kind.note(decl.options))


def _pool(decl: ir.PoolDecl) -> StateSize:
    entries = 1
    for axis in decl.axes:
        if isinstance(axis, tuple):
            entries *= max(0, axis[1] - axis[0] + 1)
    entry = type_bytes(decl.item)
    note = "for each value of `per`" if decl.per is not None else ""
    return StateSize(entries, entry, entries * entry, tuple(a for a in decl.axes if isinstance(a, str)), note)


def type_bytes(type: t.Type) -> int:
    """Bytes of a value, each part in whole bytes."""
    match type:
        case t.Struct(_, fields):
            return sum(type_bytes(f) for _, f in fields)
        case t.Tuple(items):
            return sum(type_bytes(i) for i in items)
        case t.FromPool(_, item):
            return type_bytes(item)
        case t.Ref():
            return ROW
        case t.Bucket():
            return BUCKET
        case _:
            bits = t.width(type)
            return (bits + 7) // 8 if bits is not None else ROW


def settings(schedule: ir.Schedule) -> Settings:
    """The schedule's constants as its policy takes them."""
    return Settings(**schedule.options)  # type: ignore[arg-type]


def schedule_memory(schedule: ir.Schedule) -> int:
    """Bytes that the schedule holds at most, packets and classes (SCHEDULE.md P1.9)."""
    return POLICIES[schedule.policy].memory(settings(schedule), t.width(schedule.cls.type) or 0)
