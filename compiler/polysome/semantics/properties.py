"""Properties (LANGUAGE.md section 12): names and types of quantified statements over the trace."""

from __future__ import annotations

from collections.abc import Sequence

from polysome.ir import properties as pr
from polysome.ir import types as t
from polysome.semantics.context import Shared
from polysome.semantics.property_expressions import PropertyExpressions
from polysome.semantics.scope import NfScope, duplicate
from polysome.syntax import ast
from polysome.syntax.spans import Span


def properties(shared: Shared, scope: NfScope, nf: ast.NfDecl) -> tuple[pr.Property, ...]:
    """The typed properties of the NF, or of the block that `scope` is an instance of; they are named `alias.name`."""
    seen: dict[str, Span] = {}
    found = []
    for decl in nf.items:
        if not isinstance(decl, ast.Property):
            continue
        if decl.name.text in seen:
            duplicate(shared.report, decl.name, seen[decl.name.text])
        seen[decl.name.text] = decl.name.span
        if not any(map(_expects, decl.items)):
            shared.report.add(
                "E0907",
                f"property `{decl.name.text}` expects nothing",
                decl.name.span,
                why="A property without `expect` holds whatever the NF does.",
                mend="Add `expect …;`.",
            )
        items = _Items(PropertyExpressions(shared, scope)).sequence(decl.items)
        found.append(pr.Property(decl.span, scope.prefix + decl.name.text, decl.doc, items))
    return tuple(found)


def _expects(item: ast.PropertyItem) -> bool:
    return _expects(item.body) if isinstance(item, ast.PropertyFor) else isinstance(item, ast.Expect)


def _ends_in_let(item: ast.PropertyItem) -> bool:
    return _ends_in_let(item.body) if isinstance(item, ast.PropertyFor) else isinstance(item, ast.PropertyLet)


class _Items:
    """Types the items of one property."""

    def __init__(self, x: PropertyExpressions) -> None:
        self.x = x
        self._around: dict[str, ast.PropertyFor] = {}  # what the `for`s around an item bind

    def sequence(self, items: Sequence[ast.PropertyItem]) -> tuple[pr.Item, ...]:
        """The items in order. A `let` at the end of a `for` draws all that follows into that `for` (L12.2)."""
        found: list[pr.Item] = []
        for i, item in enumerate(items):
            if isinstance(item, ast.PropertyFor):
                drawn = items[i + 1 :] if _ends_in_let(item) else ()
                found.append(self._for(item, drawn))
                if drawn:
                    break
            elif isinstance(item, ast.PropertyLet):
                value = self.x.value(item.value)
                found.append(pr.Let(item.span, self.x.bind(item.name, value.type), item.name.text, value))
            else:
                found.append(pr.Expect(item.span, self.x.expr(item.value, t.BOOL)))
        return tuple(found)

    def _for(self, item: ast.PropertyFor, drawn: Sequence[ast.PropertyItem]) -> pr.ForAll:
        domain, types = self.x.domain(item.domain, len(item.names))
        outside = self._around
        self._check_new(item)
        self._around = outside | {name.text: item for name in item.names}
        self.x.locals.append({})
        slots = tuple(self.x.bind(n, ty) for n, ty in zip(item.names, types, strict=True))
        where = self.x.expr(item.where, t.BOOL) if item.where is not None else None
        body = self.sequence((item.body, *drawn))
        self.x.locals.pop()
        self._around = outside
        return pr.ForAll(item.span, slots, tuple(n.text for n in item.names), domain, where, body)

    def _check_new(self, item: ast.PropertyFor) -> None:
        """Whoever binds a name again has most likely not seen that a `let` drew this `for` into the one before."""
        for name in item.names:
            if name.text in self._around:
                self.x.report.add(
                    "E0226",
                    f"`{name.text}` is bound already, by the `for` that this one belongs to",
                    name.span,
                    why="The item behind a `for` belongs to it, and behind a `let` so does all that follows (L12.2).",
                    mend="Write this `for` in a property of its own; or, if it is meant for each of the others, "
                    "give its names another one.",
                )
