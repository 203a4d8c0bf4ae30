"""Names in expressions: locals, the NF's own, packet values, headers, enum members; indexing and slices.

A dotted name is tried as a local or value first, then as a header (LANGUAGE.md L1.6, L4.11, L5.1 to L5.4).
"""

from __future__ import annotations

from polysome.ir import program as ir
from polysome.ir import types as t
from polysome.kinds.state import is_mapping
from polysome.semantics import hints, state_access
from polysome.semantics.allowed import may
from polysome.semantics.context import Context
from polysome.semantics.functions import call_fn
from polysome.semantics.header_names import (
    field_read,
    field_type,
    flatten,
    header_names,
    is_first_part,
    is_prefix,
    members_of,
    validity,
)
from polysome.semantics.scope import NfScope
from polysome.semantics.typed import plain
from polysome.syntax import ast
from polysome.syntax.diagnostics import did_you_mean, listed, one_of
from polysome.syntax.spans import Span

PACKET_WORDS = ("len", "in_port", "payload")
_LONGEST_SLICE = 16


# ---------------------------------------------------------------- names and members


def resolve(x: Context, node: ast.Name | ast.Member) -> ir.Expr:
    """A name, or a member of something."""
    if isinstance(node, ast.Name):
        found = _value(x, node)
        return found if found is not None else _unknown(x, node)
    header = _header(x, node)
    if header is not None:
        return header
    if isinstance(node.base, ast.Name) and value_exists(x, node.base.text) is False:
        enum = _enum_member(x, node)
        if enum is not None:
            return enum
    block = block_of(x, node.base)
    if block is not None:
        return _block_member(x, block, node)
    special = state_access.member(x, node) or _payload_length(x, node)
    if special is not None:
        return special
    return _member(x, node, x.typed(node.base, None))


def value_exists(x: Context, name: str) -> bool:
    return any(name in scope for scope in x.locals) or name in x.scope.declared or _is_packet_value(x, name)


def _is_packet_value(x: Context, name: str) -> bool:
    parser = x.shared.parser
    return name in PACKET_WORDS or bool(parser and name in parser.values)


def _value(x: Context, node: ast.Name) -> ir.Expr | None:
    """What a bare name means as a value, or None."""
    name, span = node.text, node.span
    for scope in reversed(x.locals):
        if name in scope:
            return ir.Local(span, scope[name].type, scope[name].slot, name)
    if x.own is not None and (i := x.own.index(name)) is not None:
        return ir.HeaderField(span, x.own.fields[i].type, -1, i)
    found = _nf_value(x, x.scope, name, span)
    if found is not None:
        return found
    if name == "now":
        return ir.Now(span, t.TIME) if may(x, "now", span, name) else x.wrong(span)
    if _is_packet_value(x, name):
        return _packet_value(x, name, span)
    if name == "ports" and x.shared.root is not None:
        return ir.Const(span, t.PORT_SET, frozenset(x.shared.root.ports.values()))
    return validity(x, name, span)


def _nf_value(x: Context, scope: NfScope, name: str, span: Span) -> ir.Expr | None:
    """A port, param, config item, scalar state or const of `scope`."""
    if name in scope.ports:
        return ir.Const(span, t.PORT, scope.ports[name])
    if name in scope.params:
        type, value, _ = scope.params[name]
        return x.wrong(span) if value is None else ir.Const(span, type, value)
    if name in scope.config:
        if not may(x, "config", span, name):
            return x.wrong(span)
        return ir.Config(span, scope.config[name].type, scope.config[name].name)
    if name in scope.state or name in scope.indexes:
        return state_access.bare(x, scope, name, span)
    if name in scope.names.values:
        decl = scope.names.values[name]
        if isinstance(decl, ast.ConstDecl):
            return _const(x, scope, decl, span)
    return None


