"""How a kind of state or a schedule policy presents itself to the compiler.

A kind of state is one folder: in its `__init__.py` a `StateKind` (what the checker needs: parameters, options, methods,
memory, and how it is in C++) and the class that defines its meaning (what the interpreter runs); a policy the same with
a `PolicyKind`. What else there may be in the folder: `found.py`. Type terms in signatures are strings: "K", "V" (the
kind's parameters), "u64", "bool", "bytes", "duration", "count" (an integer constant known when the NF is instantiated),
"percent" (an int, parts per million).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


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
    numbers, written as `made` has it. Its methods take what the kind's do: a key as its hash or, if it `keeps_keys`,
    as words. It has `carry` as all state has (nf/archive.hpp), `contains(key)` if the kind has an `element`, and, if it
    `iterates`, `items()`: pairs of a key's words and a number. `prefetched`: it is larger than a cache, and
    `prefetch(hash)` is called ahead. Bytes, if not as the kind says: `memory(options, words, table)`, where `table(n)`
    are those of a hash table that finds n things.
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
