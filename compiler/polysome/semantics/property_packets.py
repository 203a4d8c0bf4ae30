"""Packets in properties: what became of them, and what was in them (LANGUAGE.md L12.4 to L12.6)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from polysome.ir import program as ir
from polysome.ir import properties as pr
from polysome.ir import types as t
from polysome.semantics import names, operators
from polysome.syntax import ast
from polysome.syntax.diagnostics import did_you_mean
from polysome.syntax.spans import Span

if TYPE_CHECKING:
    from polysome.semantics.property_expressions import PropertyExpressions

_WIRE_WORDS = ("len", "payload")
_SIDES = ("in", "out")
_TIMES = ("before", "after")


@dataclass(frozen=True)
class Path:
    """`packet.word.rest`; `rest` reads as if it began there. An emitted packet has no sides: `rest` has its word."""

    packet: ir.Expr
    word: ast.Ident
    rest: ast.Expr | None


def path_of(x: PropertyExpressions, node: ast.Expr) -> Path | None:
    """The node taken apart, if it is a chain that begins with a packet."""
    if not isinstance(node, (ast.Member, ast.Index, ast.Range)):
        return None
    packet = packet_of(x, node.base) if isinstance(node, ast.Member) else None
    if packet is not None and isinstance(node, ast.Member):
        first = ast.Name(node.name.span, node.name.text) if packet.type == pr.EMITTED else None
        return Path(packet, node.name, first)
    inner = path_of(x, node.base)
    if inner is None:
        return None
    if inner.rest is not None:
        return replace(inner, rest=replace(node, base=inner.rest))
    return replace(inner, rest=ast.Name(node.name.span, node.name.text)) if isinstance(node, ast.Member) else None


def packet_of(x: PropertyExpressions, node: ast.Expr) -> ir.Expr | None:
    """The packet that the node names: `p`, or `e.cause`."""
    if isinstance(node, ast.Name):
        for scope in reversed(x.locals):
            if node.text in scope:
                local = scope[node.text]
                return (
                    ir.Local(node.span, local.type, local.slot, node.text)
                    if isinstance(local.type, pr.Packet)
                    else None
                )
    if isinstance(node, ast.Member) and node.name.text == "cause":
        base = packet_of(x, node.base)
        if base is not None and base.type == pr.EMITTED:
            return pr.Attribute(node.span, pr.PACKET, base, "cause")
    return None


def root(node: ast.Expr) -> ast.Name | None:
    """The name that a chain of members, indexes and slices begins with."""
    while isinstance(node, (ast.Member, ast.Index, ast.Range)):
        node = node.base
    return node if isinstance(node, ast.Name) else None


# ---------------------------------------------------------------- members


def member(x: PropertyExpressions, node: ast.Member) -> ir.Expr | None:
    """An attribute, something on the wire, or a snapshot; None if a value's member is meant."""
    from polysome.semantics import property_state

    path = path_of(x, node)
    if path is None:
        return None
    if path.packet.type == pr.EMITTED:
        return _emitted(x, path, node)
    if path.word.text in _SIDES + _TIMES and path.rest is None:
        return _alone(x, path, node)
    if path.word.text in _SIDES:
        return header(x, node)
    if path.word.text in _TIMES:
        return property_state.member(x, path, node)
    return _attribute(x, path, node.span) if path.rest is None else None


def header(x: PropertyExpressions, node: ast.Member | ast.Index | ast.Range) -> ir.Expr | None:
    """What follows `p.in` or `p.out`, or for an emitted packet `e`; None if the node is something else."""
    path = path_of(x, node)
    if path is None or path.rest is None or (path.packet.type == pr.PACKET and path.word.text not in _SIDES):
        return None
    first = root(path.rest)
    assert first is not None
    side = "out" if path.packet.type == pr.EMITTED else path.word.text
    if first.text not in _wire_names(x):
        return None if path.packet.type == pr.EMITTED else _no_attribute(x, first, f"`{_shown(path)}`", _wire_names(x))
    x.wire.mask = _reach(x, path.rest)
    value = x.wire.expr(path.rest)
    return value if value.type == t.WRONG else pr.Seen(node.span, value.type, path.packet, side, value)


