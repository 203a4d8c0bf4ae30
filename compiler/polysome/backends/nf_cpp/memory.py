"""How much memory a native NF's state takes, computed without a compiler.

The data structures are those of runtime/nf: `bytes_per_entry` and `memory` there are said here once more, and a test
compares the two. Sizes of values follow the Itanium C++ ABI, as on all 64-bit systems that native NFs are built for.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from polysome.backends.nf_cpp.state_code import steady, varies
from polysome.backends.nf_cpp.types_code import bits_of, key_parts, words
from polysome.ir import program as ir
from polysome.ir import types as t
from polysome.ir.value_places import row_places
from polysome.kinds.state import STATE_KINDS

WORD = 8
NEAR = 2  # words of a compact key
LINE = 64  # bytes of a cache line
HOUR = 3600 * 10**9

# runtime/nf/flow_map/table.hpp: places of a bucket, and its bytes
PLACES, PLACE_BUCKET = 30, 32
INDEX_PLACES, INDEX_BUCKET, INDEX_ROOM = 12, 64, 2
# runtime/nf/flow_map/slots.hpp: notes in a chunk, and its bytes; wheel.hpp: bytes of a slot, and entries to one
NOTES, CHUNK = 15, 128
SLOT, PER_SLOT = 8, 64
RANKED = 24  # runtime/nf/flow_map/heap.hpp: bytes of an entry in a queue

POOLED = 8  # of a value that was given out: who holds it, and its turn among those that are free


@dataclass(frozen=True)
class StateSize:
    """`entries` at most, of `entry` bytes each (None: not made of entries of whole bytes), `memory` bytes in all.

    `per`: lists of config that multiply entries and memory by their rows. `note`: what the options made of it. `ipv6`:
    bytes besides, of an entry whose key has an IPv6 address (runtime/nf/flow_map/key.hpp).
    """

    entries: int | None
    entry: int | None
    memory: int
    per: tuple[str, ...] = ()
    note: str = ""
    ipv6: int = 0


def state_size(program: ir.Program, decl: ir.AnyState) -> StateSize:
    """The memory of one copy of the state when it is full (with `per core`, of one core's).

    Left out: what does not grow with the state; the rest of the last page of each array (2 MiB where the system grants
    such pages, so a few MB of a map); of a map also what runtime/nf/flow_map.hpp names as coming and going, and what
    `ipv6` says. A pool with `per` takes `memory` for each value of that which occurs.
    """
    match decl:
        case ir.MapDecl():
            return _map(program, decl)
        case ir.PoolDecl():
            return _pool(decl)
        case ir.ArrayDecl(item=t.Bool(), size=size):  # a vector of bits
            return StateSize(size, None, _up(-(-size // 8), WORD))
        case ir.ArrayDecl(item=item, size=size):
            entry = size_of(program, item)
            return StateSize(size, entry, size * entry)
        case ir.ScalarDecl(type=type):
            return StateSize(1, size_of(program, type), size_of(program, type))
        case ir.KindDecl():
            return _kind(decl)


def _pool(decl: ir.PoolDecl) -> StateSize:
    entries = 1
    for axis in decl.axes:
        if isinstance(axis, tuple):
            entries *= max(0, axis[1] - axis[0] + 1)
    note = "for each value of `per`" if decl.per is not None else ""
    return StateSize(entries, POOLED, entries * POOLED, tuple(a for a in decl.axes if isinstance(a, str)), note)


def _kind(decl: ir.KindDecl) -> StateSize:
    kind = STATE_KINDS[decl.kind]
    if kind.native is None:  # for the interpreter alone
        memory = kind.memory(decl.options, 8 * WORD * sum(map(words, decl.params)), 0)
    elif kind.native.memory is not None:
        memory = kind.native.memory(decl.options, words(decl.params[0]), _index)
    else:
        memory = _up(kind.memory(decl.options, 0, 0), WORD)  # the keys are not kept
    return StateSize(None, None, memory, note=kind.note(decl.options))


def _index(things: int) -> int:
    """Of a table that finds so many."""
    return _buckets(INDEX_ROOM * things, INDEX_PLACES) * INDEX_BUCKET


# ---------------------------------------------------------------- maps


def _map(program: ir.Program, decl: ir.MapDecl) -> StateSize:
    """runtime/nf/flow_map.hpp: `bytes_per_entry`, and that for all entries, with its arrays counted out."""
    hot, cold = _entry(program, decl)
    indexes = len(decl.indexes)
    queue = RANKED if _queues_uses(decl) else 0
    place = hot + cold + Fraction(PLACE_BUCKET, PLACES) + indexes * Fraction(INDEX_ROOM * INDEX_BUCKET, INDEX_PLACES)
    entry = place * Fraction(4, 3) + (Fraction(CHUNK, NOTES) if _expires(decl) else 0) + queue

    buckets = _buckets(decl.capacity, PLACES)
    memory = buckets * (PLACE_BUCKET + PLACES * (hot + cold)) + decl.capacity * queue
    memory += indexes * _index(decl.capacity)
    if _expires(decl):
        slots = min(max(_power(decl.capacity // PER_SLOT), 64), 1 << 17)
        chunks = min(decl.capacity // NOTES + slots, decl.capacity)  # the last one of each slot has room
        memory += slots * SLOT + chunks * CHUNK
    return StateSize(decl.capacity, int(entry + Fraction(1, 2)), memory, ipv6=WORD * _far_words(decl.key))


def _buckets(capacity: int, places: int) -> int:
    """At most three quarters of the places are taken."""
    return capacity * 4 // (3 * places) + 1


def _entry(program: ir.Program, decl: ir.MapDecl) -> tuple[int, int]:
    """Bytes of the part of an entry that lookups read, and of the other (runtime/nf/flow_map/entry.hpp)."""
    bare, full = (_hot(program, decl, with_seq) for with_seq in (False, True))
    keeps_words = bool(decl.indexes) and decl.value is not None and bool(row_places(decl.value))
    cold = [_u64s(len(decl.indexes))]
    if bare != full:
        cold.append(_u64s(1))
    if keeps_words:
        cold.append(_u64s(sum(_key(index.key.type) + _far_words(index.key.type) for index in decl.indexes)))
    if varies(decl.idle) or varies(decl.age):
        cold.append(_Extent(4, 4))
    return bare, _joined(cold).size


def _hot(program: ir.Program, decl: ir.MapDecl, with_seq: bool) -> int:
    """Key, times, with `with_seq` the insertion number, value; within one cache line if it fits."""
    parts = [_u64s(_key(decl.key) + _times(program, decl) + with_seq)]
    if decl.value is not None:
        parts.append(_extent(program, decl.value))
    size = _joined(parts).size
    return _power(size) if size <= LINE else size


def _key(type: t.Type) -> int:
    """Words of a key in an entry (runtime/nf/flow_map/key.hpp)."""
    return NEAR if key_parts(type) else words(type)


def _far_words(type: t.Type) -> int:
    """Words beside the entry, if the key is long."""
    return words(type) if key_parts(type) else 0


def _times(program: ir.Program, decl: ir.MapDecl) -> int:
    """Times in an entry: of use, of writing, and what idle time and age are where they cannot be computed again."""
    idle, age = decl.idle is not None, decl.age is not None
    used = idle or (decl.when_full == "evict" and not age)
    kept = 0 if steady(program, decl) else varies(decl.idle) + varies(decl.age)
    return used + age + kept


def _expires(decl: ir.MapDecl) -> bool:
    return decl.idle is not None or decl.age is not None


def _queues_uses(decl: ir.MapDecl) -> bool:
    """Is there a queue for eviction? Not if entries end in the same order anyway."""
    if decl.when_full != "evict":
        return False
    timeout = decl.idle or decl.age
    if timeout is None or (decl.idle is not None and decl.age is not None):
        return True
    return not (isinstance(timeout.value, ir.Const) and int(timeout.value.value) <= HOUR)


# ---------------------------------------------------------------- values


@dataclass(frozen=True)
class _Extent:
    """The size of a C++ type, its padding included, and its alignment."""

    size: int
    alignment: int


def _u64s(count: int) -> _Extent:
    return _Extent(count * WORD, WORD if count else 1)


def size_of(program: ir.Program, type: t.Type) -> int:
    """`sizeof` of the C++ type of a value."""
    return _extent(program, type).size


def _extent(program: ir.Program, type: t.Type) -> _Extent:
    """Of the type that `types_code.cpp` names."""
    match type:
        case t.Struct(_, fields):
            return _joined(_extent(program, member) for _, member in fields)
        case t.Tuple(items):
            return _joined(_extent(program, item) for item in reversed(items))  # libstdc++ stores the last one first
        case t.FromPool(pool, item):
            return _joined([_extent(program, item), _partition(program, pool)])
        case t.Bucket() | t.Prefix():
            return _Extent(32, 16)
        case t.SetOf(t.Port()):
            return _Extent(8, 8)
        case t.Bool():
            return _Extent(1, 1)
        case _:
            size = bits_of(type) // 8
            return _Extent(size, size)


def _partition(program: ir.Program, name: str) -> _Extent:
    pool = program.state[name]
    assert isinstance(pool, ir.PoolDecl)
    return _Extent(1, 1) if pool.per is None else _extent(program, pool.per.type)


def _joined(parts: Iterable[_Extent]) -> _Extent:
    """Members one after the other."""
    end, alignment = 0, 1
    for part in parts:
        end = _up(end, part.alignment) + part.size
        alignment = max(alignment, part.alignment)
    return _Extent(_up(end, alignment), alignment)


def _up(n: int, alignment: int) -> int:
    return -(-n // alignment) * alignment


def _power(n: int) -> int:
    """The least power of two that is not less."""
    return 1 << max(n - 1, 0).bit_length()
