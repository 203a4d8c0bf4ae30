"""Which config items a file's names mean, and their values."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from polysome.config.convert import Converter
from polysome.config.items import Item, Rejected, Style
from polysome.config.rows import read_item
from polysome.ir import program as ir
from polysome.syntax.diagnostics import Report, did_you_mean
from polysome.syntax.spans import Span


class Assignments:
    """Values given to config items, each once. What is wrong is reported and left out."""

    def __init__(self, program: ir.Program, report: Report) -> None:
        self.program, self.report = program, report
        self.values: dict[str, Any] = {}
        self.given: dict[str, Span] = {}  # also those with wrong values

    def all_of(self, table: Item, style: Style) -> None:
        """Gives what the members of a table name."""
        for decl, item in self.named(table, ""):
            self.give(decl, item, style)

    def give(self, decl: ir.ConfigDecl, item: Item, style: Style) -> None:
        """Gives one item its value."""
        place = item.name or item.span
        if decl.name in self.given:
            self.report.add(
                "E1004",
                f"config `{decl.name}` is given twice",
                place,
                also=[(self.given[decl.name], "first given here")],
                why="It would not be clear which of them counts; they are not merged.",
                mend="Remove one of them.",
            )
            return
        self.given[decl.name] = place
        with suppress(Rejected):
            self.values[decl.name] = read_item(Converter(self.program, decl, style, self.report), item)

    def put(self, others: Assignments) -> None:
        """What others were given, instead of one's own."""
        self.values |= others.values
        self.given |= others.given

    def named(self, table: Item, scope: str) -> Iterator[tuple[ir.ConfigDecl, Item]]:
        """The config items that a table's members name.

        What a block declares has the block's name in front: `[ct]` and then `limit = 1`, or `"ct.limit" = 1`.
        """
        config = self.program.config
        for name, item in table.value.items():
            full = scope + name
            if full in config:
                yield config[full], item
            elif isinstance(item.value, dict) and any(known.startswith(full + ".") for known in config):
                yield from self.named(item, full + ".")
            else:
                why = f"The NF `{self.program.name}` declares what it reads with `config`."
                mend = unknown_name_hint(full, self.program)
                self.report.add("E1003", f"there is no config `{full}`", item.name, why=why, mend=mend)


def unknown_name_hint(name: str, program: ir.Program) -> str:
    """What was probably meant by a name that is no config item's."""
    if name in program.params:
        return f"`{name}` is a param: give it with `--param {name}=…`."
    return did_you_mean(name, program.config) or f"`{program.name}` has no config of a similar name."
