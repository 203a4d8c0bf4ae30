"""Values of every type that a config item or a header field may have: few, so that they meet again and again.

A kind of config table says in its folder's `traffic.py` how its rows are drawn and taken apart: its `TRAFFIC` is a
`TableTraffic`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from ipaddress import ip_address
from typing import Any

from polysome.ir import program as ir
from polysome.ir import types as t
from polysome.ir.value_places import members
from polysome.kinds.state import TABLE_KINDS, brought
from polysome.kinds.values import Prefix
from polysome.testing.traffic.choices import Choices
from polysome.testing.traffic.constants import constants
from polysome.testing.traffic.selected import mapped, selected

EPOCH = 1_600_000_000 * 10**9  # when traces begin: a round time in 2020


def _ip(*texts: str) -> tuple[int, ...]:
    return tuple(int(ip_address(text)) for text in texts)


_ADDRESSES = {
    "ipv4": _ip("10.0.0.1", "10.0.0.2", "10.0.1.1", "203.0.113.1", "192.0.2.1", "10.0.0.3", "203.0.113.2"),
    "ipv6": _ip("2001:db8::1", "2001:db8::2", "2001:db8:1::1", "2001:db8:2::1", "2001:db8:1::2", "fd00::1"),
    "mac": tuple(0x02_00_00_00_00_00 + n for n in (1, 2, 0x101, 3, 0x102)),
}
_EXTREMES = {
    "ipv4": _ip("224.0.0.1", "255.255.255.255", "0.0.0.0", "127.0.0.1", "239.1.1.100"),
    "ipv6": _ip("ff02::1", "::", "::1", "fe80::1", "::ffff:10.0.0.1", "64:ff9b::a00:1"),
    "mac": (0xFFFF_FFFF_FFFF, 0x0180_C200_0000, 0x0100_5E00_0001, 0),
}
_QUANTITIES = {
    "duration": (10**9, 10**6, 10**3, 30 * 10**9, 10**7, 1),
    "bytes": (200, 1500, 3000, 64, 64_000, 1514, 0),
    "bitrate": (8_000, 200_000, 1_000_000, 8_000_000, 10**9, 8, 0),
    "packetrate": (100, 1, 1000, 10**6, 0),
    "time": (EPOCH, EPOCH + 10**9, 0),
}
_LENGTHS = (24, 32, 16, 31, 8, 30, 0, 1)  # of prefixes, in a family of 32 bits
ROWS = (1, 2, 2, 3, 3, 4, 2, 5, 1, 2, 3, 0)


def usual(type: t.Address) -> tuple[int, ...]:
    """Addresses of ordinary hosts."""
    return _ADDRESSES[type.name]


@lru_cache(maxsize=512)
def addresses(program: ir.Program, type: t.Address) -> tuple[int, ...]:
    """Usual ones, then those around the program's constants."""
    found = dict.fromkeys(_asked_for(program, type))
    for constant in constants(program).types.get(type, ()):
        found |= dict.fromkeys(around(constant, type.width))
    return tuple(found)


@lru_cache(maxsize=512)
def odd_addresses(program: ir.Program, type: t.Address) -> tuple[int, ...]:
    """Those that mean something else than one host, and the program's constants with their neighbours."""
    return (*_EXTREMES[type.name], *addresses(program, type)[len(_asked_for(program, type)) :])


def _asked_for(program: ir.Program, type: t.Address) -> tuple[int, ...]:
    """Usual ones; IPv4 ones too where config is asked for them as IPv6 ones."""
    found = list(_ADDRESSES[type.name])
    for n, address in enumerate(_ADDRESSES["ipv4"] if type == t.IPV6 and mapped(program) else ()):
        found.insert(2 * n, 0xFFFF << 32 | address)
    return tuple(found)


def around(constant: Any, width: int) -> list[int]:
    """A number and its neighbours; of a prefix the first and last members and what is beside them."""
    most = (1 << width) - 1
    if isinstance(constant, Prefix):
        if constant.bits != width:
            return []
        first, last = constant.value, constant.value | ((1 << (width - constant.length)) - 1)
        near = [first, last, first + 1, first - 1, last + 1]
    else:
        near = [constant, constant + 1, constant - 1]
    return [n for n in near if 0 <= n <= most]


