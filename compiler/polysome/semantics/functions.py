"""Pure functions: typed once, at their first use (LANGUAGE.md L3.15)."""

from __future__ import annotations

from collections.abc import Mapping

from polysome.ir import program as ir
from polysome.semantics.arguments import arity, values_alone
from polysome.semantics.context import Context
from polysome.syntax import ast
from polysome.syntax.spans import Span


def function(user: Context, decl: ast.FnDecl, use: Span) -> str | None:
    """The name under which the function that is used at `use` is in `shared.fns`, or None if it has errors."""
    shared, name = user.shared, user.scope.prefix.replace(".", "__") + decl.name.text
    if name in shared.fn_types:
        if name not in shared.fns and name in _open(shared.fn_types, shared.fns):
            calls_itself(user, decl, use)
            return None
        return name
    x = user.apart(user.scope)
    slots, types = [], []
    for param in decl.params:
        type = x.types.resolve(param.type)
        types.append(type)
        slots.append(x.bind(param.name, type))
    result = x.types.resolve(decl.result)
    shared.fn_types[name] = (tuple(types), result)
    if not check_value(user, decl):
        shared.fns[name] = ir.Fn(name, tuple(slots), x.wrong(decl.span), decl.span)
        return None
    body = x.value_block(decl.body, result)
    shared.fns[name] = ir.Fn(name, tuple(slots), body, decl.span)
    return name


def calls_itself(x: Context, decl: ast.FnDecl, use: Span) -> None:
    """E0324."""
    x.report.add(
        "E0324",
        f"function `{decl.name.text}` calls itself",
        use,
        also=[(decl.name.span, "declared here")],
        why="There is no recursion: every path must have a bound that the compiler can see.",
        mend="Use a bounded `for` in an action, or unroll it.",
    )


def check_value(x: Context, decl: ast.FnDecl) -> bool:
    """Does the function have a value? E0325 if not."""
    if decl.body.value is None:
        x.report.add(
            "E0325",
            f"function `{decl.name.text}` has no value",
            Span(decl.body.span.file, decl.body.span.end - 1, decl.body.span.end),
            label="the value is missing before this",
            also=[(decl.result.span, "of this type")],
            why="A function's value is its last expression, without a semicolon.",
            mend="Remove the last `;`, or add the expression.",
        )
    return decl.body.value is not None


def _open(types: Mapping[str, object], done: Mapping[str, ir.Fn]) -> set[str]:
    """Functions that are being typed right now."""
    return {n for n in types if n not in done}


def call_fn(x: Context, decl: ast.FnDecl, args: list[ast.Argument], span: Span) -> ir.Expr:
    """The function applied to the arguments."""
    name = function(x, decl, span)
    if name is None or not values_alone(x, decl.name.text, args):
        return x.wrong(span)
    params, result = x.shared.fn_types[name]
    if not arity(x, decl.name.text, len(args), [p.name.text for p in decl.params], span, decl.name.span):
        return x.wrong(span)
    return ir.FnCall(span, result, name, tuple(x.expr(a.value, p) for a, p in zip(args, params, strict=True)))
