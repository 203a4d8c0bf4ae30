"""What a packet carries through a pipe, symbolically: values of places, valid headers, sums, accesses to registers.

A value is a number that is known or a z3 term (`expressions.Value`). Which headers are valid is always known.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from polysome import smt
from polysome.p4 import program as pr
from polysome.p4.types import Bool, Type, width
from polysome.prove.p4.expressions import Value, as_term, simplified
from polysome.prove.window import Term, Window, same

Key = tuple[str, ...]


@dataclass(frozen=True)
class Residual:
    """What a parser's checksum unit holds: 0 minus `words` (16 bits each) in ones' complement. Which zero is open."""

    words: tuple[Term, ...]


@dataclass(frozen=True)
class Updated:
    """What a deparser's `update` yields: the complement of the ones' complement sum of `words`, of 16 bits each.

    All ones only if every word is 0; with `ones` it is never 0: 0 becomes all ones.
    """

    words: tuple[Term, ...]
    ones: bool


Sum = Residual | Updated


@dataclass(frozen=True, eq=False)
class Access:
    """A register action ran: `old` and `new` are the element before and behind it, by field ("" of a plain value).

    `wrapped`, `wrapped_result`: what `new` and `result` are if sums are cut to their width before they are compared.
    """

    action: str
    register: str
    index: Value
    old: Mapping[str, Value]
    new: Mapping[str, Value]
    result: Value
    wrapped: Mapping[str, Value]
    wrapped_result: Value

    @cached_property
    def changes(self) -> bool:
        """May the element be another afterwards?"""
        return not all(same(self.new[field], value) for field, value in self.old.items())


@dataclass(frozen=True)
class Ran:
    """A table was applied: which action ran, with which parameters, whether an entry was hit (None: either)."""

    table: str
    action: str
    args: tuple[Value, ...]
    hit: bool | None
    keys: tuple[Value, ...]


@dataclass(frozen=True)
class Hashed:
    """A hash was computed, over bytes; `value` is free."""

    algorithm: str
    over: tuple[Term, ...]
    value: Term


@dataclass(frozen=True)
class Mirror:
    """A copy that a deparser asks for: the session, and the bytes that stand before the packet's."""

    session: Value
    header: tuple[Term, ...]


@dataclass(frozen=True)
class InWindow:
    """A value that was extracted, as bits of the window: made a term when it is read."""

    at: int
    width: int


@dataclass(frozen=True)
class Emitted:
    """A header that a deparser emitted, with what its fields held then."""

    header: pr.Place
    values: tuple[Value | InWindow | None, ...]


@dataclass
class Reader:
    """The window's bits as terms, each made once; `emitted`: bytes of headers, by what their fields hold."""

    window: Window
    emitted: dict[tuple[object, ...], tuple[Emitted, tuple[Term, ...]]] = field(default_factory=dict)
    _known: dict[tuple[int, int], Term] = field(default_factory=dict)
    _octets: dict[tuple[int, int], tuple[Term, ...]] = field(default_factory=dict)

    def bits(self, at: int, width: int) -> Term:
        found = self._known.get((at, width))
        if found is None:
            found = self._known[at, width] = self.window.bits(at, width)
        return found

    def octets(self, at: int, count: int) -> tuple[Term, ...]:
        """`count` bytes from bit `at` on."""
        found = self._octets.get((at, count))
        if found is None:
            found = self._octets[at, count] = tuple(self.bits(at + 8 * k, 8) for k in range(count))
        return found


# What a walk looks at of a store: whether a header is valid (True), or what a place holds.
Look = tuple[bool, Key]


