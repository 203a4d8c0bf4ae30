"""Columns that go over several lines: the parts of declarations, and comments behind code."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import groupby

from polysome.syntax.formatter.gaps import Row
from polysome.syntax.formatter.layout import WIDTH, Layout, Line


def align_rows(layout: Layout) -> None:
    """Declarations on consecutive lines stay a table where they were one: more than one blank stood before some part.

    With comments between them they are one table if they were aligned already.
    """
    for runs in _neighbours(layout):
        for cell in range(len(runs[0][0].cells)):
            table: list[int] = []
            for run in runs:
                atoms = [layout.atom_of(gap) for row in run if (gap := row.cells[cell]) is not None]
                atoms = [i for i in atoms if not layout.breaks[i]]
                if table and len({layout.atoms[i].column for i in [*table, *atoms]}) > 1:
                    _align(layout, table)
                    table = []
                table += atoms
            _align(layout, table)


def _neighbours(layout: Layout) -> list[list[list[Row]]]:
    """Rows of one kind without empty lines between them, each alone on its line, or on the first of its lines.

    They come in runs of lines that follow each other; comments stand between the runs.
    """
    starts = {layout.atoms[line.start].token: i for i, line in enumerate(layout.lines) if _has_code(layout, line)}
    found: list[list[list[Row]]] = []
    before = -1
    for row in layout.rules.rows:
        line = starts.get(row.token)
        if line is None or not _is_alone(layout, row, line):
            continue
        between = layout.lines[before + 1 : line]
        close = not any(_has_code(layout, other) for other in between)
        close = close and all(layout.breaks[other.start] == 1 for other in [*between, layout.lines[line]])
        if not found or not close or found[-1][-1][-1].kind != row.kind:
            found.append([[row]])
        elif between:
            found[-1].append([row])
        else:
            found[-1][-1].append(row)
        before = line
    return found


def _has_code(layout: Layout, line: Line) -> bool:
    return not layout.atoms[line.start].comment


def _is_alone(layout: Layout, row: Row, number: int) -> bool:
    """Is there no second declaration on the line?"""
    line = layout.lines[number]
    after = [i for i in range(line.start, line.end) if layout.atoms[i].token > row.last and not layout.atoms[i].comment]
    return all(layout.atoms[i].text in (",", ";", "}") for i in after)


def _align(layout: Layout, here: list[int]) -> None:
    if len(here) < 2 or all(layout.atoms[i].blanks < 2 for i in here):
        return
    most = max(layout.columns[i] for i in here)
    padding = {layout.atoms[i].token: most - layout.columns[i] for i in here}
    layout.padding |= padding
    layout.place()
    rows = [line for line in layout.lines if any(line.start < i < line.end for i in here)]
    if any(line.code_end > WIDTH for line in rows):
        for token in padding:
            del layout.padding[token]
        layout.place()


def align_comments(layout: Layout) -> None:
    """Comments behind code keep their column, or what their neighbours have, as far as the code lets them."""
    goes_on = _going_on(layout)
    marked = [(i, line, _comment(layout, line, goes_on)) for i, line in enumerate(layout.lines)]
    for has, group in groupby(marked, key=lambda m: m[2] is not None):
        if has:
            for block in _blocks(layout, [(line, atom) for _, line, atom in group if atom is not None]):
                _put(layout, block)


def _comment(layout: Layout, line: Line, goes_on: list[bool]) -> int | None:
    """The comment at the end of the line that code stands before, or that goes on with such a comment above."""
    i = line.end - 1
    if not layout.atoms[i].comment or "\n" in layout.atoms[i].text:
        return None
    return i if i > line.start or goes_on[i] else None


def _going_on(layout: Layout) -> list[bool]:
    """By atom: is it a comment on a line of its own right below one behind code, in the same column of the source?"""
    found = [False] * len(layout.atoms)
    for i in range(2, len(layout.atoms)):
        atom, above = layout.atoms[i], layout.atoms[i - 1]
        if (
            layout.breaks[i] == 1
            and (atom.comment and above.comment)
            and (atom.newlines == 1 and atom.column == above.column)
        ):
            found[i] = found[i - 1] if layout.breaks[i - 1] else True
    return found


def _blocks(layout: Layout, lines: list[tuple[Line, int]]) -> Iterable[list[tuple[Line, int]]]:
    """Lines without an empty line between them."""
    block: list[tuple[Line, int]] = []
    for line, atom in lines:
        if block and layout.breaks[line.start] > 1:
            yield block
            block = []
        block.append((line, atom))
    if block:
        yield block


def _put(layout: Layout, block: list[tuple[Line, int]]) -> None:
    behind = [(line, atom) for line, atom in block if atom > line.start]
    least = 2 + max(line.code_end for line, _ in behind)
    column = least
    if all(layout.atoms[atom].blanks > 2 for _, atom in behind):
        votes = Counter(layout.atoms[atom].column for _, atom in behind)
        wanted = min(votes, key=lambda c: (-votes[c], c))
        longest = max(len(layout.atoms[atom].text) for _, atom in block)
        column = max(least, min(wanted, WIDTH - longest))
    for _, atom in block:
        layout.columns[atom] = column
