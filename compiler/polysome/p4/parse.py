"""P4 text to syntax tree."""

from __future__ import annotations

from polysome.p4 import ast
from polysome.p4.build import Builder
from polysome.p4.pieces import Whole, file_of
from polysome.p4.rules import tree
from polysome.p4.syntax_errors import Listener
from polysome.syntax.diagnostics import Report
from polysome.syntax.spans import Source


def parse(name: str, text: str, report: Report) -> ast.File | None:
    """The tree of `text`, the file that messages call `name`; None if its syntax is wrong: `report` says where."""
    report.sources[name] = Source(name, text)
    before = report.count
    try:
        found = _file(name, text, report)
        if found is None:
            tree(text, listener=Listener(name, text, report))
            return None
    except RecursionError:
        _too_deep(report)
        return None
    return found if report.count == before else None


def _file(name: str, text: str, report: Report) -> ast.File | None:
    try:
        return file_of(name, text, report)
    except Whole:
        found = tree(text)
        return Builder(name, report).file_node(found) if found is not None else None


def _too_deep(report: Report) -> None:
    report.add(
        "E1202",
        "expressions or blocks are nested too deep",
        None,
        why="The parser goes down one level for each parenthesis, brace and operator that it is in.",
        mend="Give intermediate results to variables.",
    )