def _reach(x: PropertyExpressions, node: ast.Expr) -> int:
    """The parse classes that have the header (or one of the group) that the chain names: a property needs no test."""
    assert x.shared.parser is not None
    inner: ast.Expr = node
    while isinstance(inner, (ast.Member, ast.Index, ast.Range)):
        text = names.flatten(inner)
        instances = names.members_of(x.wire, text) if text is not None else None
        if instances is not None:
            return _having(x.shared.parser, instances)
        inner = inner.base
    return _having(x.shared.parser, names.members_of(x.wire, inner.text) or ()) if isinstance(inner, ast.Name) else 0


def _having(parser: ir.Parser, instances: tuple[int, ...]) -> int:
    mask = 0
    for i in instances:
        mask |= parser.having[i]
    return mask


def _wire_names(x: PropertyExpressions) -> list[str]:
    """What can follow `p.in.`: headers, groups, `value`s of the parser, `len`, `payload`."""
    parser = x.shared.parser
    assert parser is not None
    headers = {n.split(".")[0].split("[")[0] for n in names.header_names(x)}
    return [*sorted(headers), *parser.values, *_WIRE_WORDS]


def _alone(x: PropertyExpressions, path: Path, node: ast.Member) -> ir.Expr:
    """`p.in`, `p.out`: the whole packet as bytes; E0905 for `p.before`, `p.after`."""
    if path.word.text in _SIDES:
        return pr.Seen(node.span, t.BYTE_STRING, path.packet, path.word.text, pr.Frame(node.span, t.BYTE_STRING))
    x.report.add(
        "E0905",
        f"`{_shown(path)}` alone is no value",
        node.span,
        why="State as a whole cannot be compared or stored; it is read one item at a time.",
        mend=f"Name the state or config that is meant: `{_shown(path)}.…`.",
    )
    return x.wrong(node.span)


def _shown(path: Path) -> str:
    base = path.packet
    name = base.name if isinstance(base, ir.Local) else "e.cause"
    return f"{name}.{path.word.text}"


# ---------------------------------------------------------------- attributes


def _attribute(x: PropertyExpressions, path: Path, span: Span) -> ir.Expr:
    name, parser = path.word.text, x.shared.parser
    assert parser is not None
    if name in pr.PACKET_ATTRIBUTES:
        return pr.Attribute(span, pr.PACKET_ATTRIBUTES[name], path.packet, name)
    if name == "class":
        return pr.Attribute(span, x.shared.order_class, path.packet, name)
    if name == "in_port":
        return pr.Seen(span, t.PORT, path.packet, "in", ir.InPort(span, t.PORT))
    if name == "len":
        return pr.Seen(span, t.BYTES, path.packet, "in", ir.PacketLen(span, t.BYTES))
    if name in parser.values:
        value = ir.PacketValue(span, parser.values[name].value.type, name, False)
        return pr.Seen(span, value.type, path.packet, "in", value)
    known = [*pr.PACKET_ATTRIBUTES, "class", "in_port", "len", *parser.values, *_SIDES, *_TIMES]
    return _no_attribute(x, path.word, "a packet", known)


_FIELDS = "A header has the fields that its `header` declaration lists."
_KNOWN = (
    "A property knows what is on the wire (`in`, `out`), the state around (`before`, `after`) and what became of the "
    "packet (`sent`, `reason`, `left`, …)."
)
_SHOWN = 8  # so many of the known names, where none is like the one written


