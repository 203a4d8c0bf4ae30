"""Type expressions to types."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from polysome.ir import types as t
from polysome.ir.value_places import members
from polysome.kinds.state import STATE_KINDS, TABLE_KINDS
from polysome.semantics import hints
from polysome.semantics.scope import NfScope, duplicate
from polysome.syntax import ast
from polysome.syntax.diagnostics import Report, did_you_mean
from polysome.syntax.spans import Span

_SIMPLE: dict[str, t.Type] = {
    "u8": t.U8,
    "u16": t.U16,
    "u32": t.U32,
    "u64": t.U64,
    "bool": t.BOOL,
    "ipv4": t.IPV4,
    "ipv6": t.IPV6,
    "mac": t.MAC,
    "port": t.PORT,
    "prefix": t.PREFIX,
    "time": t.TIME,
    "duration": t.DURATION,
    "bytes": t.BYTES,
    "bitrate": t.BITRATE,
    "packetrate": t.PACKETRATE,
    "End": t.END,
}
_GENERIC = {"list": 1, "set": 1} | {name: len(kind.params) for name, kind in TABLE_KINDS.items()}


def state_only() -> tuple[str, ...]:
    """Types that only state can have."""
    return ("pool", "array", *STATE_KINDS)


def is_packet(node: ast.TypeExpr) -> bool:
    """Does it name a packet, as only parameters of functions for properties can?"""
    return isinstance(node, ast.TypeName) and node.name == "packet" and not node.args


def unusable(type: t.Type) -> bool:
    """Is something in it WRONG, that is, reported before?"""
    return type == t.WRONG or any(map(unusable, members(type)))


class TypeResolver:
    """Resolves types in one scope. `constant` evaluates enum members; `bucket` notes a bucket type's rate and burst."""

    def __init__(
        self,
        scope: NfScope,
        report: Report,
        constant: Callable[[ast.Expr, t.Type], Any],
        bucket: Callable[[ast.TypeName], t.Type],
    ) -> None:
        self.scope = scope
        self.report = report
        self.constant = constant
        self.bucket = bucket
        self._resolving: list[str] = []

    def resolve(self, node: ast.TypeExpr) -> t.Type:
        """The type that `node` names; WRONG if it was reported."""
        match node:
            case ast.TypeTuple(_, items):
                return t.Tuple(tuple(self.resolve(i) for i in items))
            case ast.TypeRef(_, table):
                return self._ref(table)
            case ast.TypeFrom(_, item, pool):
                if pool.text not in self.scope.state:
                    self._unknown_state(pool)
                    return t.WRONG
                return t.FromPool(self.scope.prefix + pool.text, self.resolve(item))
            case ast.TypeName():
                return self._name(node)

    def _name(self, node: ast.TypeName) -> t.Type:
        name, arity = node.name, len(node.args)
        if name == "bit":
            return self._bits(node)
        if name == "token_bucket":
            return self.bucket(node)
        if name in _SIMPLE and arity == 0:
            return _SIMPLE[name]
        if name in _GENERIC:
            return self._generic(node)
        if name in self.scope.names.types and arity == 0:
            return self.named(name)
        if is_packet(node):
            self.report.add(
                "E0204",
                "`packet` is not a type of values",
                node.span,
                why="Only properties speak of packets as a whole (L12.15); a handler has one, and reads its headers.",
                mend="Call a function over packets in properties only, or give it the fields that it needs.",
            )
            return t.WRONG
        if name in state_only():
            self.report.add(
                "E0206",
                f"`{name}` is a kind of state, not a type of values",
                node.span,
                why="State is declared inside `state { … }`; values of it cannot be copied.",
                mend=f"Declare `name: {name}<…>{'[n];' if name == 'array' else ' { … }'}` in `state`.",
            )
            return t.WRONG
        known = [*_SIMPLE, *_GENERIC, "bit", *self.scope.names.types]
        self.report.add(
            "E0204",
            f"there is no type `{name}`" + (" with parameters" if arity and name in known else ""),
            node.span,
            why="Types, headers and values are three name spaces; only types can stand here.",
            mend=f"Write `{name}`."
            if name in known
            else hints.mend_type_name(name, [*known, *state_only(), "token_bucket"]),
        )
        return t.WRONG

    def _bits(self, node: ast.TypeName) -> t.Type:
        width = node.args[0] if len(node.args) == 1 else None
        if isinstance(width, int) and 1 <= width <= 128:
            return t.Bits(width)
        self.report.add(
            "E0205",
            "`bit` takes a width from 1 to 128",
            node.span,
            why="A value has at least one bit, and more than 128 do not fit the registers that targets have.",
            mend="Write for example `bit<13>`; a tuple or a struct holds several values.",
        )
        return t.WRONG

    def _generic(self, node: ast.TypeName) -> t.Type:
        wanted = _GENERIC[node.name]
        args = [self.resolve(a) for a in node.args if not isinstance(a, int)]
        if len(args) != wanted or len(node.args) != wanted:
            self.report.add(
                "E0207",
                f"`{node.name}` takes {wanted} type parameter{'s' if wanted > 1 else ''}",
                node.span,
                why="The parameters are the types of keys and values.",
                mend=f"Write `{node.name}<{'key, value' if wanted == 2 else 'item'}>`.",
            )
            return t.WRONG
        match node.name:
            case "list":
                return t.ListOf(args[0])
            case "set":
                return t.SetOf(args[0])
            case kind:
                return TABLE_KINDS[kind].type_of(args)

    def named(self, name: str) -> t.Type:
        """A struct or enum of the scope."""
        if name in self.scope.named_types:
            return self.scope.named_types[name]
        decl = self.scope.names.types[name]
        if name in self._resolving:
            self.report.add(
                "E0208",
                f"{'struct' if isinstance(decl, ast.StructDecl) else 'enum'} `{name}` contains itself",
                decl.name.span,
                why="A value of it would have no end.",
                mend="Keep the key of the other one in its place, or a row of a config table (`ref`).",
            )
            return t.WRONG
        self._resolving.append(name)
        self.scope.named_types[name] = self._struct(decl) if isinstance(decl, ast.StructDecl) else self._enum(decl)
        self._resolving.pop()
        return self.scope.named_types[name]

    def _struct(self, decl: ast.StructDecl) -> t.Type:
        seen: dict[str, Span] = {}
        for f in decl.fields:
            if f.name.text in seen:
                duplicate(self.report, f.name, seen[f.name.text])
            seen[f.name.text] = f.name.span
        return t.Struct(decl.name.text, tuple((f.name.text, self.resolve(f.type)) for f in decl.fields))

    def _enum(self, decl: ast.EnumDecl) -> t.Type:
        backing = self.resolve(decl.width) if decl.width is not None else None
        width = backing.width if isinstance(backing, t.Bits) else None
        if backing is not None and width is None and backing != t.WRONG:
            self._no_width(decl, backing)
        seen: dict[str, Span] = {}
        for name, _ in decl.members:
            if name.text in seen:
                duplicate(self.report, name, seen[name.text])
            seen[name.text] = name.span
        members: list[tuple[str, int]] = []
        following = 0
        for name, value in decl.members:
            number = following if value is None else self.constant(value, t.Bits(width or 64))
            number = number if isinstance(number, int) else 0
            if width is not None and number >> width:
                self._too_large(name, number, width)
            members.append((name.text, number))
            following = number + 1
        return t.Enum(decl.name.text, tuple(members), width)

    def _no_width(self, decl: ast.EnumDecl, backing: t.Type) -> None:
        assert decl.width is not None
        self.report.add(
            "E0205",
            f"an enum is as wide as an integer, not as {backing}",
            decl.width.span,
            why="The type after the name says how many bits the members' numbers have.",
            mend=f"Write for example `enum {decl.name.text}: u8 {{ … }}`, or leave the type away.",
        )

    def _too_large(self, name: ast.Ident, number: int, width: int) -> None:
        self.report.add(
            "E0305",
            f"the number of `{name.text}` would be {number}, which does not fit {t.Bits(width)}",
            name.span,
            why="A member without a number follows the one before it.",
            mend="Give it a number, or the enum a wider type.",
        )

    def _ref(self, table: ast.Ident) -> t.Type:
        decl = self.scope.config.get(table.text)
        if decl is None or not isinstance(decl.type, (t.ListOf, t.Table)):
            self.report.add(
                "E0209",
                f"`ref {table.text}` needs a config list or map of that name",
                table.span,
                why="A reference names a row of a table by identity, so that it vanishes with the row.",
                mend=did_you_mean(table.text, self.scope.config) or "Declare it: `config … : list<…>;`.",
            )
            return t.WRONG
        row = decl.type.item if isinstance(decl.type, t.ListOf) else decl.type.value
        return t.Ref(self.scope.prefix + table.text, row)

    def _unknown_state(self, pool: ast.Ident) -> None:
        self.report.add(
            "E0210",
            f"there is no pool `{pool.text}`",
            pool.span,
            why="`V from p` says which pool a value goes back to; the pool is declared before, in `state`.",
            mend=did_you_mean(pool.text, self.scope.state) or "Declare it before: `p: pool<V> { from …; }`.",
        )
