"""Packets in properties: what became of them, and what was in them (LANGUAGE.md L12.4 to L12.6)."""

from __future__ import annotations

from polysome.ir import program as ir
from polysome.ir import properties as pr
from polysome.ir import types as t
from polysome.semantics import operators, property_state
from polysome.semantics.header_names import flatten, header_names, members_of
from polysome.semantics.property_context import PropertyContext
from polysome.semantics.property_paths import SIDES, TIMES, Path, path_of, root, shown, some_packet
from polysome.syntax import ast
from polysome.syntax.diagnostics import did_you_mean
from polysome.syntax.spans import Span

_WIRE_WORDS = ("len", "payload")


# ---------------------------------------------------------------- members


def member(x: PropertyContext, node: ast.Member) -> ir.Expr | None:
    """An attribute, something on the wire, or a snapshot; None if a value's member is meant."""
    path = path_of(x, node)
    if path is None:
        return None
    if path.packet.type == pr.EMITTED:
        return _emitted(x, path, node)
    if path.word.text in SIDES + TIMES and path.rest is None:
        return _alone(x, path, node)
    if path.word.text in SIDES:
        return header(x, node)
    if path.word.text in TIMES:
        return property_state.member(x, path, node)
    return _attribute(x, path, node.span) if path.rest is None else None


def header(x: PropertyContext, node: ast.Member | ast.Index | ast.Range) -> ir.Expr | None:
    """What follows `p.in` or `p.out`, or for an emitted packet `e`; None if the node is something else."""
    path = path_of(x, node)
    if path is None or path.rest is None or (path.packet.type == pr.PACKET and path.word.text not in SIDES):
        return None
    first = root(path.rest)
    assert first is not None
    side = "out" if path.packet.type == pr.EMITTED else path.word.text
    if first.text not in _wire_names(x):
        if x.within and (never := _never_there(x, path.rest)) is not None:
            return never
        return None if path.packet.type == pr.EMITTED else _no_attribute(x, first, f"`{shown(path)}`", _wire_names(x))
    x.wire.mask = _reach(x, path.rest)
    value = x.wire.expr(path.rest)
    return value if value.type == t.WRONG else pr.Seen(node.span, value.type, path.packet, side, value)


def _never_there(x: PropertyContext, node: ast.Expr) -> ir.Expr | None:
    """A header that is declared, and that this parser never extracts: not valid, its fields undefined (L12.15)."""
    header = node.base if isinstance(node, ast.Member) else node
    decl = x.scope.names.headers.get(header.text) if isinstance(header, ast.Name) else None
    if decl is None:
        return None
    if not isinstance(node, ast.Member):
        return ir.Const(node.span, t.BOOL, False)
    field = next((f for f in decl.fields if f.name.text == node.name.text), None)
    return None if field is None else pr.Undefined(node.span, x.types.resolve(field.type))


def _reach(x: PropertyContext, node: ast.Expr) -> int:
    """The parse classes that have the header (or one of the group) that the chain names: a property needs no test."""
    assert x.shared.parser is not None
    inner: ast.Expr = node
    while isinstance(inner, (ast.Member, ast.Index, ast.Range)):
        text = flatten(inner)
        instances = members_of(x.wire, text) if text is not None else None
        if instances is not None:
            return _having(x.shared.parser, instances)
        inner = inner.base
    return _having(x.shared.parser, members_of(x.wire, inner.text) or ()) if isinstance(inner, ast.Name) else 0


def _having(parser: ir.Parser, instances: tuple[int, ...]) -> int:
    mask = 0
    for i in instances:
        mask |= parser.having[i]
    return mask


def _wire_names(x: PropertyContext) -> list[str]:
    """What can follow `p.in.`: headers, groups, `value`s of the parser, `len`, `payload`."""
    parser = x.shared.parser
    assert parser is not None
    headers = {n.split(".")[0].split("[")[0] for n in header_names(x)}
    return [*sorted(headers), *parser.values, *_WIRE_WORDS]


def _alone(x: PropertyContext, path: Path, node: ast.Member) -> ir.Expr:
    """`p.in`, `p.out`: the whole packet as bytes; E0905 for `p.before`, `p.after`."""
    if path.word.text in SIDES:
        return pr.Seen(node.span, t.BYTE_STRING, path.packet, path.word.text, pr.Frame(node.span, t.BYTE_STRING))
    x.report.add(
        "E0905",
        f"`{shown(path)}` alone is no value",
        node.span,
        why="State as a whole cannot be compared or stored; it is read one item at a time.",
        mend=f"Name the state or config that is meant: `{shown(path)}.…`.",
    )
    return x.wrong(node.span)


# ---------------------------------------------------------------- attributes


def _attribute(x: PropertyContext, path: Path, span: Span) -> ir.Expr:
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
    known = [*pr.PACKET_ATTRIBUTES, "class", "in_port", "len", *parser.values, *SIDES, *TIMES]
    return _no_attribute(x, path.word, "a packet", known)


_FIELDS = "A header has the fields that its `header` declaration lists."
_KNOWN = (
    "A property knows what is on the wire (`in`, `out`), the state around (`before`, `after`) and what became of the "
    "packet (`sent`, `reason`, `left`, …)."
)
_SHOWN = 8  # so many of the known names, where none is like the one written


def _no_attribute(x: PropertyContext, word: ast.Ident | ast.Name, what: str, known: list[str]) -> ir.Expr:
    mend = did_you_mean(word.text, known)
    if word.text in SIDES:
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


def _emitted(x: PropertyContext, path: Path, node: ast.Member) -> ir.Expr | None:
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


def same_bytes(x: PropertyContext, node: ast.Binary) -> ir.Expr | None:
    """`p.in.payload == p.out.payload`: byte strings compare here, whatever their lengths."""
    path = path_of(x, node.left) if node.op in ("==", "!=") else None
    if path is None or path.word.text not in (*SIDES, "payload"):
        return None
    left = x.expr(node.left)
    if not isinstance(left.type, t.ByteString):
        return None
    right = x.expr(node.right)
    if right.type not in (t.BYTE_STRING, t.WRONG):
        operators.no_operator(x, node.span, node.op, (left.type, right.type))
    return ir.Binary(node.span, t.BOOL, node.op, left, right)


def without_packet(x: PropertyContext, node: ast.Expr) -> bool:
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
