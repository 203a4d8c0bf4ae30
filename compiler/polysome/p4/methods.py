"""Typing of calls: methods of headers, tables, packets and the architecture's externs."""

from __future__ import annotations

from collections.abc import Sequence

from polysome.p4 import ast
from polysome.p4 import program as pr
from polysome.p4.expressions import Expressions
from polysome.p4.scope import Meaning, Object, Scope, TableName, World
from polysome.p4.types import BOOL, Bits, Composite, Type, width

# Of each extern: its methods, and in which blocks they may be called.
WHERE = {
    ("Register", "read"): "",
    ("Register", "write"): "",
    ("RegisterAction", "execute"): "control",
    ("Hash", "get"): "control",
    ("Random", "get"): "control",
    ("Counter", "count"): "control",
    ("Meter", "execute"): "control",
    ("Mirror", "emit"): "deparser",
    ("Checksum", "add"): "",
    ("Checksum", "verify"): "",
    ("Checksum", "subtract"): "parser",
    ("Checksum", "subtract_all_and_deposit"): "parser",
    ("Checksum", "get"): "parser",
    ("Checksum", "update"): "deparser",
    ("packet_in", "extract"): "parser",
    ("packet_in", "advance"): "parser",
    ("packet_in", "lookahead"): "parser",
    ("packet_out", "emit"): "deparser",
}