def _const(x: Context, scope: NfScope, decl: ast.ConstDecl, span: Span) -> ir.Expr:
    """The value of a `const`; E0324 if it needs itself."""
    name = scope.prefix + decl.name.text
    if name in x.shared.circular:
        return x.wrong(span)
    if name in x.shared.open_consts:
        x.shared.circular.update(x.shared.open_consts[x.shared.open_consts.index(name) :])
        x.report.add(
            "E0324",
            f"const `{decl.name.text}` needs its own value",
            decl.name.span,
            why="There is no recursion.",
            mend="Give it a value that does not come back to it.",
        )
        return x.wrong(span)
    x.shared.open_consts.append(name)
    own = x.apart(scope)  # not `x`: its locals are none of the const's business
    kind = own.types.resolve(decl.type)
    value = own.constant(decl.value, kind)
    x.shared.open_consts.pop()
    return x.wrong(span) if value is None else ir.Const(span, kind, value)


def _packet_value(x: Context, name: str, span: Span) -> ir.Expr:
    if not may(x, "packet", span, name):
        return x.wrong(span)
    if name == "len":
        return ir.PacketLen(span, t.BYTES)
    if name == "in_port":
        return ir.InPort(span, t.PORT)
    if name == "payload":
        return ir.PayloadBytes(span, t.BYTE_STRING, 0, None)
    assert x.shared.parser is not None
    value = x.shared.parser.values[name]
    return ir.PacketValue(span, value.value.type, name, "class" in x.allowed)


def _unknown(x: Context, node: ast.Name) -> ir.Expr:
    name = node.text
    if broken(x, name):
        return x.wrong(node.span)
    why = "Names are looked for among locals, the NF's declarations, packet values and headers."
    if name in x.scope.names.values:
        mend, message = f"Call it: `{name}(…)`.", f"`{name}` is a function"
    elif name in x.scope.actions:
        mend, message = f"Call it: `{name}(…);`.", f"`{name}` is an action"
    elif name in x.scope.blocks:
        mend, message = f"Say what of it: `{name}.…`.", f"`{name}` is a block"
    elif name in x.scope.declared:
        message = f"the value of `{name}` is not known here"
        why = "Params and defaults use literals, `const`s and other params, not config or state, and not themselves."
        mend = "Use a `const` or a param in its place."
    elif name in x.scope.names.types:
        message, mend = f"`{name}` is a type, not a value", hints.a_value_of(x.scope.names.types[name])
    elif is_prefix(x, name):
        first = [h for h in header_names(x) if h.startswith((name + ".", name + "["))]
        message, mend = f"`{name}` alone is not a header", f"Say which: {', '.join(f'`{h}`' for h in first[:3])}."
    else:
        message = f"there is no `{name}` here"
        mend = hints.FOREIGN.get(name) or did_you_mean(name, known_values(x)) or hints.DECLARE
    if message not in x.shared.unknown:  # one cause, however often the name is used
        x.report.add("E0213", message, node.span, why=why, mend=mend)
        x.shared.unknown.add(message)
    return x.wrong(node.span)


def broken(x: Context, name: str) -> bool:
    """Is this a name of the NF whose declaration could not be used? What is wrong there was reported."""
    scope = x.scope
    if any(name in local for local in x.locals):
        return False
    known = (scope.ports, scope.params, scope.config, scope.state, scope.indexes, scope.actions, scope.blocks)
    return name in scope.declared and not any(name in space for space in known) and bool(x.report.errors)


def known_values(x: Context) -> list[str]:
    """Everything a bare name could mean here."""
    parser = x.shared.parser
    names = [n for scope in x.locals for n in scope] + x.scope.value_names() + ["now", *PACKET_WORDS]
    if parser is not None:
        names += [*parser.values, *parser.groups, *(i.name.split(".")[0].split("[")[0] for i in parser.instances)]
    return names


# ---------------------------------------------------------------- headers


