"""A text of an expression that is equal for expressions that mean the same, wherever they stand."""

from __future__ import annotations

from dataclasses import fields

from polysome.ir import program as ir


def canonical_text(e: ir.Expr, pure: dict[int, str]) -> str:
    """A text that is equal for expressions that are equal but for where they stand; pure locals by what they are."""
    match e:
        case ir.Local(slot=slot) if slot in pure:
            return pure[slot]
    parts = []
    for f in fields(e):
        if f.name in ("span", "type"):
            continue
        parts.append(_text(getattr(e, f.name), pure))
    return f"{type(e).__name__}({', '.join(parts)})"


def _text(value: object, pure: dict[int, str]) -> str:
    if isinstance(value, ir.Expr):
        return canonical_text(value, pure)
    if isinstance(value, tuple):
        return "(" + ", ".join(_text(v, pure) for v in value) + ")"
    return repr(value)
