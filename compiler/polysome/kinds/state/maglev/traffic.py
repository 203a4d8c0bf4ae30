"""The rows of `config maglev` in tests."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from polysome.ir import program as ir
from polysome.ir import types as t
from polysome.testing.traffic.choices import Choices
from polysome.testing.traffic.values import Exchange, Simpler, TableTraffic, value


class MaglevTraffic(TableTraffic):
    def row(self, program: ir.Program, c: Choices, type: t.Table) -> tuple[Any, int]:
        return value(program, c, type.value), c.pick((1, 1, 2, 3, 0))

    def changed(self, program: ir.Program, c: Choices, type: t.Table, old: Any) -> Any:
        return self.row(program, c, type)

    def keys(self, type: t.Table, row: Any, part: int | None) -> Iterator[tuple[t.Type, Any]]:
        yield from ()

    def simpler(self, row: tuple[Any, int], type: t.Table, simpler: Simpler) -> Iterator[Any]:
        yield from super().simpler(row, type, simpler)
        yield from [(row[0], 1)] if row[1] > 1 else []

    def exchanged(self, row: tuple[Any, int], type: t.Table, inside: Exchange) -> Any:
        return inside(row[0], type.value), row[1]


TRAFFIC = MaglevTraffic()
