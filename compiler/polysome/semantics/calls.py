"""Calls: builtins, pure functions, methods of state (LANGUAGE.md L3.11, L3.15, L4.10, L9.7)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from polysome.ir import program as ir
from polysome.ir import types as t
from polysome.semantics import hints, names, state_access
from polysome.syntax import ast
from polysome.syntax.diagnostics import did_you_mean
from polysome.syntax.spans import Span

if TYPE_CHECKING:
    from polysome.semantics.expressions import Expressions


def call(x: Expressions, node: ast.Call) -> ir.Expr:
    """A builtin, a pure function, or a method of state."""
    root = names.root(node.callee)
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
            return builtin(x, node) if plain(x, name, node.args) else x.wrong(node.span)
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
        from polysome.semantics.property_builtins import FUNCTIONS

        if name in FUNCTIONS:
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
        x._expr(a.value, None)
    return x.wrong(node.span)


def _no_function(x: Expressions, node: ast.Call) -> None:
    shown = names.flatten(node.callee) or "this"
    fns = [n for n, d in x.scope.names.values.items() if isinstance(d, ast.FnDecl)]
    base = names.flatten(node.callee.base) if isinstance(node.callee, ast.Member) else None
    block = x.scope.blocks.get(base) if base is not None else None
    if base is not None and names.members_of(x, base) is not None:
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


def config_item(x: Expressions, name: str) -> ir.ConfigDecl | None:
    """The config of that name, unless a local has it."""
    return None if any(name in scope for scope in x.locals) else x.scope.config.get(name)


def plain(x: Expressions, name: str, args: Iterable[ast.Argument]) -> bool:
    """Only values: no names, ranges, conditions, which properties alone know. E0321 if not."""
    odd = next((a for a in args if any(p is not None for p in (a.name, a.end, a.where, a.result))), None)
    if odd is not None:
        x.report.add(
            "E0321",
            f"an argument of `{name}` is a value alone",
            odd.span,
            why="Names, ranges and `where` belong to token buckets and to the functions of properties.",
            mend="Give the value alone.",
        )
    return odd is None


def call_fn(x: Expressions, decl: ast.FnDecl, args: list[ast.Argument], span: Span) -> ir.Expr:
    from polysome.semantics.functions import function

    name = function(x, decl, span)
    if name is None or not plain(x, decl.name.text, args):
        return x.wrong(span)
    params, result = x.shared.fn_types[name]
    if not arity(x, decl.name.text, len(args), [p.name.text for p in decl.params], span, decl.name.span):
        return x.wrong(span)
    return ir.FnCall(span, result, name, tuple(x.expr(a.value, p) for a, p in zip(args, params, strict=True)))


def arity(
    x: Expressions,
    name: str,
    given: int,
    params: Sequence[str],
    span: Span,
    decl: Span | None = None,
    optional: int = 0,
) -> bool:
    """E0321 if the number of arguments is wrong; the last `optional` of `params` may be left out."""
    wanted = len(params)
    if wanted - optional <= given <= wanted:
        return True
    least = f"{wanted - optional} or " if optional else ""
    x.report.add(
        "E0321",
        f"`{name}` takes {least}{wanted or 'no'} argument{'s' if wanted != 1 else ''}, not {given}",
        span,
        also=[(decl, "declared here")] if decl is not None else [],
        why="Every argument must be given, in order.",
        mend=f"Write `{name}({', '.join(params)})`.",
    )
    return False


def _hash(x: Expressions, node: ast.Call) -> ir.Expr:
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


def _minmax(x: Expressions, node: ast.Call) -> ir.Expr:
    from polysome.semantics import operators

    assert isinstance(node.callee, ast.Name)
    if not arity(x, node.callee.text, len(node.args), ("a", "b"), node.span):
        return x.wrong(node.span)
    left, right = (operators._plain(x._expr(a.value, None)) for a in node.args)
    left, right = operators.unify(x, left, right)
    if isinstance(left.type, t.Enum) and left.type.width is not None:
        left, right = (x.coerce(e, t.Bits(left.type.width)) for e in (left, right))
    if left.type != right.type:
        right = x.coerce(right, left.type)
    if not isinstance(left.type, (t.Bits, t.Literal, t.Quantity, t.Address, t.Wrong)):
        operators._no_operator(x, node.span, node.callee.text, (left.type, right.type))
        return x.wrong(node.span)
    return ir.MinMax(node.span, left.type, node.callee.text, left, right)


def _packet_from(x: Expressions, node: ast.Call) -> ir.Expr:
    if not arity(x, "packet_from", len(node.args), ("h", "N"), node.span):
        return x.wrong(node.span)
    text = names.flatten(node.args[0].value) or ""
    instances = names.members_of(x, text)
    limit = x._expr(node.args[1].value, None)
    size = x.constant(node.args[1].value, t.BYTES if limit.type == t.BYTES else t.LITERAL)
    if size is None:
        return x.wrong(node.span)
    if instances is None or len(instances) != 1:
        x.report.add(
            "E0401",
            f"the parser has no header `{text}`",
            node.args[0].span,
            why="`packet_from(h, N)` is the packet from header h on, at most N bytes.",
            mend=hints.mend_header(text, names.header_names(x)),
        )
        return x.wrong(node.span)
    if not names._may(x, "packet", node.span, "packet_from") or not names.check_valid(x, instances, text, node.span):
        return x.wrong(node.span)
    return ir.PacketFrom(node.span, t.BYTE_STRING, instances[0], size)


def _peek(x: Expressions, node: ast.Call) -> ir.Expr:
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
