"""Types of the language (LANGUAGE.md, section 3) and how the interpreter represents their values.

| type                                    | value in the interpreter                                  |
|-----------------------------------------|-----------------------------------------------------------|
| bit<N>, ipv4, ipv6, mac, quantities     | `int`, always reduced modulo 2^width                      |
| bool                                    | `bool`                                                    |
| enum                                    | `int`: the member's number                                |
| port                                    | `int`: index of the logical port in declaration order     |
| prefix                                  | `kinds.values.Prefix`                                     |
| struct, tuple                           | `tuple` of the members' values, in declaration order      |
| ref TABLE                               | `kinds.values.Row`: a row by identity                     |
| T from POOL                             | `kinds.values.Taken`: value and partition                 |
| list<T>, set<T>, map<K, V> (config)     | `tuple`, `frozenset`, `dict`                              |
| payload[a..b] used as bytes             | `bytes`                                                   |

All types are frozen and compare by value. Widths are in bits.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Type:
    """Base of all types; `str(t)` is how a user would write it."""


@dataclass(frozen=True)
class Bits(Type):
    """An unsigned integer of 1 to 128 bits."""

    width: int

    def __str__(self) -> str:
        return f"u{self.width}" if self.width in (8, 16, 32, 64) else f"bit<{self.width}>"


@dataclass(frozen=True)
class Bool(Type):
    def __str__(self) -> str:
        return "bool"


@dataclass(frozen=True)
class Address(Type):
    """ipv4 (32), mac (48) or ipv6 (128 bits): compared and sliced, never calculated with."""

    name: str
    width: int

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class Quantity(Type):
    """A 64-bit number with a unit: time, duration in ns; bytes; bitrate in bit/s; packetrate in packets/s."""

    name: str
    width: int = 64

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class Port(Type):
    """A logical port of the NF."""

    def __str__(self) -> str:
        return "port"


@dataclass(frozen=True)
class Prefix(Type):
    """An IPv4 or IPv6 prefix, only in config tables and `in` tests."""

    def __str__(self) -> str:
        return "prefix"


@dataclass(frozen=True)
class Struct(Type):
    name: str
    fields: tuple[tuple[str, Type], ...]

    def __str__(self) -> str:
        return self.name

    def index(self, field: str) -> int | None:
        """Position of `field`, or None."""
        for i, (name, _) in enumerate(self.fields):
            if name == field:
                return i
        return None


@dataclass(frozen=True)
class Enum(Type):
    """Members with their numbers; `width` is given when the declaration names a backing type."""

    name: str
    members: tuple[tuple[str, int], ...]
    width: int | None

    def __str__(self) -> str:
        return self.name

    def number(self, member: str) -> int | None:
        return dict(self.members).get(member)


@dataclass(frozen=True)
class Tuple(Type):
    items: tuple[Type, ...]

    def __str__(self) -> str:
        return "(" + ", ".join(map(str, self.items)) + ")"


@dataclass(frozen=True)
class ListOf(Type):
    item: Type

    def __str__(self) -> str:
        return f"list<{self.item}>"


@dataclass(frozen=True)
class SetOf(Type):
    item: Type

    def __str__(self) -> str:
        return f"set<{self.item}>"


@dataclass(frozen=True)
class Table(Type):
    """A config table with a lookup, of a kind of `kinds.state.TABLE_KINDS`.

    `hashed`: it has a row for every hash, so the key is a u64, of which the language says nothing.
    """

    kind: str
    key: Type
    value: Type
    hashed: bool = False

    def __str__(self) -> str:
        if self.hashed:
            return f"{self.kind}<{self.value}>"
        return f"{self.kind}<{self.key}, {self.value}>"


@dataclass(frozen=True)
class Ref(Type):
    """A row of the config table `table`, by identity; fields of `row` are read through it."""

    table: str
    row: Type

    def __str__(self) -> str:
        return f"ref {self.table}"


@dataclass(frozen=True)
class FromPool(Type):
    """A value owned by the state entry that holds it; goes back to `pool` with the entry."""

    pool: str
    item: Type

    def __str__(self) -> str:
        return f"{self.item} from {self.pool}"


@dataclass(frozen=True)
class Bucket(Type):
    """A token bucket as a value: alone, in a struct, in a map or array. `unit` is bytes or packets.

    `rate` and `burst` are the typed expressions (`ir.program.Expr`) of its declaration, None if each use gives them.
    """

    unit: str
    rate: object
    burst: object

    def __str__(self) -> str:
        return "token_bucket"


@dataclass(frozen=True)
class Entry(Type):
    """What a lookup through an index yields: `.key` and `.value` of the entry."""

    key: Type
    value: Type

    def __str__(self) -> str:
        return f"entry<{self.key}, {self.value}>"


@dataclass(frozen=True)
class Optional(Type):
    """A lookup's result before `else` or `if let` took it apart."""

    item: Type

    def __str__(self) -> str:
        return f"optional {self.item}"


@dataclass(frozen=True)
class Ratio(Type):
    """bytes/duration or packets/duration: only compared with a rate of the same unit, exactly."""

    rate: str

    def __str__(self) -> str:
        return f"{'bytes' if self.rate == 'bitrate' else 'packets'} per duration"


@dataclass(frozen=True)
class ByteString(Type):
    """Bytes of run-time length: payload, options; sliced with constant bounds or emitted."""

    def __str__(self) -> str:
        return "byte string"


@dataclass(frozen=True)
class Literal(Type):
    """An integer literal that has not met a width yet."""

    def __str__(self) -> str:
        return "integer"


@dataclass(frozen=True)
class Str(Type):
    """Text: drop reasons."""

    def __str__(self) -> str:
        return "text"


@dataclass(frozen=True)
class Wrong(Type):
    """The type of an expression that was already reported; agrees with everything."""

    def __str__(self) -> str:
        return "?"


BOOL = Bool()
U8, U16, U32, U64 = Bits(8), Bits(16), Bits(32), Bits(64)
IPV4, MAC, IPV6 = Address("ipv4", 32), Address("mac", 48), Address("ipv6", 128)
TIME, DURATION, BYTES = Quantity("time"), Quantity("duration"), Quantity("bytes")
BITRATE, PACKETRATE = Quantity("bitrate"), Quantity("packetrate")
PORT, PREFIX, STR, WRONG, LITERAL, BYTE_STRING = Port(), Prefix(), Str(), Wrong(), Literal(), ByteString()
PORT_SET = SetOf(PORT)
END = Enum("End", (("idle", 0), ("age", 1), ("evicted", 2), ("removed", 3)), None)


def width(t: Type) -> int | None:
    """Bits that a value of fixed size takes in a frame or a key; None for what has no such size.

    Structs and tuples are their members' bits one after the other; bool is 1 bit, port 16, enum its
    declared width or the least that holds its largest number.
    """
    match t:
        case Bits(w) | Address(_, w) | Quantity(_, w):
            return w
        case Bool():
            return 1
        case Port():
            return 16
        case Enum(_, members, w):
            return w if w is not None else max(1, max(n for _, n in members).bit_length())
        case Struct(_, fields):
            return total(tuple(f for _, f in fields))
        case Tuple(items):
            return total(items)
        case FromPool(_, item):
            return width(item)
        case _:
            return None


def total(items: tuple[Type, ...]) -> int | None:
    """Sum of the widths, or None if one has none."""
    widths = [width(i) for i in items]
    return None if None in widths else sum(w for w in widths if w is not None)
