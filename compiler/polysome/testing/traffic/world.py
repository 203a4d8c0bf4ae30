"""Who there is in one trace: config, a few hosts at each port, a few values for every field."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from polysome.analysis.relevance import packet_reads
from polysome.ir import program as ir
from polysome.ir import types as t
from polysome.kinds.state import is_mapping
from polysome.kinds.values import Prefix
from polysome.testing.traffic import tables, values
from polysome.testing.traffic.choices import Choices
from polysome.testing.traffic.constants import ConfigLink, Pool, Wish, constants
from polysome.testing.traffic.headers import shapes
from polysome.testing.traffic.routes import selects

_HOSTS = 3  # at a port
_MAYBE, _WANTED, _NEAR, _OPEN, _UNWANTED, _ODD = 30, 184, 192, 216, 230, 236  # of 256: which kind of value a field gets


@dataclass(frozen=True, eq=False)
class Drawn:
    """A field that gets a value of its own. `role`: 0 the source's, 1 the destination's, None neither."""

    field: int
    type: t.Type
    width: int
    role: int | None
    pool: Pool | None
    default: int | None


@lru_cache(maxsize=64)
def drawn(program: ir.Program) -> tuple[tuple[Drawn, ...], ...]:
    """By instance: the fields that tell hosts and flows apart, that the program reads, or that have no default.

    Not those that parsers select on or that rules of headers depend on; lengths and checksums are computed.
    """
    read = {(r.node.instance, r.node.field) for r in packet_reads(program) if isinstance(r.node, ir.HeaderField)}
    found = []
    for shape in shapes(program):
        ends = {f: role for pair in shape.pairs for role, f in enumerate(pair)}
        fields = []
        for i, f in enumerate(shape.header.fields):
            if f.rest or f.length is not None or f.checksum is not None or i in shape.rules:
                continue
            if (shape.number, i) in selects(program) or i == shape.next:
                continue
            pool = constants(program).fields.get((shape.header.name, i))
            wanted = i in ends or isinstance(f.type, t.Address) or pool is not None or f.default is None
            if wanted or (shape.number, i) in read:
                fields.append(Drawn(i, f.type, f.width, ends.get(i), pool, f.default))
        found.append(tuple(fields))
    return tuple(found)


class World:
    """`config` is what the trace begins with."""

    def __init__(self, program: ir.Program, c: Choices, given: Mapping[str, Any] | None) -> None:
        self.program = program
        self.config = tables.config(program, c, given)
        self._links: dict[tuple[ConfigLink, t.Type, int], list[int]] = {}
        self._known: dict[t.Address, list[int]] = {}
        self._offset = c.byte() % 7
        self._spread = c.chance(0.2)
        self._side = c.below(6)  # hosts of which ports bear an address of the config: rarely any
        self._hosts: dict[tuple[t.Address, int], list[int]] = {}

    # ------------------------------------------------------------ hosts

    def hosts(self, type: t.Address, port: int) -> list[int]:
        """Addresses of those at a port; sometimes one is at several. With those of the config, if it has any."""
        found = self._hosts.get((type, port))
        if found is None:
            usual = values.usual(type)
            start = self._offset + port * (1 if self._spread else _HOSTS - 1)
            found = [usual[(start + n) % len(usual)] for n in range(_HOSTS)]
            known = self.known(type)
            if known and port % 2 == self._side:
                found[1:2] = [known[0]]
            self._hosts[type, port] = found
        return found

    def known(self, type: t.Address) -> list[int]:
        """Addresses that the config names."""
        found = self._known.get(type)
        if found is None:
            found = []
            for name, value in self.config.items():
                for of, one in values.leaves(self.program.config[name].type, value):
                    found += numbers_of(of, one, type, type.width)
            found = self._known[type] = list(dict.fromkeys(found))
        return found

    # ------------------------------------------------------------ fields

    def value(self, c: Choices, field: Drawn, port: int, peer: int) -> int:
        """A value for a field of a packet that comes in at `port`, on its way to somebody at `peer`."""
        kind = c.byte()
        pool = field.pool
        if pool is not None:
            wanted = self._pooled(pool, Wish.WANTED, field, port)
            some = self._pooled(pool, Wish.OPEN, field, port)
            if kind < _WANTED and (wanted or (some and kind < _MAYBE)):
                return c.pick(wanted or some)
            if _WANTED <= kind < _NEAR and (wanted or some):
                return (c.pick(wanted or some) + c.pick((1, -1))) & ((1 << field.width) - 1)
            if _NEAR <= kind < _OPEN and (some or wanted):
                return c.pick(some or wanted)
            if _OPEN <= kind < _UNWANTED and (bad := self._pooled(pool, Wish.UNWANTED, field, port)):
                return c.pick(bad)
        if isinstance(field.type, t.Address):
            found = self._address(c, field.type, field.role, port, peer, _UNWANTED <= kind < _ODD)
            if pool is not None and kind < _OPEN and self._unwanted(pool, field, port, found):
                return c.pick(values.usual(field.type))
            return found
        return self._plain(c, field, kind)

    def _address(self, c: Choices, type: t.Address, role: int | None, port: int, peer: int, odd: bool) -> int:
        if odd:
            return c.pick(values.odd_addresses(self.program, type))
        known = self.known(type)
        if known and role == 1 and c.chance(0.2):
            return c.pick(known)
        return c.early(self.hosts(type, peer if role == 1 else port))

    def _plain(self, c: Choices, field: Drawn, kind: int) -> int:
        if kind < 128 and field.default is not None and field.role is None:
            return field.default
        few = values.numbers(self.program, field.type, field.width)
        if kind >= 248 or field.width == 1:
            return c.pick(few)
        return c.early(few[: 3 if kind < 224 else 6])

    def wanted(self, field: Drawn, port: int) -> list[int]:
        """The values that the program asks for in packets from a port."""
        return [] if field.pool is None else self._pooled(field.pool, Wish.WANTED, field, port)

    def _unwanted(self, pool: Pool, field: Drawn, port: int, address: int) -> bool:
        """Does an address lead straight to a drop?"""
        prefixes = [value for value in pool.values[Wish.UNWANTED] if isinstance(value, Prefix)]
        if any(prefix.contains(address, field.width) for prefix in prefixes):
            return True
        return address in self._pooled(pool, Wish.UNWANTED, field, port)

    def _pooled(self, pool: Pool, wish: Wish, field: Drawn, port: int) -> list[int]:
        """The values of a field's pool that are meant by `wish`."""
        found: list[int] = []
        for value in pool.values[wish]:
            found += numbers_of(field.type, value, field.type, field.width)
        for link in pool.links[wish]:
            key = (link, field.type, port)
            if key not in self._links:
                self._links[key] = self._linked(link, field, port)
            found += self._links[key]
        return found

    def _linked(self, link: ConfigLink, field: Drawn, port: int) -> list[int]:
        """What a config item holds that a field can be; of a table by ports, the row of this port."""
        type, value = self.program.config[link.name].type, self.config[link.name]
        if is_mapping(type) and isinstance(type.key, t.Port) and port in value:
            value = {port: value[port]}
        pairs = values.leaves(type, value)
        if link.keys and isinstance(type, t.Table) and not type.hashed:
            pairs = values.keys(type, value, link.part)
        found: list[int] = []
        for of, one in pairs:
            found += numbers_of(of, one, field.type, field.width)
        if not found and link.keys:  # a member of the value may be meant
            for of, one in values.leaves(type, value):
                found += numbers_of(of, one, field.type, field.width)
        return list(dict.fromkeys(found))


def numbers_of(of: t.Type, one: Any, type: t.Type, width: int) -> Sequence[int]:
    """A config value as values of a field: of a prefix some members; an IPv4-mapped address as IPv4 one."""
    if isinstance(one, Prefix):
        return values.inside(one, type) if isinstance(type, t.Address) else ()
    if of == type or (t.width(of) == width and isinstance(of, (t.Bits, t.Enum)) and isinstance(type, (t.Bits, t.Enum))):
        return (int(one),)
    if of == t.IPV6 and type == t.IPV4 and one >> 32 == 0xFFFF:
        return (one & 0xFFFF_FFFF,)
    return ()
