"""Arguments of calls: how many, and that they are values alone."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from polysome.semantics.context import Context
from polysome.syntax import ast
from polysome.syntax.spans import Span


def values_alone(x: Context, name: str, args: Iterable[ast.Argument]) -> bool:
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


def arity(
    x: Context,
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
