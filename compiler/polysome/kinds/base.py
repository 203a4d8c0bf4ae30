"""How a kind of state or a schedule policy presents itself to the compiler.

A kind of state is one folder: in its `__init__.py` a `StateKind` (what the checker needs: parameters, options,
methods, memory, and how it is in C++) and the class that defines its meaning (what the interpreter runs); a config
table has a `TableKind` there, a policy a `PolicyKind`. What else there may be in the folder: `found.py`. Type terms
in signatures are strings: "K", "V" (the kind's parameters), "u64", "bool", "bytes", "duration", "count" (an integer
constant known when the NF is instantiated), "percent" (an int, parts per million).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from polysome.ir import types


class Trap(Exception):
    """Ends the handler in a drop with a built-in reason; writes already made stay (LANGUAGE.md 2.9)."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True)
class Option:
    """One `name VALUE;` clause of a declaration's braces."""

    name: str
    term: str
    required: bool = False
    default: int | None = None
    why: str = ""  # shown when a required option is missing
    room: bool = False  # how much finds room: tests try with less


@dataclass(frozen=True)
class Method:
    """`state.name(args)`; a method with `result` None is a statement, else an expression."""

    name: str
    params: tuple[str, ...]
    result: str | None
    writes: bool
    optional_params: int = 0  # how many of the last params may be left out (they default to 1)


@dataclass(frozen=True)
class NativeState:
    """The C++ class of a kind.

    `header`: the file in the kind's folder that has it, whose text becomes part of an NF's that uses the kind; None: it
    is one of those in runtime/nf that `generated.hpp` includes for every NF.

    `type`: its name; `{words}` in it is how many 64-bit words a key takes. It is made with `sizes(options)`, 64-bit
    numbers, written as `made` has it (`seed`: of hash tables). Its methods take what the kind's do: a key as its hash
    or, if it `keeps_keys`, as words. It has `carry` as all state has (nf/archive.hpp), `contains(key)` if the kind has
    an `element`, and, if it `iterates`, `items()`: pairs of a key's words and a number. `prefetched`: it may be larger
    than a cache, and `prefetch(key)` is called ahead; if it `keeps_keys`, a key is then what `sought(words)` makes of
    it. Bytes, if not as the kind says: `memory(options, words, table)`, where `table(n)` are those of a hash table that
    finds n things.
    """

    type: str
    sizes: Callable[[Mapping[str, int]], tuple[int, ...]]
    made: str = "{sizes}"
    keeps_keys: bool = False
    prefetched: bool = False
    memory: Callable[[Mapping[str, int], int, Callable[[int], int]], int] | None = None
    header: Path | None = None


@dataclass(frozen=True)
class StateKind:
    """A kind of state that is used through methods.

    `make(options, ctx)` builds the run-time object; `memory(options, key_bits, value_bits)` is its size
    in bytes; `note(options)` is the line `polysome check` prints about how the options sized it.
    `element` is the term of `x in s`, if the kind supports it; `iterates` the terms of `for a, b in s`. `native`: how
    it is in C++; a kind without that is for the interpreter alone, and other engines refuse it.
    """

    name: str
    params: tuple[str, ...]
    options: tuple[Option, ...]
    methods: tuple[Method, ...]
    make: Callable[[Mapping[str, int], Context], Any]
    memory: Callable[[Mapping[str, int], int, int], int]
    note: Callable[[Mapping[str, int]], str] = lambda options: ""
    element: str | None = None
    iterates: tuple[str, ...] = field(default=())
    native: NativeState | None = None


@dataclass
class Context:
    """What a run-time state object may use: the clock and keyed hashing.

    `encode(key)` gives a key's canonical bytes (LANGUAGE.md 3.12): each member big-endian, padded to whole
    bytes; `hash64(data)` is SipHash-2-4 of them keyed by `param seed`.
    """

    name: str
    now: Callable[[], int]
    encode: Callable[[Any], bytes]
    hash64: Callable[[bytes], int]


@dataclass(frozen=True)
class TableContext:
    """What a config table is made for: its full name, its type, its options as given, and SipHash by `param seed`."""

    name: str
    type: types.Table
    options: Mapping[str, int]
    hash64: Callable[[bytes], int]


Show = Callable[[Any, types.Type], str]  # a value as people read it


def _pair(row: tuple[Any, Any], type: types.Table, show: Show) -> str:
    return f"{show(row[0], type.key)} -> {show(row[1], type.value)}"


@dataclass(frozen=True)
class TableKind:
    """A kind of config table: rows that an operator gives (LANGUAGE.md, section 8), of which a lookup finds one.

    `params`: ("K", "V"), then `let v = t[key] else …;` finds a row or none; or ("V",), then `t[hash]` has a row, with
    an identity, for every u64 unless the table is empty. `section`: where the manual has it, which is the order of
    kinds in texts.

    A row is an immutable value of the kind's own making, (key, value) if it says nothing else: `value(row)` is its
    value, `with_value(row, v)` the same row with another. A table in the form of files (`config.load`) is
    `together(rows)`: a tuple of the rows that `distinct` leaves, which drops those that cannot stand beside others.

    `identity`: what a row keeps its identity by over a change (L8.4), so that a lookup finds a `Row` and `ref t` names
    it: equal values, as in a list, or "key": then the table is a mapping from keys to rows, in both of its forms, and
    has `k in t` and `for k, v in t`. None: a lookup finds a plain value.

    `make(rows, ctx)` is what the interpreter reads; with `identity`, `Row`s stand for the rows' values. ValueError if
    the rows make no table. It has `get(key, *asked(type))`, for keys of that type: the value, None if no row is found;
    with ("V",) instead `lookup(hash)`, which raises Trap if there is none. `len` is how many rows it has.

    `keys(type)`: may K be this, which `keys_are` says in words. `text(row, type, show)`: a row as people read it.
    """

    name: str
    section: int
    params: tuple[str, ...]
    make: Callable[[Sequence[Any], TableContext], Any]
    options: tuple[Option, ...] = ()
    identity: Literal["value", "key"] | None = None
    value: Callable[[Any], Any] = lambda row: row[1]
    with_value: Callable[[Any, Any], Any] = lambda row, value: (row[0], value)
    distinct: Callable[[Iterable[Any]], Iterable[Any]] = lambda rows: rows
    asked: Callable[[types.Type], tuple[Any, ...]] = lambda key: ()
    keys: Callable[[types.Type], bool] = lambda key: True
    keys_are: str = ""
    text: Callable[[Any, types.Table, Show], str] = _pair

    def type_of(self, args: Sequence[types.Type]) -> types.Table:
        """The type that the language writes with these arguments, as many as `params`."""
        hashed = "K" not in self.params
        return types.Table(self.name, types.U64 if hashed else args[0], args[-1], hashed)

    def rows(self, table: Any) -> list[Any]:
        """The rows of a table in the form of files, in their order."""
        return list(table.items() if self.identity == "key" else table)

    def together(self, rows: Iterable[Any]) -> Any:
        """A table in the form of files."""
        return dict(rows) if self.identity == "key" else tuple(self.distinct(rows))