def _header(x: Context, node: ast.Member) -> ir.Expr | None:
    """`header.field`, or a dotted header name as a condition; None if it is neither."""
    text = flatten(node)
    if text is None:
        return None
    root = text.split(".")[0].split("[")[0]
    if any(root in scope for scope in x.locals) or (root in x.scope.declared and not is_first_part(x, root)):
        return None
    base = flatten(node.base)
    assert base is not None
    instances = members_of(x, base)
    if instances is not None:
        whole = members_of(x, text)
        if whole is not None and all(field_type(x, i, node.name.text) is None for i in instances):
            return validity(x, text, node.span)
        return field_read(x, instances, base, node.name, node.span)
    if members_of(x, text) is not None:
        return validity(x, text, node.span)
    if is_prefix(x, base) and not value_exists(x, root):
        x.report.add(
            "E0401",
            f"the parser has no header `{text}`" if not is_prefix(x, text) else f"`{text}` alone is not a header",
            node.span,
            why="Header names are fixed by the parser.",
            mend=hints.mend_header(text, header_names(x)),
        )
        return x.wrong(node.span)
    return None


# ---------------------------------------------------------------- members of values


def _enum_member(x: Context, node: ast.Member) -> ir.Expr | None:
    assert isinstance(node.base, ast.Name)
    name = node.base.text
    if name == "End":
        type: t.Type = t.END
    elif name in x.scope.names.types and isinstance(x.scope.names.types[name], ast.EnumDecl):
        type = x.types.named(name)
    else:
        return None
    if not isinstance(type, t.Enum):
        return x.wrong(node.span)
    number = type.number(node.name.text)
    if number is None:
        x.report.add(
            "E0214",
            f"enum `{name}` has no member `{node.name.text}`",
            node.name.span,
            why="Only declared members exist.",
            mend=one_of(node.name.text, [m for m, _ in type.members]),
        )
        return x.wrong(node.span)
    return ir.Const(node.span, type, number)


def block_of(x: Context, node: ast.Expr) -> NfScope | None:
    if isinstance(node, ast.Name) and not any(node.text in scope for scope in x.locals):
        return x.scope.blocks.get(node.text)
    return None


def _block_member(x: Context, block: NfScope, node: ast.Member) -> ir.Expr:
    found = _nf_value(x, block, node.name.text, node.span)
    if found is not None:
        return found
    name = node.name.text
    action = name in block.actions
    x.report.add(
        "E0215",
        f"`{name}` is an action of the block, not a value" if action else f"the block has no `{name}`",
        node.name.span,
        why="A block offers its state, params, config and actions.",
        mend=f"Call it: `{flatten(node)}(…);`."
        if action
        else did_you_mean(name, block.declared) or f"It has {listed(sorted(block.declared))}.",
    )
    return x.wrong(node.span)


def _payload_length(x: Context, node: ast.Member) -> ir.Expr | None:
    """`payload.len`, and nothing else."""
    if node.name.text != "len" or not isinstance(node.base, ast.Name) or node.base.text != "payload":
        return None
    if any("payload" in scope for scope in x.locals):
        return None
    return ir.PayloadLen(node.span, t.BYTES) if may(x, "packet", node.span, "payload.len") else x.wrong(node.span)


def _length(node: ast.Member, base: ir.Expr) -> ir.Expr | None:
    """`.len` of options and config tables."""
    if node.name.text != "len":
        return None
    if isinstance(base, ir.RestBytes):
        return ir.RestBytes(node.span, t.BYTES, base.instance, base.field, None, None)
    if isinstance(base.type, (t.ListOf, t.SetOf, t.Table)):
        return ir.Length(node.span, t.LITERAL, base)
    return None


