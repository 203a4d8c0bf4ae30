"""Pure functions: typed once, at their first use (LANGUAGE.md L3.15)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from polysome.ir import program as ir
from polysome.syntax import ast
from polysome.syntax.spans import Span

if TYPE_CHECKING:
    from polysome.semantics.expressions import Expressions


def function(user: Expressions, decl: ast.FnDecl, use: Span) -> str | None:
    """The name under which the function that is used at `use` is in `shared.fns`, or None if it has errors."""
    from polysome.semantics.expressions import Expressions

    shared, name = user.shared, user.scope.prefix.replace(".", "__") + decl.name.text
    if name in shared.fn_types:
        if name not in shared.fns and name in _open(shared.fn_types, shared.fns):
            user.report.add(
                "E0324",
                f"function `{decl.name.text}` calls itself",
                use,
                also=[(decl.name.span, "declared here")],
                why="There is no recursion: every path must have a bound that the compiler can see.",
                mend="Use a bounded `for` in an action, or unroll it.",
            )
            return None
        return name
    x = Expressions(shared, user.scope, frozenset())
    slots, types = [], []
    for param in decl.params:
        type = x.types.resolve(param.type)
        types.append(type)
        slots.append(x.bind(param.name, type))
    result = x.types.resolve(decl.result)
    shared.fn_types[name] = (tuple(types), result)
    if decl.body.value is None:
        user.report.add(
            "E0325",
            f"function `{decl.name.text}` has no value",
            Span(decl.body.span.file, decl.body.span.end - 1, decl.body.span.end),
            label="the value is missing before this",
            also=[(decl.result.span, "of this type")],
            why="A function's value is its last expression, without a semicolon.",
            mend="Remove the last `;`, or add the expression.",
        )
        shared.fns[name] = ir.Fn(name, tuple(slots), x.wrong(decl.span), decl.span)
        return None
    body = x._value_block(decl.body, result)
    shared.fns[name] = ir.Fn(name, tuple(slots), body, decl.span)
    return name


def _open(types: Mapping[str, object], done: Mapping[str, ir.Fn]) -> set[str]:
    """Functions that are being typed right now."""
    return {n for n in types if n not in done}
