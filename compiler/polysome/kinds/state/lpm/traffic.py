"""The rows of `config lpm` in tests."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from polysome.ir import program as ir
from polysome.ir import types as t
from polysome.kinds.state import TABLE_KINDS
from polysome.testing.traffic.choices import Choices
from polysome.testing.traffic.values import ROWS, Exchange, TableTraffic, prefix, value


class LpmTraffic(TableTraffic):
    def table(self, program: ir.Program, c: Choices, type: t.Table) -> Any:
        rows = [self.row(program, c, type) for _ in range(c.pick(ROWS) + 1)]
        return TABLE_KINDS[type.kind].together(rows)

    def row(self, program: ir.Program, c: Choices, type: t.Table) -> Any:
        family = type.key if isinstance(type.key, t.Address) else t.IPV6 if c.chance(0.3) else t.IPV4
        return prefix(program, c, family), value(program, c, type.value)

    def keys(self, type: t.Table, row: Any, part: int | None) -> Iterator[tuple[t.Type, Any]]:
        yield t.PREFIX, row[0]

    def exchanged(self, row: Any, type: t.Table, inside: Exchange) -> Any:
        return row[0], inside(row[1], type.value)


TRAFFIC = LpmTraffic()