@lru_cache(maxsize=512)
def numbers(program: ir.Program, type: t.Type, width: int) -> tuple[int, ...]:
    """Values of an integer: those by which a parser goes on, where config is looked up by them; small ones, the
    program's constants of the type with their neighbours, the largest.
    """
    most = (1 << width) - 1
    found = dict.fromkeys((*selected(program).get(type, ()), *((1, 2, 3, 0) if width < 16 else (1024, 80, 1025, 2, 0))))
    for constant in constants(program).types.get(type, ()):
        found |= dict.fromkeys(around(constant, width))
    return tuple(v & most for v in found | {most: None})


def inside(prefix: Prefix, type: t.Address) -> list[int]:
    """Some members of a prefix: ordinary ones, the first, the last. None if it is of the other family."""
    if prefix.bits != type.width:
        return []
    hosts = (1 << (type.width - prefix.length)) - 1
    return list(
        dict.fromkeys([*(prefix.value | (u & hosts) for u in usual(type)[:3]), prefix.value, prefix.value | hosts])
    )


# ---------------------------------------------------------------- any type


def value(program: ir.Program, c: Choices, type: t.Type) -> Any:
    """A value as `ir.types` represents it, and lists inside as tuples."""
    match type:
        case t.Bits(width):
            return c.early(numbers(program, type, width))
        case t.Bool():
            return c.chance(0.5)
        case t.Address():
            return c.early(addresses(program, type))
        case t.Quantity(name):
            own = {"duration": "durations", "bytes": "sizes", "bitrate": "bitrates", "packetrate": "packetrates"}
            from_spec: tuple[int, ...] = getattr(constants(program), own[name]) if name in own else ()
            return c.early((*_QUANTITIES[name], *from_spec))
        case t.Port():
            return c.below(len(program.ports))
        case t.Prefix():
            return prefix(program, c, t.IPV6 if c.chance(0.3) else t.IPV4)
        case t.Enum(_, members):
            return c.pick(members)[1]
        case t.Struct(_, fields):
            return tuple(value(program, c, member) for _, member in fields)
        case t.Tuple(items):
            return tuple(value(program, c, item) for item in items)
        case t.ListOf(item):
            return tuple(value(program, c, item) for _ in range(c.pick(ROWS)))
        case t.SetOf(item):
            return frozenset(value(program, c, item) for _ in range(c.pick(ROWS)))
        case t.Table():
            return traffic_of(type).table(program, c, type)
    raise AssertionError(f"{type} cannot be configured")


