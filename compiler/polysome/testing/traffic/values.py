"""Values of every type that a config item or a header field may have: few, so that they meet again and again."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from ipaddress import ip_address
from typing import Any

from polysome.ir import program as ir
from polysome.ir import types as t
from polysome.kinds.state.acl import AclRow, Range
from polysome.kinds.values import Prefix
from polysome.testing.traffic.choices import Choices
from polysome.testing.traffic.constants import constants

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
_ROWS = (1, 2, 2, 3, 3, 4, 2, 5, 1, 2, 3, 0)


def usual(type: t.Address) -> tuple[int, ...]:
    """Addresses of ordinary hosts."""
    return _ADDRESSES[type.name]


@lru_cache(maxsize=512)
def addresses(program: ir.Program, type: t.Address) -> tuple[int, ...]:
    """Usual ones, then those around the program's constants."""
    found = dict.fromkeys(_ADDRESSES[type.name])
    for constant in constants(program).types.get(type, ()):
        found |= dict.fromkeys(around(constant, type.width))
    return tuple(found)


@lru_cache(maxsize=512)
def odd_addresses(program: ir.Program, type: t.Address) -> tuple[int, ...]:
    """Those that mean something else than one host, and the program's constants with their neighbours."""
    return (*_EXTREMES[type.name], *addresses(program, type)[len(_ADDRESSES[type.name]) :])


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
    """Values of an integer: small ones, the program's constants of the type with their neighbours, the largest."""
    most = (1 << width) - 1
    found = dict.fromkeys((1, 2, 3, 0) if width < 16 else (1024, 80, 1025, 2, 0))
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
            return tuple(value(program, c, item) for _ in range(c.pick(_ROWS)))
        case t.SetOf(item):
            return frozenset(value(program, c, item) for _ in range(c.pick(_ROWS)))
        case t.Table():
            return _table(program, c, type)
    raise AssertionError(f"{type} cannot be configured")


def prefix(program: ir.Program, c: Choices, type: t.Address) -> Prefix:
    """A prefix of a usual address; those of one table often lie in one another."""
    length = c.pick(_LENGTHS) * (type.width // 32)
    address = c.early(addresses(program, type))
    return Prefix(type.width, address >> (type.width - length) << (type.width - length), length)


def _table(program: ir.Program, c: Choices, type: t.Table) -> Any:
    match type.kind:
        case "map":
            keys = _keys(program, c, type.key)
            return {key: value(program, c, type.value) for key in keys}
        case "lpm":
            rows = [row(program, c, type) for _ in range(c.pick(_ROWS) + 1)]
            return tuple({prefix: (prefix, item) for prefix, item in rows}.values())
        case "acl":
            rules = [row(program, c, type) for _ in range(c.pick(_ROWS))]
            if rules and c.chance(0.6):  # another rule for packets that one of these already matches
                wider = tuple(None if c.chance(0.5) else m for m in c.pick(rules).matchers)
                rules.append(AclRow(wider, value(program, c, type.value), c.pick((0, 1, 10))))
            return tuple(rules)
        case _:
            return tuple(row(program, c, type) for _ in range(c.pick(_ROWS)))


def _keys(program: ir.Program, c: Choices, type: t.Type) -> list[Any]:
    """Different keys of a map; of ports mostly all."""
    if isinstance(type, t.Port) and not c.chance(0.15):
        return list(range(len(program.ports)))
    return list(dict.fromkeys(value(program, c, type) for _ in range(c.pick(_ROWS))))


def row(program: ir.Program, c: Choices, type: t.Type) -> Any:
    """A row of a list, set or table, as `config.tables.Tables.replace` takes it; of a map (key, value)."""
    match type:
        case t.ListOf(item) | t.SetOf(item):
            return value(program, c, item)
        case t.Table("map"):
            return value(program, c, type.key), value(program, c, type.value)
        case t.Table("lpm"):
            family = type.key if isinstance(type.key, t.Address) else t.IPV6 if c.chance(0.3) else t.IPV4
            return prefix(program, c, family), value(program, c, type.value)
        case t.Table("acl"):
            match type.key:
                case t.Struct(_, fields):
                    parts: tuple[t.Type, ...] = tuple(member for _, member in fields)
                case t.Tuple(items):
                    parts = items
                case _:
                    parts = (type.key,)
            matchers = tuple(_matcher(program, c, part) for part in parts)
            return AclRow(matchers, value(program, c, type.value), c.early((0, 1, 2, 10)))
        case t.Table("maglev"):
            return value(program, c, type.value), c.pick((1, 1, 2, 3, 0))
    raise AssertionError(f"{type} has no rows")


def _matcher(program: ir.Program, c: Choices, type: t.Type) -> Any:
    """Anything, one value, a range or a prefix."""
    kind = c.below(4)
    if kind == 0:
        return None
    if kind == 1 and isinstance(type, t.Address) and type.width != 48:
        return prefix(program, c, type)
    one = value(program, c, type)
    if kind == 2 and isinstance(type, (t.Bits, t.Address, t.Quantity)):
        other = value(program, c, type)
        return Range(min(one, other), max(one, other))
    return one


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
            for item in _items(type, value):
                yield from leaves(type.value, item)
        case _:
            yield (t.PREFIX if isinstance(value, Prefix) else type), value


def keys(type: t.Table, value: Any, part: int | None = None) -> Iterator[tuple[t.Type, Any]]:
    """The scalars in the keys of a table; with `part` of one component only."""
    match type.kind:
        case "map":
            for key in value:
                yield from _component(type.key, key, part)
        case "lpm":
            for prefix, _ in value:
                yield t.PREFIX, prefix
        case "acl":
            parts = (
                [m for _, m in type.key.fields]
                if isinstance(type.key, t.Struct)
                else list(getattr(type.key, "items", (type.key,)))
            )
            for rule in value:
                for n, (member, matcher) in enumerate(zip(parts, rule.matchers, strict=True)):
                    if matcher is not None and part in (None, n):
                        for one in matcher if isinstance(matcher, Range) else (matcher,):
                            yield (t.PREFIX if isinstance(one, Prefix) else member), one


def _component(type: t.Type, key: Any, part: int | None) -> Iterator[tuple[t.Type, Any]]:
    members = [m for _, m in type.fields] if isinstance(type, t.Struct) else list(getattr(type, "items", ()))
    if part is None or not members:
        yield from leaves(type, key)
    elif part < len(members):
        yield from leaves(members[part], key[part])


def _items(type: t.Table, value: Any) -> Iterator[Any]:
    match type.kind:
        case "map":
            yield from value.values()
        case "acl":
            yield from (rule.value for rule in value)
        case "lpm":
            yield from (item for _, item in value)
        case _:
            yield from (item for item, _ in value)
