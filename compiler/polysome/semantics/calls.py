"""Calls: builtins, pure functions, methods of state (LANGUAGE.md L3.11, L3.15, L4.10, L9.7)."""

from __future__ import annotations

from polysome.ir import program as ir
from polysome.ir import types as t
from polysome.semantics import hints, names, operators, state_access
from polysome.semantics.allowed import may
from polysome.semantics.arguments import arity, values_alone
from polysome.semantics.context import Context
from polysome.semantics.functions import call_fn
from polysome.semantics.header_names import check_valid, first_name, flatten, header_names, members_of
from polysome.semantics.property_usage import USAGE
from polysome.semantics.scope import NfScope
from polysome.semantics.typed import plain
from polysome.syntax import ast
from polysome.syntax.diagnostics import did_you_mean


def call(x: Context, node: ast.Call) -> ir.Expr:
    """A builtin, a pure function, or a method of state."""
    root = first_name(node.callee)
    if root is not None and names.broken(x, root):
        return x.wrong(node.span)
    if isinstance(node.callee, ast.Member):
        found = state_access.method(x, node)
        if found is not None:
            return found
        decl = x.scope.names.values.get(node.callee.name.text)
        if isinstance(decl, ast.FnDecl):
            return call_fn(
                x, decl, [ast.Argument(node.callee.base.span, None, node.callee.base), *node.args], node.span
            )
    if isinstance(node.callee, ast.Name):
        name = node.callee.text
        builtin = BUILTINS.get(name)
        if builtin is not None:
            return builtin(x, node) if values_alone(x, name, node.args) else x.wrong(node.span)
        decl = x.scope.names.values.get(name)
        if isinstance(decl, ast.FnDecl):
            return call_fn(x, decl, list(node.args), node.span)
        if name in x.scope.actions:
            x.report.add(
                "E0319",
                f"action `{name}` has no value",
                node.span,
                why="Actions are statements: they may change state and end in a verdict.",
                mend=f"Call it as a statement: `{name}(…);`.",
            )
            return x.wrong(node.span)
        if name in USAGE:
            x.report.add(
                "E0306",
                f"`{name}` belongs into properties",
                node.span,
                why="A handler sees one packet; a property sees the whole trace.",
                mend="Move it into a `property`, or use state.",
            )
            return x.wrong(node.span)
    _no_function(x, node)
    for a in node.args:
        x.typed(a.value, None)
    return x.wrong(node.span)


def _no_function(x: Context, node: ast.Call) -> None:
    shown = flatten(node.callee) or "this"
    fns = [n for n, d in x.scope.names.values.items() if isinstance(d, ast.FnDecl)]
    base = flatten(node.callee.base) if isinstance(node.callee, ast.Member) else None
    block = x.scope.blocks.get(base) if base is not None else None
    if base is not None and members_of(x, base) is not None:
        mend = f"A header's name alone tests whether it is there: `{base}`; its fields are `{base}.…`."
    elif shown in x.scope.blocks:
        actions = x.scope.blocks[shown].actions
        mend = f"Say which action: {', '.join(f'`{shown}.{a}(…)`' for a in list(actions)[:3])}."
    elif base is not None and (item := config_item(x, base)) is not None:
        mend = hints.mend_config_method(shown.rpartition(".")[2], base, item.type)
    elif block is not None:
        mend = did_you_mean(shown.rpartition(".")[2], block.actions) or "The block has no action of that name."
    else:
        mend = did_you_mean(shown, [*BUILTINS, *x.scope.actions, *fns])
        mend = mend if mend.startswith("Did") else f"Declare it: `fn {shown.rpartition('.')[2]}(…) -> … {{ … }}`."
    x.report.add(
        "E0320",
        f"there is no function `{shown}`",
        node.callee.span,
        why="Functions are `fn`s, builtins (`hash`, `min`, `max`, `packet_from`) and the methods of state.",
        mend=mend,
    )