def prefix(program: ir.Program, c: Choices, type: t.Address) -> Prefix:
    """A prefix of a usual address; those of one table often lie in one another."""
    length = c.pick(_LENGTHS) * (type.width // 32)
    address = c.early(addresses(program, type))
    return Prefix(type.width, address >> (type.width - length) << (type.width - length), length)


def row(program: ir.Program, c: Choices, type: t.Type) -> Any:
    """A row of a list, set or table: what `TableKind.rows` gives."""
    match type:
        case t.ListOf(item) | t.SetOf(item):
            return value(program, c, item)
        case t.Table():
            return traffic_of(type).row(program, c, type)
    raise AssertionError(f"{type} has no rows")


def part_changed(program: ir.Program, c: Choices, type: t.Type, old: Any) -> Any:
    """One member of a struct or tuple is new, or all of a plain value."""
    types = members(type)
    if not types:
        return value(program, c, type)
    at = c.below(len(types))
    return (*old[:at], part_changed(program, c, types[at], old[at]), *old[at + 1 :])


# ---------------------------------------------------------------- taking values apart


def leaves(type: t.Type, value: Any) -> Iterator[tuple[t.Type, Any]]:
    """The scalars in a config value with their types, keys before values; prefixes have the type Prefix."""
    match type:
        case t.Struct(_, fields):
            for (_, member), item in zip(fields, value, strict=True):
                yield from leaves(member, item)
        case t.Tuple(items):
            for member, item in zip(items, value, strict=True):
                yield from leaves(member, item)
        case t.ListOf(inner) | t.SetOf(inner):
            for item in sorted(value) if isinstance(value, frozenset) else value:
                yield from leaves(inner, item)
        case t.Table():
            yield from keys(type, value)
            kind = TABLE_KINDS[type.kind]
            for row in kind.rows(value):
                yield from leaves(type.value, kind.value(row))
        case _:
            yield (t.PREFIX if isinstance(value, Prefix) else type), value


def keys(type: t.Table, value: Any, part: int | None = None) -> Iterator[tuple[t.Type, Any]]:
    """The scalars in the keys of a table; with `part` of one component only."""
    for row in TABLE_KINDS[type.kind].rows(value):
        yield from traffic_of(type).keys(type, row, part)


# ---------------------------------------------------------------- tables


Simpler = Callable[[Any, t.Type], Iterator[Any]]  # values a step simpler than one of a type
Exchange = Callable[[Any, t.Type], Any]  # another value instead of one of a type


class TableTraffic:
    """The rows of a kind of config table in tests: drawn, asked for, made simpler. Those of this one are (key, value):
    `config map`. What is made of rows one by one may stand beside others or not: `TableKind.together` sees to that.
    """

    drawn = True  # else a table is what is given, or empty, and does not change

    def table(self, program: ir.Program, c: Choices, type: t.Table) -> Any:
        """A whole table, in the form of `TableKind.together`."""
        rows = [self.row(program, c, type) for _ in range(c.pick(ROWS))]
        return TABLE_KINDS[type.kind].together(rows)

    def row(self, program: ir.Program, c: Choices, type: t.Table) -> Any:
        """Any row."""
        return value(program, c, type.key), value(program, c, type.value)

    def changed(self, program: ir.Program, c: Choices, type: t.Table, old: Any) -> Any:
        """A row in place of another: with the same key and another value, if keys are what rows differ by."""
        kind = TABLE_KINDS[type.kind]
        return kind.with_value(old, part_changed(program, c, type.value, kind.value(old)))

    def keys(self, type: t.Table, row: Any, part: int | None) -> Iterator[tuple[t.Type, Any]]:
        """Scalars with their types that, asked for, are found in the row; with `part` for one component of keys only.

        A Prefix stands for its members.
        """
        parts = members(type.key)
        if part is None or not parts:
            yield from leaves(type.key, row[0])
        elif part < len(parts):
            yield from leaves(parts[part], row[0][part])

    def simpler(self, row: Any, type: t.Table, simpler: Simpler) -> Iterator[Any]:
        """Rows a step simpler, the simplest first; each chain of steps ends. Addresses and keys stay."""
        kind = TABLE_KINDS[type.kind]
        yield from (kind.with_value(row, v) for v in simpler(kind.value(row), type.value))

    def exchanged(self, row: Any, type: t.Table, inside: Exchange) -> Any:
        """The row with what `inside` makes of the values in it, which exchanges their addresses; prefixes stay."""
        return inside(row[0], type.key), inside(row[1], type.value)


class _Untold(TableTraffic):
    """A kind that does not say how its rows are made."""

    drawn = False

    def table(self, program: ir.Program, c: Choices, type: t.Table) -> Any:
        return TABLE_KINDS[type.kind].together(())

    def keys(self, type: t.Table, row: Any, part: int | None) -> Iterator[tuple[t.Type, Any]]:
        yield from ()

    def exchanged(self, row: Any, type: t.Table, inside: Exchange) -> Any:
        kind = TABLE_KINDS[type.kind]
        return kind.with_value(row, inside(kind.value(row), type.value))


def traffic_of(type: t.Table) -> TableTraffic:
    """The rows of a kind of table in tests."""
    found: TableTraffic = brought("traffic").get(type.kind, _UNTOLD)
    return found


_UNTOLD = _Untold()