def _no_attribute(x: PropertyExpressions, word: ast.Ident | ast.Name, what: str, known: list[str]) -> ir.Expr:
    mend = did_you_mean(word.text, known)
    if word.text in _SIDES:
        mend = "What an NF emits, it only sends: write for example `e.ipv4.dst`."
    elif word.text in _wire_names(x) and word.text not in known:
        mend = f"Say which: `in.{word.text}` as it arrived, or `out.{word.text}` as it left."
    elif word.text in pr.PACKET_ATTRIBUTES:
        mend = f"`{word.text}` is said of the packet itself: `p.{word.text}`."
    elif not mend:
        mend = f"Known here are for example {', '.join(f'`{k}`' for k in known[:_SHOWN])}."
    x.report.add(
        "E0901",
        f"{what} has no `{word.text}`",
        word.span,
        why=_FIELDS if what.startswith("header") else _KNOWN,
        mend=mend,
    )
    return x.wrong(word.span)


def _emitted(x: PropertyExpressions, path: Path, node: ast.Member) -> ir.Expr | None:
    """`e.at`, `e.port`, `e.cause`; a header as `emit` wrote it; else what the parser sees in it."""
    word, rest = path.word.text, path.rest
    if word in pr.EMITTED_ATTRIBUTES:
        type = pr.EMITTED_ATTRIBUTES[word]
        return pr.Attribute(node.span, type, path.packet, word) if isinstance(rest, ast.Name) else None
    written = x.shared.headers.get(word)
    if written is not None and isinstance(rest, ast.Name):
        return pr.Written(node.span, t.BOOL, path.packet, word, None)
    if written is not None and isinstance(rest, ast.Member) and isinstance(rest.base, ast.Name):
        index = written.index(rest.name.text)
        if index is not None:
            return pr.Written(node.span, written.fields[index].type, path.packet, word, index)
        return _no_attribute(x, rest.name, f"header `{word}`", [f.name for f in written.fields])
    found = header(x, node)
    if found is not None or not isinstance(rest, ast.Name):
        return found
    known = [*pr.EMITTED_ATTRIBUTES, *x.shared.headers, *_wire_names(x)]
    return _no_attribute(x, path.word, "an emitted packet", known)


# ---------------------------------------------------------------- bytes, and words that need a packet


def same_bytes(x: PropertyExpressions, node: ast.Binary) -> ir.Expr | None:
    """`p.in.payload == p.out.payload`: byte strings compare here, whatever their lengths."""
    path = path_of(x, node.left) if node.op in ("==", "!=") else None
    if path is None or path.word.text not in (*_SIDES, "payload"):
        return None
    left = x.expr(node.left)
    if not isinstance(left.type, t.ByteString):
        return None
    right = x.expr(node.right)
    if right.type not in (t.BYTE_STRING, t.WRONG):
        operators._no_operator(x, node.span, node.op, (left.type, right.type))
    return ir.Binary(node.span, t.BOOL, node.op, left, right)


def without_packet(x: PropertyExpressions, node: ast.Expr) -> bool:
    """Does the node name something of a packet, but no packet? E0902."""
    first = root(node)
    if first is None or any(first.text in scope for scope in x.locals) or first.text in x.scope.declared:
        return False
    if first.text in x.scope.names.values or first.text in x.scope.names.types:
        return False
    if first.text == "now":
        mend = "Write `{0}.at`."
    elif first.text == "in_port" or (x.shared.parser is not None and first.text in x.shared.parser.values):
        mend = f"Write `{{0}}.{first.text}`."
    elif first.text in _wire_names(x):
        mend = f"Write `{{0}}.in.{first.text}` as it arrived, or `{{0}}.out.{first.text}` as it left."
    else:
        return False
    x.report.add(
        "E0902",
        f"`{first.text}` of which packet?",
        node.span,
        why="A handler has one packet, a property as many as it names.",
        mend=mend.format(some_packet(x)),
    )
    return True


def some_packet(x: PropertyExpressions) -> str:
    """The innermost name of a packet, for examples."""
    for scope in reversed(x.locals):
        for name, local in scope.items():
            if local.type == pr.PACKET:
                return name
    return "p"
