"""Expressions of properties: those of the language, with packets, snapshots, quantifiers and runs beside them."""

from __future__ import annotations

from polysome.ir import program as ir
from polysome.ir import properties as pr
from polysome.ir import types as t
from polysome.kinds.state import is_mapping
from polysome.semantics import (
    names,
    property_builtins,
    property_methods,
    property_packets,
    property_runs,
    property_state,
)
from polysome.semantics.property_context import PropertyContext
from polysome.semantics.scope import NfScope
from polysome.syntax import ast
from polysome.syntax.diagnostics import one_of
from polysome.syntax.spans import Span


class PropertyExpressions(PropertyContext):
    """Types the expressions of one property."""

    def typed(self, node: ast.Expr, want: t.Type | None) -> ir.Expr:
        found = self._own(node)
        return super().typed(node, want) if found is None else found

    def _own(self, node: ast.Expr) -> ir.Expr | None:
        """What only a property can say, or what only a handler can; None for all else."""
        if property_state.without_time(self, node) or property_packets.without_packet(self, node):
            return self.wrong(node.span)
        match node:
            case ast.Quantified():
                return self._quantified(node)
            case ast.Call(callee=ast.Name()):
                return property_builtins.call(self, node)
            case ast.Call(callee=ast.Member()):
                return property_methods.method(self, node)
            case ast.Name():
                return self._whole(node)
            case ast.Member():
                return property_packets.member(self, node)
            case ast.Index():
                return property_packets.header(self, node) or property_state.index(self, node)
            case ast.Range():
                return property_packets.header(self, node)
            case ast.Binary(op="in"):
                return property_state.contains(self, node)
            case ast.Binary():
                return property_packets.same_bytes(self, node) or property_runs.part_of(self, node)
            case _:
                return None

    def _whole(self, node: ast.Name) -> ir.Expr | None:
        """`trace` and `emitted` as values: E0906."""
        if node.text not in ("trace", "emitted") or names.value_exists(self, node.text):
            return None
        self.report.add(
            "E0906",
            f"`{node.text}` is no value",
            node.span,
            why="It only says what a name runs over.",
            mend=f"Write for example `exists r in {node.text} where …` or `count(r in {node.text} where …)`.",
        )
        return self.wrong(node.span)

    def about_packets(self, function: str) -> PropertyContext:
        scope = NfScope(self.scope.names, self.scope.prefix, ports=self.scope.ports, params=self.scope.params)
        inner = PropertyExpressions(self.shared, scope)
        inner.within = (*self.within, function)
        return inner

    # ------------------------------------------------------------ quantifiers

    def _quantified(self, node: ast.Quantified) -> ir.Expr:
        domain, types = self.domain(node.domain, 1)
        self.locals.append({})
        slot = self.bind(node.name, types[0])
        condition = self.expr(node.where, t.BOOL)
        self.locals.pop()
        return pr.Quantified(node.span, t.BOOL, node.kind, slot, node.name.text, domain, condition)

    def domain(self, node: ast.Expr, count: int) -> tuple[pr.Domain, tuple[t.Type, ...]]:
        """What `count` names run over, and their types; E0906 if they cannot."""
        if isinstance(node, ast.Name) and node.text in ("trace", "emitted") and not names.value_exists(self, node.text):
            packet = pr.EMITTED if node.text == "emitted" else pr.PACKET
            return pr.Domain(node.span, node.text, None), (packet,) * count
        source = property_state.entries(self, node) or self._collection(node)
        item = _item(source.type)
        found = pr.Domain(node.span, "values", source)
        if item is not None and count == 1:
            return found, (item,)
        if isinstance(item, t.Entry) and count == 2:
            return found, (item.key, item.value)
        if source.type != t.WRONG:
            self._no_domain(node.span, source.type, item, count)
        return found, (t.WRONG,) * count

    def _collection(self, node: ast.Expr) -> ir.Expr:
        """A value that may be a list, set or map; a misspelt `trace` is told so."""
        known = [*names.known_values(self), "trace", "emitted", "ports"]
        if not isinstance(node, ast.Name) or node.text in known:
            return self.typed(node, None)
        self.report.add(
            "E0213",
            f"there is no `{node.text}` here",
            node.span,
            why="Names run over `trace`, `emitted`, config and collections of a packet.",
            mend=one_of(node.text, known),
        )
        return self.wrong(node.span)

    def _no_domain(self, span: Span, type: t.Type, item: t.Type | None, count: int) -> None:
        if item is None:
            message, mend = f"a name cannot run over {type}", "Name a list, set or map, or write `… in trace`."
        else:
            most = "one name or two" if isinstance(item, t.Entry) else "one name"
            message, mend = f"{count} names cannot run over {type}", f"Use {most}."
        self.report.add(
            "E0906",
            message,
            span,
            why="Names run over `trace` and `emitted` (any number, in their order), lists and sets (one), and the "
            "entries of maps and `top_k` (one for the entry, or key and value).",
            mend=mend,
        )


def _item(type: t.Type) -> t.Type | None:
    """The type of what is in a collection, or None if it is none."""
    match type:
        case t.ListOf(item) | t.SetOf(item):
            return item
        case t.Table() if is_mapping(type):
            return t.Entry(type.key, type.value)
        case _:
            return None
