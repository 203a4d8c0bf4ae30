"""CSV into items (RFC 4180, with comment lines). The `csv` module tells no columns, so that cells are found here."""

from __future__ import annotations

import re
from typing import Any, NoReturn

from polysome.config.items import Item, Rejected
from polysome.syntax.diagnostics import Report
from polysome.syntax.spans import Source, Span

# A quoted cell, in which a quote is doubled, or a plain one; then a comma, the end of the line or of the file.
_CELL = re.compile(r'[ \t]*+(?:"((?:[^"]|"")*+)"[ \t]*|([^",\n][^,\n]*)?)(?=[,\n]|\Z)')
_SKIPPED = re.compile(r"(?:[ \t]*(?:#[^\n]*)?(?:\n|\Z))+")
_RULES = "The first line names the columns; cells are separated by commas, and quoted if they hold one."

Column = tuple[tuple[str, ...], Span]
"""A column's dotted name, taken apart, and where it stands."""


def read_csv(source: Source, report: Report) -> Item:
    """The file as a list of rows: tables by the columns' names. A dotted name is a member of a nested table.

    Lines that are empty or begin with # are skipped, blanks around cells too. Reports E1002; raises Rejected if the
    header is unusable or the cells cannot be told apart.
    """
    lines = list(_Lines(source, report))
    if not lines:
        _fail(report, Span(source.name, 0, 0), "this file has no header line", "Add the line with the columns' names.")
    columns = _columns(lines[0], source, report)
    header = lines[0][0].span.to(lines[0][-1].span)
    rows = []
    for cells in lines[1:]:
        if _complete(cells, columns, report):
            rows.append(_row(cells, columns, header))
    return Item(rows, Span(source.name, 0, len(source.text)))


class _Lines:
    """The cells of each line that holds some."""

    def __init__(self, source: Source, report: Report) -> None:
        self.source, self.report = source, report
        self.at = 0

    def __iter__(self) -> _Lines:
        return self

    def __next__(self) -> list[Item]:
        text = self.source.text
        skipped = _SKIPPED.match(text, self.at)
        if skipped is not None:
            self.at = skipped.end()
        if self.at >= len(text):
            raise StopIteration
        cells = [self._cell()]
        while text.startswith(",", self.at):
            self.at += 1
            cells.append(self._cell())
        self.at += 1
        return cells

    def _cell(self) -> Item:
        found = _CELL.match(self.source.text, self.at)
        if found is None:
            end = self.source.text.find("\n", self.at)
            span = Span(self.source.name, self.at, end if end >= 0 else len(self.source.text))
            mend = "Close the cell with a quote, and write a quote inside it twice."
            _fail(self.report, span, "this quoted cell does not end before a comma or the end of the line", mend)
        self.at = found.end()
        if found[1] is not None:
            return Item(
                found[1].replace('""', '"'), Span(self.source.name, found.start(1) - 1, found.end(1) + 1), cell=True
            )
        value = (found[2] or "").rstrip()
        start = found.start(2) if found[2] else found.end()
        return Item(value, Span(self.source.name, start, start + len(value)), cell=True)


def _columns(cells: list[Item], source: Source, report: Report) -> list[Column]:
    """The columns that the header line names."""
    if len(cells) == 1:
        separator = next((s for s in (";", "\t", "|") if s in cells[0].value), None)
        if separator is not None:
            shown = "tabs" if separator == "\t" else f"`{separator}`"
            _fail(report, cells[0].span, f"the cells are separated by {shown}", "Separate them by commas.")
    seen: dict[str, Span] = {}
    columns: list[Column] = []
    for cell in cells:
        name = cell.value
        if not name or "" in name.split("."):
            _fail(report, cell.span, "this column has no name", "Name it, or remove it.")
        clash = next((s for s in seen if s == name or s.startswith(name + ".") or name.startswith(s + ".")), None)
        if clash is not None:
            also = [(seen[clash], "first here")]
            _fail(report, cell.span, f"the columns `{clash}` and `{name}` say the same", "Remove one.", also)
        seen[name] = cell.span
        columns.append((tuple(name.split(".")), cell.span))
    return columns


def _complete(cells: list[Item], columns: list[Column], report: Report) -> bool:
    """Has the row a cell for each column? Reports if not."""
    if len(cells) == len(columns):
        return True
    mend = "Add or remove commas; an empty cell still needs its comma. Quote a cell that holds a comma."
    message = f"this row has {len(cells)} cell{'s' if len(cells) != 1 else ''}, the header {len(columns)}"
    report.add("E1002", message, cells[0].span.to(cells[-1].span), why=_RULES, mend=mend)
    return False


def _row(cells: list[Item], columns: list[Column], header: Span) -> Item:
    span = cells[0].span.to(cells[-1].span)
    members: dict[str, Any] = {}
    for (path, place), cell in zip(columns, cells, strict=True):
        table = members
        for name in path[:-1]:
            table = table.setdefault(name, Item({}, cell.span, place, header=header)).value
        table[path[-1]] = Item(cell.value, cell.span, place, cell=True)
    return Item(members, span, header=header)


def _fail(report: Report, span: Span, message: str, mend: str, also: list[tuple[Span, str]] | None = None) -> NoReturn:
    report.add("E1002", message, span, also=also or (), why=_RULES, mend=mend)
    raise Rejected
