"""The rows of `config ranges` in files: `low` and `high`, which both belong to the range, and value."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from polysome.config.convert import Converter
from polysome.config.items import Item, collect
from polysome.config.rows import Form, TableRows, Write
from polysome.config.shapes import sample
from polysome.ir import types as t

from . import Row, common


class RangesRows(TableRows):
    names = ("low", "high")
    by_key = False

    def read(self, c: Converter, item: Item, type: t.Table) -> tuple[Row, ...]:
        items = c.rows(item, type)
        rows = collect(partial(self._range, c, row, type) for row in items)
        for n, (row, place) in enumerate(zip(rows, items, strict=True)):
            other = next((m for m in range(n) if common(row, rows[m])), None)
            if other is not None:
                c.report.add(
                    "E1013",
                    f"rows {other + 1} and {n + 1} of `{c.decl.name}` have a key in common",
                    place.span,
                    label=f"row {n + 1}",
                    also=[(items[other].span, f"row {other + 1}")],
                    why="It would not be clear which of them counts.",
                    mend="End one of the ranges before the other begins.",
                )
        return tuple(rows)

    def _range(self, c: Converter, row: Item, type: t.Table) -> Row:
        members, read = self.members(c, row, ["low", "high"], (), type)
        ends = (partial(lambda name: c.value(members[name], type.key), name) for name in self.names)
        low, high, value = collect([*ends, read])
        if low > high:
            c.reject("E1014", "this range is empty", row.span, "Both ends belong to a range.", "Exchange its ends.")
        return (low, high), value

    def example(self, type: t.Table, ports: Sequence[str]) -> Any:
        return self.example_of({name: sample(type.key, ports) for name in self.names}, type, ports)

    def written(self, row: Row, type: t.Table, write: Write) -> Form:
        ends = {name: write(end, type.key) for name, end in zip(self.names, row[0], strict=True)}
        return self.written_of(ends, row[1], type, write)


ROWS = RangesRows()
