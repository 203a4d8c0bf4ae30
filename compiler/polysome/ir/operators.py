"""What operators and casts do to numbers (LANGUAGE.md L3.4, L3.6, L3.14), told once: as Python text.

Engines that write Python put the text of their operands in; what evaluates at once runs the same text. Beside the same
names, terms are in `symbolic/terms.py`, C++ in `backends/nf_cpp/expression_code.py`. `tests/language/test_operators.py`
holds all of them to each other, over the boundary values of every width.

Numbers are below 2^width of their type, and so are results.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from polysome.ir import program as ir
from polysome.ir import types as t

COMPARISONS = ("==", "!=", "<", "<=", ">", ">=")
MAPPED = 0xFFFF_0000_0000  # an IPv4 address below this is an IPv4-mapped IPv6 address (RFC 4291, section 2.5.5.2)
DIVISIONS = {"/": "({a} // {b})", "%": "({a} % {b})"}  # undefined where b is 0: how that ends is the engine's business
ARITHMETIC = {
    "+": "(({a} + {b}) & {mask})",
    "-": "(({a} - {b}) & {mask})",
    "*": "(({a} * {b}) & {mask})",
    **DIVISIONS,
    "&": "({a} & {b})",
    "|": "({a} | {b})",
    "^": "({a} ^ {b})",
    "<<": "((({a}) << min({b}, {width})) & {mask})",
    ">>": "(({a}) >> min({b}, {width}))",
}
SETS = {"+": "({a} | {b})", "-": "({a} - {b})"}


def bits(type: t.Type) -> int:
    """Bits of a type's numbers; 128 for literals, which have met no width."""
    found = t.width(type)
    return 128 if found is None else found


def mask(type: t.Type) -> int:
    """The largest number of a type."""
    return (1 << bits(type)) - 1


# ---------------------------------------------------------------- as text


def arithmetic_text(e: ir.Binary, a: str, b: str) -> str:
    """`a op b` of numbers or of sets; a divisor must not be 0."""
    if isinstance(e.type, t.SetOf):
        return SETS[e.op].format(a=a, b=b)
    return ARITHMETIC[e.op].format(a=a, b=b, width=bits(e.type), mask=mask(e.type))


def comparison_text(op: str, a: str, b: str) -> str:
    return f"({a} {op} {b})"


def inverted_text(e: ir.Unary, a: str) -> str:
    """`~a`."""
    return f"({a} ^ {mask(e.type)})"


def cast_text(e: ir.Cast, a: str) -> str:
    """`a as T`: cut, or as it is."""
    if e.mapped:
        return f"({a} | {MAPPED:#x})"
    if isinstance(e.value.type, t.Bool):
        return f"int({a})"
    have, want = t.width(e.value.type), t.width(e.type)
    return a if have is not None and want is not None and have <= want else f"({a} & {mask(e.type)})"


def slice_text(e: ir.BitSlice, a: str) -> str:
    """`a[high:low]`."""
    return f"(({a} >> {e.low}) & {(1 << (e.high - e.low + 1)) - 1})"


def concat_text(e: ir.Concat, a: str, b: str) -> str:
    """`a ++ b`."""
    return f"(({a} << {bits(e.right.type)}) | {b})"


def minmax_text(e: ir.MinMax, a: str, b: str) -> str:
    return f"{e.op}({a}, {b})"


def reduced_text(a: str, type: t.Type) -> str:
    """A number of 64 bits in the width of its type."""
    return a if isinstance(type, t.Literal) or t.width(type) == 64 else f"({a} & {mask(type)})"


# ---------------------------------------------------------------- at once


def arithmetic(op: str, a: int, b: int, width: int) -> int:
    """`a op b` modulo 2^width; ZeroDivisionError where b is 0."""
    return int(_function(ARITHMETIC[op], ("a", "b", "width", "mask"))(a, b, width, (1 << width) - 1))


def operated(e: ir.Expr, *operands: Any) -> Any:
    """The value of an operator or cast with those of its operands; ZeroDivisionError for a division by 0."""
    match e:
        case ir.Binary(op=op) if op in COMPARISONS:
            text = comparison_text(op, "a", "b")
        case ir.Binary():
            text = arithmetic_text(e, "a", "b")
        case ir.Unary():
            text = inverted_text(e, "a")
        case ir.Cast():
            text = cast_text(e, "a")
        case ir.BitSlice():
            text = slice_text(e, "a")
        case ir.Concat():
            text = concat_text(e, "a", "b")
        case ir.MinMax():
            text = minmax_text(e, "a", "b")
        case _:
            raise AssertionError(f"{type(e).__name__} is no operator")
    return _function(text, ("a", "b")[: len(operands)])(*operands)


@lru_cache(maxsize=4096)
def _function(text: str, names: tuple[str, ...]) -> Callable[..., Any]:
    """The text as a function."""
    names_given = {name: name for name in names}
    made: Callable[..., Any] = eval(f"lambda {', '.join(names)}: {text.format(**names_given)}", {})
    return made
