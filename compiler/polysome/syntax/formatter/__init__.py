"""The one form of a spec: what `polysome fmt` writes.

Line ends between statements are set, those inside of a construct stay where the author put them if they may stand
there, lines above 120 columns are broken, and all blanks follow from that. Tokens and comments stay as they are, in
order.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass

from polysome.syntax.diagnostics import Report
from polysome.syntax.formatter.atoms import Atom, atoms_of
from polysome.syntax.formatter.layout import Layout
from polysome.syntax.formatter.rules import rules_of
from polysome.syntax.formatter.tables import align_comments, align_rows
from polysome.syntax.parse import build, parse, parse_tree
from polysome.syntax.spans import Span


class FormatterError(Exception):
    """The formatter would have changed more than blanks and line ends: a bug of its own, never the spec's fault."""


def formatted(name: str, text: str, report: Report) -> str | None:
    """The text in its one form, lines ending in `\\n`; None if its syntax is wrong (then `report` says where).

    Formatting the result changes nothing. Its AST, apart from spans, and its comments are those of `text`; if the
    formatter finds that they are not, it raises FormatterError.
    """
    tree = parse_tree(name, text, report)
    before = build(name, tree, report) if tree is not None else None
    if tree is None or before is None or report.errors:
        return None
    atoms = atoms_of(text)
    layout = Layout(atoms, rules_of(tree))
    layout.settle()
    align_rows(layout)
    align_comments(layout)
    written = _written(layout)
    again = Report()
    if _content(atoms_of(written)) != _content(atoms) or not same(parse(name, written, again), before):
        raise FormatterError(f"formatting {name} would change its meaning")
    return written


def _content(atoms: list[Atom]) -> list[tuple[int, str]]:
    return [(atom.kind, atom.text) for atom in atoms]


def _written(layout: Layout) -> str:
    lines: list[str] = []
    for line in layout.lines:
        if layout.breaks[line.start] > 1:
            lines.append("")
        text = ""
        for i in range(line.start, line.end):
            text += " " * (layout.columns[i] - len(text.rpartition("\n")[2])) + layout.atoms[i].text
        lines.append(text)
    return "\n".join(lines)


def same(a: object, b: object) -> bool:
    """Are two syntax trees the same, but for where things stand?"""
    if isinstance(a, Span) or isinstance(b, Span):
        return type(a) is type(b)
    if isinstance(a, tuple) and isinstance(b, tuple):
        return len(a) == len(b) and all(map(same, a, b))
    if is_dataclass(a):
        return type(a) is type(b) and all(same(getattr(a, f.name), getattr(b, f.name)) for f in fields(a))
    return a == b