def _member(x: Context, node: ast.Member, base: ir.Expr) -> ir.Expr:
    """A member of a struct, tuple, row or index entry; or a pure function of one argument."""
    length = _length(node, base)
    if length is not None:
        return length
    base = plain(base)
    type, name = base.type, node.name.text
    if type == t.WRONG:
        return base
    if isinstance(type, t.Struct) and (i := type.index(name)) is not None:
        return ir.Get(node.span, type.fields[i][1], base, i)
    if isinstance(type, t.Tuple) and name.isdigit() and int(name) < len(type.items):
        return ir.Get(node.span, type.items[int(name)], base, int(name))
    if isinstance(type, t.Entry) and name in ("key", "value"):
        return ir.Get(node.span, type.key if name == "key" else type.value, base, 0 if name == "key" else 1)
    decl = x.scope.names.values.get(name)
    if isinstance(decl, ast.FnDecl) and len(decl.params) == 1:
        return call_fn(x, decl, [ast.Argument(node.base.span, None, node.base)], node.span)
    x.report.add(
        "E0308",
        f"{type} has no member `{name}`",
        node.name.span,
        why="Only declared members can be read.",
        mend=hints.mend_member(type, name),
    )
    return x.wrong(node.span)


# ---------------------------------------------------------------- indexing and slices


def index(x: Context, node: ast.Index | ast.Range) -> ir.Expr:
    """`base[i]`, `base[a..b]`."""
    if isinstance(node, ast.Range):
        return _slice(x, node)
    text = flatten(node)
    if text is not None and members_of(x, text) is not None:
        found = validity(x, text, node.span)
        assert found is not None
        return found
    found = state_access.index(x, node)
    if found is not None:
        return found
    base = x.typed(node.base, None)
    if isinstance(base.type, t.ListOf):
        row = t.Ref(base.name, base.type.item) if isinstance(base, ir.Config) else base.type.item
        return ir.ListIndex(node.span, row, base, x.integer(node.index))
    if isinstance(base.type, t.Table) and base.type.hashed:
        assert isinstance(base, ir.Config)
        return ir.ListIndex(node.span, t.Ref(base.name, base.type.value), base, x.expr(node.index, t.U64))
    if isinstance(base.type, t.Table):
        return ir.Const(node.span, t.Optional(base.type.value), None)
    if base.type != t.WRONG:
        x.report.add(
            "E0317",
            f"{base.type} cannot be indexed",
            node.span,
            why="Lists, arrays, maps and tables have an index; integers are sliced with `x[high:low]`.",
            mend=hints.mend_index(base.type),
        )
    return x.wrong(node.span)


def _slice(x: Context, node: ast.Range) -> ir.Expr:
    """`payload[a..b]`, `ipv4.options[a..b]`: up to 16 bytes are an integer, more a byte string for `emit`."""
    base = x.typed(node.base, None)
    low, high = x.constant(node.low, t.LITERAL), x.constant(node.high, t.LITERAL)
    if low is None or high is None or base.type == t.WRONG:
        return x.wrong(node.span)
    if not isinstance(base, (ir.PayloadBytes, ir.RestBytes)) or high <= low:
        x.report.add(
            "E0318",
            "this is no slice of bytes",
            node.span,
            why="`payload[a..b]` and a header's `rest` field have bytes a to b, b excluded and above a.",
            mend=hints.mend_slice(base.type, low, high),
        )
        return x.wrong(node.span)
    type = t.Bits(8 * (high - low)) if high - low <= _LONGEST_SLICE else t.BYTE_STRING
    if isinstance(base, ir.PayloadBytes):
        return ir.PayloadBytes(node.span, type, low, high)
    return ir.RestBytes(node.span, type, base.instance, base.field, low, high)


def contains(x: Context, node: ast.Binary) -> ir.Expr | None:
    """`k in state`, `k in config map`; None if the right side is something else."""
    found = state_access.contains(x, node)
    if found is not None:
        return found
    decl = x.scope.config.get(node.right.text) if isinstance(node.right, ast.Name) else None
    if decl is None or not is_mapping(decl.type):
        return None
    key = x.expr(node.left, decl.type.key)
    return ir.InSet(node.span, t.BOOL, key, ir.Config(node.right.span, decl.type, decl.name))
