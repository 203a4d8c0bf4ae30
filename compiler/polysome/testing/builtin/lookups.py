"""Lookups in config tables against a plain search."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

from polysome.ir import program as ir
from polysome.ir import types as t
from polysome.kinds.hashing import encoder, key_of_seed, siphash
from polysome.kinds.state.acl import AclRow, Matcher, Range
from polysome.kinds.values import Prefix
from polysome.testing.builtin.base import Broken, Invariant, around, draw, history_of, occasion
from polysome.testing.builtin.configs import Configs
from polysome.testing.history import Lookup
from polysome.testing.record import Record
from polysome.testing.values_text import text

TABLES = ("lpm", "acl", "maglev")
PLACES = 65537  # of a maglev table, if the spec does not say
FEW_PLACES = 4096  # so many are filled for every trace, more for one in SELDOM
SELDOM = 16


@dataclass(frozen=True)
class Lookups(Invariant):
    """A lookup in a config table finds the right row, from the moment of a config change on in the new table: in an lpm
    the longest prefix that contains the address, in an acl the first row that matches by priority and then by order, in
    a maglev the row of the hash's place. (All places of a large maglev table are filled anew for one trace in 16; for
    the others only that its row is there, with a weight, and the same for the same place.)
    """

    name: ClassVar[str] = "table lookups"

    def concerns(self, program: ir.Program) -> bool:
        return any(isinstance(d.type, t.Table) and d.type.kind in TABLES for d in program.config.values())

    def check(self, record: Record) -> int:
        history = history_of(record)
        configs = Configs(record)
        places: dict[tuple[str, int, int], Any] = {}
        for look in history.lookups:
            version = configs.number(look.stamp, look.time)
            rows = configs.versions[version][look.config]
            decl = record.program.config[look.config]
            assert isinstance(decl.type, t.Table)
            match decl.type.kind:
                case "lpm":
                    expected = longest_prefix(rows, *look.args)
                case "acl":
                    expected = first_match(rows, *look.args)
                case _:
                    expected = self._maglev(record, decl, rows, look, places, version)
            if look.result != expected:
                raise _broken(record, look, decl.type.value, expected)
        return len(history.lookups)

    def _maglev(
        self,
        record: Record,
        decl: ir.ConfigDecl,
        rows: Sequence[tuple[Any, int]],
        look: Lookup,
        places: dict[tuple[str, int, int], Any],
        version: int,
    ) -> Any:
        size = decl.options.get("size", PLACES)
        place = look.args[0] % size
        if size <= FEW_PLACES or draw(record.trace, self.name, SELDOM) == 0:
            assert isinstance(decl.type, t.Table)
            encode = encoder(decl.type.value)
            key = key_of_seed(record.program.params["seed"][1])
            hashed = tuple(siphash(key, encode(row)) for row, _ in rows)
            row = filled(hashed, tuple(weight for _, weight in rows), size)[place]
            return rows[row][0]
        expected = places.setdefault((look.config, version, place), look.result)
        return expected if any(row == expected and weight > 0 for row, weight in rows) else None


def longest_prefix(rows: Sequence[tuple[Prefix, Any]], address: int, bits: int) -> Any:
    """S10.1, S10.2."""
    found: tuple[int, Any] = (-1, None)
    for prefix, value in rows:
        low = prefix.value
        high = low + (1 << (prefix.bits - prefix.length)) - 1
        if prefix.bits == bits and low <= address <= high and prefix.length > found[0]:
            found = (prefix.length, value)
    return found[1]


def first_match(rows: Sequence[AclRow], key: Sequence[int], widths: Sequence[int]) -> Any:
    """S11.1, S11.2."""
    best: AclRow | None = None
    for row in rows:
        if (best is None or row.priority > best.priority) and all(map(_matches, row.matchers, key, widths)):
            best = row
    return None if best is None else best.value


def _matches(matcher: Matcher, component: int, width: int) -> bool:
    if matcher is None:
        return True
    if isinstance(matcher, Prefix):
        return longest_prefix([(matcher, True)], component, width) is True
    if isinstance(matcher, Range):
        return component in range(matcher.low, matcher.high + 1)
    return component == matcher


@lru_cache(maxsize=64)
def filled(hashes: tuple[int, ...], weights: tuple[int, ...], size: int) -> list[int]:
    """S12.1 to S12.3: the number of the row that each place belongs to."""
    places: dict[int, int] = {}
    tried = [0] * len(hashes)
    while len(places) < size:
        for row, h in enumerate(hashes):
            for _ in range(weights[row]):
                if len(places) == size:
                    break
                offset, skip = (h >> 32) % size, h % (1 << 32) % (size - 1) + 1
                while (place := (offset + tried[row] * skip) % size) in places:
                    tried[row] += 1
                places[place] = row
    return [places[i] for i in range(size)]


def _broken(record: Record, look: Lookup, type: t.Type, expected: Any) -> Broken:
    program = record.program

    def shown(value: Any) -> str:
        return "no row" if value is None else text(value, type, program)

    key = look.args[0]
    decl = program.config[look.config].type
    named = text(key, decl.key, program) if isinstance(decl, t.Table) and _fits(decl) else str(key)
    return Broken(
        around(record, look.stamp),
        f"{occasion(record, look.stamp, look.time)}: `{look.config}` was asked for {named}",
        f"expected: {shown(expected)}",
        f"found:    {shown(look.result)}",
    )


def _fits(table: t.Table) -> bool:
    """Whether the key is as the spec wrote it: an acl with a single component is asked for a tuple of one."""
    return table.kind != "acl" or isinstance(table.key, (t.Struct, t.Tuple))
