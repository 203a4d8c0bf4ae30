"""The rows of `config ranges` in tests."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from polysome.ir import program as ir
from polysome.ir import types as t
from polysome.testing.traffic.choices import Choices
from polysome.testing.traffic.values import Exchange, Simpler, TableTraffic, value

from . import Row


class RangesTraffic(TableTraffic):
    def row(self, program: ir.Program, c: Choices, type: t.Table) -> Row:
        one, other = value(program, c, type.key), value(program, c, type.key)
        return (min(one, other), max(one, other)), value(program, c, type.value)

    def keys(self, type: t.Table, row: Row, part: int | None) -> Iterator[tuple[t.Type, Any]]:
        yield from ((type.key, end) for end in row[0])

    def simpler(self, row: Row, type: t.Table, simpler: Simpler) -> Iterator[Row]:
        yield from super().simpler(row, type, simpler)
        (low, high), held = row
        yield from [((low, low), held)] if low < high else []

    def exchanged(self, row: Row, type: t.Table, inside: Exchange) -> Row:
        return row[0], inside(row[1], type.value)


TRAFFIC = RangesTraffic()