@dataclass
class Store:
    """One packet's, at one point of its way. `name` stands before the names of all free symbols.

    What nothing wrote is a free symbol, as the chip does not clear it; the soft switch has 0 there. `places` says where
    in the window, in bits, each extracted header began; `sums` what the symbols mean that stand for sums. A store with
    a `base` holds only what was written since, and notes in `seen` what is read of the base, in that order.
    """

    name: str
    reader: Reader
    values: dict[Key, Value | InWindow] = field(default_factory=dict)
    validity: dict[Key, bool] = field(default_factory=dict)
    places: dict[Key, int] = field(default_factory=dict)
    sums: dict[str, Sum] = field(default_factory=dict)
    accesses: tuple[Access, ...] = ()
    ran: tuple[Ran, ...] = ()
    emitted: tuple[Emitted, ...] = ()
    hashed: tuple[Hashed, ...] = ()
    mirror: Mirror | None = None
    symbols: int = 0
    base: Store | None = None
    seen: dict[Look, None] = field(default_factory=dict)

    def copy(self) -> Store:
        made = Store.__new__(Store)
        made.__dict__.update(self.__dict__)
        made.values, made.validity = dict(self.values), dict(self.validity)
        made.places, made.sums = dict(self.places), dict(self.sums)
        return made

    def since(self) -> Store:
        """A store for what is written from now on."""
        return Store(self.name, self.reader, base=self)

    def onto(self, base: Store) -> Store:
        """What was written since, on another base that looks the same to who wrote it."""
        made = base.copy()
        made.values |= self.values
        made.validity |= self.validity
        made.sums |= self.sums
        made.accesses, made.ran = (*base.accesses, *self.accesses), (*base.ran, *self.ran)
        made.hashed = (*base.hashed, *self.hashed)
        made.symbols = max(base.symbols, self.symbols)
        return made

    def raw(self, key: Key) -> Value | InWindow | None:
        """As it lies there; None: nothing wrote it."""
        found = self.values.get(key)
        if found is None and self.base is not None:
            self.seen[False, key] = None
            found = self.base.values.get(key)
        return found

    def read(self, key: Key, kind: Type) -> Value:
        found = self.raw(key)
        if found is None:
            return initial(self.name, key, kind)
        return self.reader.bits(found.at, found.width) if isinstance(found, InWindow) else found

    def is_valid(self, header: Key) -> bool:
        found = self.validity.get(header)
        if found is None and self.base is not None:
            self.seen[True, header] = None
            found = self.base.is_valid(header)
        return bool(found)

    def term(self, key: Key, kind: Type) -> Term:
        """What a place holds, as a term also if it is known."""
        return as_term(self.read(key, kind), kind)

    def value(self, place: pr.Place) -> Value:
        return self.read(place.key, place.type)

    def write(self, key: Key, value: Value) -> None:
        self.values[key] = value

    def symbol(self, name: str, bits: int) -> Term:
        """A new free symbol, told from others on the path by its number."""
        self.symbols += 1
        return smt.BitVec(f"{self.name}{name}#{self.symbols}", bits)

    def sum(self, name: str, meaning: Sum) -> Term:
        """A symbol of 16 bits that stands for a sum."""
        made = self.symbol(name, 16)
        self.sums[made.name] = meaning
        return made


def found_at(store: Store, look: Look) -> Value | None:
    """What a walk finds there; None: nothing wrote the place."""
    of_header, key = look
    if of_header:
        return store.is_valid(key)
    found = store.values.get(key)
    return store.reader.bits(found.at, found.width) if isinstance(found, InWindow) else found


# Intrinsic metadata that a program sets for the chip: nothing asked for.
_OUT = ("tm", "dprsr", "oport")
NO_PORT = ("tm", "ucast_egress_port")  # no value: to no port


def initial(name: str, key: Key, kind: Type) -> Value:
    """What a place holds that nothing wrote."""
    if key[0] in _OUT and key != NO_PORT:
        return 0
    symbol = f"{name}{'.'.join(part.removeprefix('$') for part in key)}"
    return smt.Bool(symbol) if isinstance(kind, Bool) else smt.BitVec(symbol, width(kind))


def words(items: Iterable[tuple[Value, int]]) -> tuple[Term, ...]:
    """Values, each with its bits, one after the other as 16-bit words; together they are whole words."""
    found = pieces(items, 16)
    return tuple(word if not isinstance(word, int) else smt.BitVecVal(word, 16) for word in found)


def pieces(items: Iterable[tuple[Value, int]], size: int) -> tuple[Value, ...]:
    """Values, each with its bits, one after the other and taken apart into pieces of `size` bits."""
    found: list[Value] = []
    group: list[tuple[Value, int]] = []
    bits = 0
    for value, wide in items:
        group.append((value, wide))
        bits += wide
        if bits % size == 0:
            found += _split(group, bits, size)
            group, bits = [], 0
    assert not group, "no whole pieces"
    return tuple(found)


def _split(group: list[tuple[Value, int]], bits: int, size: int) -> list[Value]:
    if all(isinstance(value, int) for value, _ in group):
        number = 0
        for value, wide in group:
            number = number << wide | value
        return [number >> end - size & (1 << size) - 1 for end in range(bits, 0, -size)]
    if len(group) == 1 and bits == size:
        return [group[0][0]]
    key = (size, *((value if isinstance(value, int) else ("term", value.get_id()), wide) for value, wide in group))
    if key not in _SPLIT:
        _SPLIT[key] = (group, _cut(group, bits, size))
    return _SPLIT[key][1]


# The groups are kept, so that no other term gets the number of one of theirs.
_SPLIT: dict[object, tuple[list[tuple[Value, int]], list[Value]]] = {}


def _cut(group: list[tuple[Value, int]], bits: int, size: int) -> list[Value]:
    terms = [smt.BitVecVal(value, wide) if isinstance(value, int) else value for value, wide in group]
    whole = terms[0] if len(terms) == 1 else smt.Concat(*terms)
    return [simplified(smt.Extract(end - 1, end - size, whole)) for end in range(bits, 0, -size)]