def action_of(x: Context, node: ast.Call) -> tuple[NfScope, ast.ActionDecl] | None:
    """The action that is called, with the scope where it was declared; None if it is none."""
    callee = node.callee
    if isinstance(callee, ast.Name) and callee.text in x.scope.actions:
        return x.scope, x.scope.actions[callee.text]
    if isinstance(callee, ast.Member) and isinstance(callee.base, ast.Name):
        block = x.scope.blocks.get(callee.base.text)
        if block is not None and callee.name.text in block.actions:
            return block, block.actions[callee.name.text]
    return None


def config_item(x: Context, name: str) -> ir.ConfigDecl | None:
    """The config of that name, unless a local has it."""
    return None if any(name in scope for scope in x.locals) else x.scope.config.get(name)


def _hash(x: Context, node: ast.Call) -> ir.Expr:
    args = tuple(x.value(a.value) for a in node.args)
    for a in args:
        if a.type != t.WRONG and t.width(a.type) is None and not isinstance(a.type, (t.Ref, t.Prefix)):
            x.report.add(
                "E0322",
                f"{a.type} cannot be hashed",
                a.span,
                why="`hash` works on the canonical bytes of values of fixed size.",
                mend="Hash the parts that matter; of bytes, a slice such as `payload[0..16]`.",
            )
    return ir.Hash(node.span, t.U64, args)


def _minmax(x: Context, node: ast.Call) -> ir.Expr:
    assert isinstance(node.callee, ast.Name)
    if not arity(x, node.callee.text, len(node.args), ("a", "b"), node.span):
        return x.wrong(node.span)
    left, right = (plain(x.typed(a.value, None)) for a in node.args)
    left, right = operators.unify(x, left, right)
    if isinstance(left.type, t.Enum) and left.type.width is not None:
        left, right = (x.coerce(e, t.Bits(left.type.width)) for e in (left, right))
    if left.type != right.type:
        right = x.coerce(right, left.type)
    if not isinstance(left.type, (t.Bits, t.Literal, t.Quantity, t.Address, t.Wrong)):
        operators.no_operator(x, node.span, node.callee.text, (left.type, right.type))
        return x.wrong(node.span)
    return ir.MinMax(node.span, left.type, node.callee.text, left, right)


def _packet_from(x: Context, node: ast.Call) -> ir.Expr:
    if not arity(x, "packet_from", len(node.args), ("h", "N"), node.span):
        return x.wrong(node.span)
    text = flatten(node.args[0].value) or ""
    instances = members_of(x, text)
    limit = x.typed(node.args[1].value, None)
    size = x.constant(node.args[1].value, t.BYTES if limit.type == t.BYTES else t.LITERAL)
    if size is None:
        return x.wrong(node.span)
    if instances is None or len(instances) != 1:
        x.report.add(
            "E0401",
            f"the parser has no header `{text}`",
            node.args[0].span,
            why="`packet_from(h, N)` is the packet from header h on, at most N bytes.",
            mend=hints.mend_header(text, header_names(x)),
        )
        return x.wrong(node.span)
    if not may(x, "packet", node.span, "packet_from") or not check_valid(x, instances, text, node.span):
        return x.wrong(node.span)
    return ir.PacketFrom(node.span, t.BYTE_STRING, instances[0], size)


def _peek(x: Context, node: ast.Call) -> ir.Expr:
    bits = x.constant(node.args[0].value, t.LITERAL) if len(node.args) == 1 else None
    if bits is None or "select" not in x.allowed or not 1 <= bits <= 128:
        x.report.add(
            "E0323",
            "`peek(bits)` stands only in a `select` of a parser, with 1 to 128 bits",
            node.span,
            why="It looks at the bits that no header has taken yet.",
            mend="Elsewhere, read `payload[a..b]`.",
        )
        return x.wrong(node.span)
    return ir.Peek(node.span, t.Bits(bits), bits)


BUILTINS = {"hash": _hash, "min": _minmax, "max": _minmax, "packet_from": _packet_from, "peek": _peek}
