"""Sets of parse classes (masks over `Parser.classes`) and how conditions divide them."""

from __future__ import annotations

from polysome.ir import program as ir


def split(condition: ir.Expr, mask: int, parser: ir.Parser) -> tuple[int, int]:
    """The parse classes of `mask` for which `condition` may be true, and may be false."""
    match condition:
        case ir.Const(value=bool() as value):
            return (mask, 0) if value else (0, mask)
        case ir.Valid(instance=i):
            return mask & parser.having[i], mask & ~parser.having[i]
        case ir.Unary(op="not", operand=inner):
            yes, no = split(inner, mask, parser)
            return no, yes
        case ir.Binary(op="and", left=a, right=b):
            yes, no = split(a, mask, parser)
            both, second = split(b, yes, parser)
            return both, no | second
        case ir.Binary(op="or", left=a, right=b):
            yes, no = split(a, mask, parser)
            second, neither = split(b, no, parser)
            return yes | second, neither
        case _:
            return mask, mask
