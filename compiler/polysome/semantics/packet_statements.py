"""Statements that judge, make and change packets: verdicts, emit, push, pop, truncate (LANGUAGE.md L9, section 10)."""

from __future__ import annotations

from polysome.ir import program as ir
from polysome.ir import types as t
from polysome.semantics import hints
from polysome.semantics.context import Context
from polysome.semantics.header_names import check_valid, header_names, members_of
from polysome.semantics.headers import header
from polysome.syntax import ast

Fields = tuple[tuple[int, ir.Expr], ...]


def verdict(x: Context, node: ast.Send | ast.Bounce | ast.Drop, packet: bool) -> list[ir.Statement]:
    """A verdict; E0602 where there is no `packet` to judge."""
    if not packet:
        x.report.add(
            "E0602",
            "there is no packet to give a verdict on",
            node.span,
            why="`on end` and `every` run without a packet; they may change state and `emit`.",
            mend="Remove the verdict; to end an action early, use `if`.",
        )
    match node:
        case ast.Send(span, target):
            value = x.typed(target, t.PORT)
            value = x.coerce(value, t.PORT_SET if isinstance(value.type, t.SetOf) else t.PORT)
            x.mask = 0
            return [ir.Send(span, value)]
        case ast.Bounce(span):
            x.mask = 0
            return [ir.Bounce(span)]
        case ast.Drop(span, reason):
            x.mask = 0
            return [ir.Drop(span, reason.value if reason else "")]


def emit(x: Context, node: ast.Emit) -> list[ir.Statement]:
    """`emit h {…}, … payload B to PORT;`"""
    headers = [(h.name.text, _literal(x, h)) for h in node.headers]
    payload = _payload(x, node.payload) if node.payload is not None else None
    target = x.expr(node.target, t.PORT)
    found = tuple((name, fields) for name, fields in headers if fields is not None)
    return [ir.Emit(node.span, found, payload, target)]


def _payload(x: Context, node: ast.Expr) -> ir.Expr:
    value = x.typed(node, None)
    whole = isinstance(value.type, t.ByteString) or (isinstance(value.type, t.Bits) and value.type.width % 8 == 0)
    if not whole and value.type != t.WRONG:
        x.report.add(
            "E0606",
            f"{value.type} is no sequence of whole bytes",
            node.span,
            why="A packet is bytes: `payload`, `payload[a..b]`, `packet_from(h, N)`, or an integer of 8·n bits.",
            mend="Give it a width of whole bytes with `as`.",
        )
    return value


def _literal(x: Context, node: ast.HeaderLiteral) -> Fields | None:
    """The fields of a new header; marked ones are never given, those with a default may be."""
    layout = header(x.shared, x.scope, node.name)
    if layout is None:
        return None
    types = {f.name: f.type for f in layout.fields}
    writable = {f.name: f.type for f in layout.fields if not f.read_only}
    for init in node.fields:
        if init.name.text in types and init.name.text not in writable:
            field = layout.fields[layout.index(init.name.text) or 0]
            x.report.add(
                "E0410",
                f"`{init.name.text}` of {layout.name} cannot be given",
                init.name.span,
                also=[(field.span, "declared here")],
                why="Lengths, next-header numbers and checksums are computed; a `rest` is empty.",
                mend="Remove it.",
            )
    fields = tuple(f for f in node.fields if f.name.text not in types or f.name.text in writable)
    optional = frozenset(f.name for f in layout.fields if f.default is not None)
    given = x.inits(fields, writable, f"header `{layout.name}`", node.name.span, optional)
    return tuple((layout.index(name) or 0, value) for name, value in given.items())


def edit(x: Context, node: ast.Statement) -> list[ir.Statement]:
    """`push`, `pop`, `truncate`."""
    match node:
        case ast.Push(span, literal, before):
            fields = _literal(x, literal)
            anchor = None if before.text == "payload" else _one(x, before)
            if fields is None or (anchor is None and before.text != "payload"):
                return []
            return [ir.Push(span, literal.name.text, fields, anchor)]
        case ast.Pop(span, first, last):
            a, b = _one(x, first), _one(x, last)
            if a is None or b is None or not _in_wire_order(x, node, a, b):
                return []
            return [ir.Pop(span, a, b)]
        case ast.Truncate(span, size):
            return [ir.Truncate(span, x.expr(size, t.BYTES))]
    raise AssertionError(node)


def _one(x: Context, name: ast.Instance) -> int | None:
    """A single header that must be valid here."""
    instances = members_of(x, name.text)
    if instances is None:
        x.report.add(
            "E0401",
            f"the parser has no header `{name.text}`",
            name.span,
            why="Header names are fixed by the parser.",
            mend=hints.mend_header(name.text, header_names(x)),
        )
        return None
    assert x.shared.parser is not None
    possible = [i for i in instances if x.mask & x.shared.parser.having[i]] or [instances[0]]
    if not check_valid(x, instances, name.text, name.span):
        return None
    if len(possible) > 1:
        x.report.add(
            "E0417",
            f"`{name.text}` may be one of several headers here",
            name.span,
            why="`push` and `pop` need to know which header it is.",
            mend="Test for one of them first, and name that one.",
        )
        return None
    return possible[0]


def _in_wire_order(x: Context, node: ast.Pop, first: int, last: int) -> bool:
    """Does `first` come before `last` on every parse class that gets here? E0420 if not."""
    assert x.shared.parser is not None
    classes = [path for c, path in enumerate(x.shared.parser.classes) if x.mask >> c & 1]
    if all(path.index(first) <= path.index(last) for path in classes):
        return True
    x.report.add(
        "E0420",
        f"`{node.last.text}` comes before `{node.first.text}` in the packet",
        node.span,
        why="`pop X..Y` removes X, Y and all headers between them, in the order in which they arrived.",
        mend=f"Write `pop {node.last.text}..{node.first.text};`.",
    )
    return False