class Methods(Expressions):
    """`block` is what is typed: "parser", "control" or "deparser"."""

    def __init__(self, world: World, block: str) -> None:
        super().__init__(world)
        self.block = block

    # ------------------------------------------------------------ calls with a value

    def call(self, e: ast.Call, scope: Scope) -> pr.Expr | None:
        if isinstance(e.callee, ast.Name):
            self._function(e, e.callee)
            return None
        assert isinstance(e.callee, ast.Member) or not isinstance(e.callee, ast.Name)
        if not isinstance(e.callee, ast.Member):
            self.world.wrong_type("this cannot be called", e.span, "Call a method: `object.method(…)`.")
            return None
        if e.callee.name.text == "isValid":
            return self._is_valid(e, e.callee, scope)
        found = self.method(e, scope)
        if found is None:
            return None
        made, method = found
        return self._value_of(e, made, method, scope)

    def _function(self, e: ast.Call, name: ast.Name) -> None:
        if name.name == "port_metadata_unpack":
            self.world.outside(
                "port_metadata_unpack within an expression", e.span, "Write `md.port = port_metadata_unpack<T>(pkt);`."
            )
        else:
            self.world.unknown("function", name.name, name.span, ["port_metadata_unpack"])

    def _is_valid(self, e: ast.Call, callee: ast.Member, scope: Scope) -> pr.Expr | None:
        header = self.header(callee.base, scope)
        return pr.Valid(header, e.span) if header is not None and self.arguments(e, 0) else None

    def _value_of(self, e: ast.Call, of: Object, method: str, scope: Scope) -> pr.Expr | None:
        match of.type.name, method:
            case "RegisterAction", "execute":
                action = self.world.register_actions[of.name]
                index = self._only(e, scope, self.world.registers[action.register].index)
                return pr.Execute(of.name, index, action.result, e.span) if index is not None else None
            case "Meter", "execute":
                index = self._only(e, scope, of.type.args[0])
                return pr.MeterOf(of.name, index, Bits(8), e.span) if index is not None else None
            case "Hash", "get":
                items = self.items(e, 0, scope)
                return pr.HashOf(str(of.args[0]), items, of.type.args[0], e.span) if items is not None else None
            case "Random", "get":
                return pr.Random(of.type.args[0], e.span) if self.arguments(e, 0) else None
            case "Checksum", "get":
                return pr.ChecksumGet(of.name, Bits(16), e.span) if self.arguments(e, 0) else None
            case "Checksum", "update":
                return self._update(e, scope)
            case "packet_in", "lookahead":
                return self._lookahead(e, scope)
            case _:
                self.world.wrong_type(f"`{method}` has no value", e.span, "Call it as a statement.")
                return None

    def _only(self, e: ast.Call, scope: Scope, kind: Type) -> pr.Expr | None:
        return self.value(e.args[0], scope, kind) if self.arguments(e, 1) else None

    def _update(self, e: ast.Call, scope: Scope) -> pr.Expr | None:
        if not self.arguments(e, 1, 2):
            return None
        items = self.summed(e, scope)
        ones = self.constant(e.args[1], scope, BOOL) if len(e.args) == 2 else 0
        if items is None or ones is None:
            return None
        return pr.ChecksumOf(items, bool(ones), Bits(16), e.span)

    def _lookahead(self, e: ast.Call, scope: Scope) -> pr.Expr | None:
        kind = self.type(e.type_args[0], scope) if len(e.type_args) == 1 and self.arguments(e, 0) else None
        if not isinstance(kind, Bits) or kind.width > 128:
            if kind is not None or len(e.type_args) != 1:
                self.world.outside(
                    "lookahead of anything but bits", e.span, "Look at bits: `pkt.lookahead<bit<16>>()`, at most 128."
                )
            return None
        return pr.Lookahead(kind, e.span)

    def hit(self, e: ast.Call, miss: bool, scope: Scope) -> pr.Expr | None:
        table = self.applied(e, scope)
        return pr.Hit(table, miss, e.span) if table is not None else None

    def applied(self, e: ast.Expr, scope: Scope) -> str | None:
        """The table of `table.apply()`."""
        if isinstance(e, ast.Call) and isinstance(e.callee, ast.Member) and e.callee.name.text == "apply":
            found = self.meaning(e.callee.base, scope)
            if isinstance(found, TableName):
                return found.name if self.arguments(e, 0) else None
            if found is None:
                return None
        self.world.wrong_type("a table is needed here", e.span, "Write `table.apply().hit`.")
        return None

    # ------------------------------------------------------------ what is called

    def meaning(self, e: ast.Expr, scope: Scope) -> Meaning | None:
        """What a name stands for; reported if it stands for nothing."""
        if not isinstance(e, ast.Name):
            self.world.wrong_type("a name is needed here", e.span, "Call a method of something that has a name.")
            return None
        found = scope.find(e.name)
        if found is None:
            self.world.unknown("table, extern or control", e.name, e.span, list(scope.visible()))
        return found

    def method(self, e: ast.Call, scope: Scope) -> tuple[Object, str] | None:
        """The object and the method of a call of an extern, if it may be called here."""
        assert isinstance(e.callee, ast.Member)
        method = e.callee.name
        found = self.meaning(e.callee.base, scope)
        if found is None:
            return None
        if not isinstance(found, Object):
            self.world.unknown("method", method.text, method.span, ["apply", "isValid", "setValid", "setInvalid"])
            return None
        name = found.type.name
        where = WHERE.get((name, method.text))
        if where is None:
            self.world.unknown(
                f"method of {name}", method.text, method.span, [m for o, m in WHERE if o == name and WHERE[o, m]]
            )
            return None
        if where == "":
            mend = "Use a RegisterAction: it reads and writes in one access."
            if name == "Checksum":
                mend = "Subtract, and update the checksum from the residual: a wrong one stays wrong."
            self.world.outside(f"{name}.{method.text}", e.span, mend)
            return None
        if where != self.block:
            self.world.wrong_type(
                f"{name}.{method.text} is called in a {self.block}",
                e.span,
                f"It belongs into a {where}.",
                "Parsers, controls and deparsers are different hardware.",
            )
            return None
        return found, method.text

    def arguments(self, e: ast.Call, least: int, most: int | None = None) -> bool:
        """Are there that many arguments?"""
        most = least if most is None else most
        if least <= len(e.args) <= most:
            return True
        wanted = f"{least} {'is' if least == 1 else 'are'}" if least == most else f"{least} to {most} are"
        self.world.wrong_type(
            f"{len(e.args)} argument{'s' * (len(e.args) != 1)} where {wanted} needed",
            e.span,
            "Compare with the declaration.",
            "Each parameter takes one argument.",
        )
        return False

    # ------------------------------------------------------------ lists

    def items(self, e: ast.Call, at: int, scope: Scope) -> tuple[pr.Expr, ...] | None:
        """The values of the list that is argument `at`: a header or struct stands for its fields."""
        if not self.arguments(e, at + 1, at + 2):
            return None
        arg = e.args[at]
        parts = arg.items if isinstance(arg, ast.ListOf) else (arg,)
        found = [self.value(part, scope) for part in parts]
        if any(f is None for f in found):
            return None
        return tuple(flat for f in found if f is not None for flat in spread(f))

    def summed(self, e: ast.Call, scope: Scope) -> tuple[pr.Expr, ...] | None:
        """The items of a checksum: whole 16-bit words together, each at a byte's boundary."""
        items = self.items(e, 0, scope)
        if items is None:
            return None
        total = sum(width(i.type) for i in items)
        if total % 16:
            self.world.wrong_type(
                f"a checksum over {total} bits",
                e.args[0].span,
                "The list must be whole words of 16 bits: pad a byte with `8w0`.",
                "The checksum unit adds words of 16 bits.",
            )
            return None
        return items


def spread(e: pr.Expr) -> Sequence[pr.Expr]:
    """A header's or struct's fields, or the value itself."""
    if not isinstance(e, pr.Place) or not isinstance(e.type, Composite):
        return (e,)
    fields = (pr.Place(e.root, (*e.path, n), t, e.span) for n, t in e.type.fields)
    return tuple(flat for f in fields for flat in spread(f))


def headers(e: pr.Place) -> Sequence[pr.Place]:
    """The headers in a place, in order: itself, if it is one."""
    if not isinstance(e.type, Composite):
        return ()
    if e.type.header:
        return (e,)
    fields = (pr.Place(e.root, (*e.path, n), t, e.span) for n, t in e.type.fields)
    return tuple(h for f in fields for h in headers(f))
