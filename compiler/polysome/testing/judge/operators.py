"""Operators of the language as Python expressions in which any operand may be undefined, that is None (L12.3).

An operator with an undefined operand is undefined; comparisons, `in` and conditions with one are false. What is
known to be defined costs no test.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from polysome.ir import operators
from polysome.ir import program as ir
from polysome.ir import properties as pr
from polysome.ir import types as t
from polysome.kinds.hashing import encoder


class Code(NamedTuple):
    """A Python expression, in parentheses where precedence could matter; `maybe`: it may be None."""

    text: str
    maybe: bool


class Operators:
    """Translates operators; `value` of a subclass knows the leaves."""

    def __init__(self, program: ir.Program, constants: dict[str, Any]) -> None:
        self.program = program
        self.constants = constants
        self._temporaries = 0

    def constant(self, value: Any) -> str:
        """A name for a value."""
        name = f"J{len(self.constants)}"
        self.constants[name] = value
        return name

    def temporary(self) -> str:
        self._temporaries += 1
        return f"t{self._temporaries}"

    # ------------------------------------------------------------ undefined operands

    def defined(self, operands: list[Code], make: Callable[..., str], otherwise: str = "None") -> str:
        """`make` of the operands' texts, or `otherwise` if one is undefined."""
        tests, names = [], []
        for operand in operands:
            if operand.maybe:
                name = self.temporary()
                tests.append(f"({name} := {operand.text}) is None")
                names.append(name)
            else:
                names.append(operand.text)
        made = make(*names)
        return f"({otherwise} if {' or '.join(tests)} else {made})" if tests else made

    def strict(self, operands: list[ir.Expr], make: Callable[..., str], maybe: bool = False) -> Code:
        """An operator that is undefined if an operand is, or with `maybe` in other cases too."""
        codes = [self.value(e) for e in operands]
        return Code(self.defined(codes, make), maybe or any(c.maybe for c in codes))

    def test(self, e: ir.Expr) -> str:
        """A condition: true or false."""
        found = self.value(e)
        return f"({found.text} or False)" if found.maybe else found.text

    # ------------------------------------------------------------ expressions

    def value(self, e: ir.Expr) -> Code:
        match e:
            case ir.Const(value=v):
                return Code(repr(v) if isinstance(v, (int, bool, str)) else self.constant(v), False)
            case ir.Unary(op="not", operand=x):
                return Code(f"(not {self.test(x)})", False)
            case ir.Unary(operand=x):
                return self.strict([x], lambda a: operators.inverted_text(e, a))
            case ir.Binary(op=("and" | "or") as op, left=a, right=b):
                return Code(f"({self.test(a)} {op} {self.test(b)})", False)
            case ir.Binary(op=op, left=a, right=b) if op in operators.COMPARISONS:
                return Code(self._comparison(op, a, b), False)
            case ir.Binary():
                return self._arithmetic(e)
            case ir.Ratio(amount=a, duration=d):
                return self.strict([a, d], lambda x, y: f"ratio({x}, {y}, {_scale(e)})", maybe=True)
            case ir.Choose(condition=c, then=a, orelse=b):
                then, orelse = self.value(a), self.value(b)
                return Code(f"({then.text} if {self.test(c)} else {orelse.text})", then.maybe or orelse.maybe)
            case ir.Deref(value=v):  # rows and values of pools are plain in properties
                return self.value(v)
            case _:
                return self._other(e)

    def _other(self, e: ir.Expr) -> Code:
        match e:
            case ir.Cast():
                return self.strict([e.value], lambda a: operators.cast_text(e, a))
            case ir.BitSlice(value=v):
                return self.strict([v], lambda a: operators.slice_text(e, a))
            case ir.Concat(left=a, right=b):
                return self.strict([a, b], lambda x, y: operators.concat_text(e, x, y))
            case ir.Make(items=items) if isinstance(e.type, t.SetOf) and all(isinstance(i, ir.Const) for i in items):
                return Code(self.constant(frozenset(i.value for i in items if isinstance(i, ir.Const))), False)
            case ir.Make(items=items) if isinstance(e.type, t.SetOf):
                return self.strict(list(items), lambda *a: f"frozenset(({''.join(x + ', ' for x in a)}))")
            case ir.Make(items=items):
                return self.strict(list(items), lambda *a: f"({''.join(x + ', ' for x in a)})")
            case ir.Get(value=v, index=i):
                return self.strict([v], lambda a: f"{a}[{i}]")
            case ir.MinMax(left=a, right=b):
                return self.strict([a, b], lambda x, y: operators.minmax_text(e, x, y))
            case ir.Hash(args=args):
                encode = self.constant(encoder(t.Tuple(tuple(a.type for a in args))))
                return self.strict(list(args), lambda *a: f"hash64({encode}(({''.join(x + ', ' for x in a)})))")
            case ir.FnCall(fn=fn, args=args):
                return Code(f"attempt(fn_{fn}, {', '.join(self.value(a).text for a in args)})", True)
            case ir.InPrefix(address=a, prefix=p):
                codes = [self.value(a), self.value(p)]
                return Code(self.defined(codes, lambda x, y: f"in_prefix({x}, {y}, {t.width(a.type)})", "False"), False)
            case ir.InSet(item=x, set=s):
                return Code(self.defined([self.value(x), self.value(s)], lambda a, b: f"({a} in {b})", "False"), False)
            case ir.ListIndex(table=table, index=i):
                function = "hashed_row" if isinstance(table.type, t.Table) else "row"
                return self.strict([table, i], lambda a, b: f"{function}({a}, {b})", maybe=True)
            case ir.Length(table=table):
                return self.strict([table], lambda a: operators.reduced_text(f"len({a})", e.type))
            case _:
                raise AssertionError(f"no code for {type(e).__name__}")

    def _comparison(self, op: str, left: ir.Expr, right: ir.Expr) -> str:
        """False if a side is undefined."""
        if isinstance(left.type, pr.Outputs):
            name = {"==": "same", "!=": "different", "<=": "part"}[op]
            return f"{name}({self.value(left).text}, {self.value(right).text})"
        if isinstance(left, ir.Ratio) or isinstance(right, ir.Ratio):
            return self._ratio(op, left, right)
        a, b = self.value(left), self.value(right)
        if op == "==" and a.maybe and b.maybe:  # one test is enough: None equals nothing else
            name = self.temporary()
            return f"(({name} := {a.text}) is not None and {name} == {b.text})"
        if op == "==":
            return operators.comparison_text(op, a.text, b.text)
        return self.defined([a, b], lambda x, y: operators.comparison_text(op, x, y), "False")

    def _ratio(self, op: str, left: ir.Expr, right: ir.Expr) -> str:
        """amount / duration against a rate, without rounding: both sides times the durations."""
        operands: list[Code] = []
        for side in (left, right):
            if isinstance(side, ir.Ratio):
                operands += [self.value(side.amount), self.value(side.duration)]
            else:
                operands.append(self.value(side))

        def make(*texts: str) -> str:
            rest = list(texts)
            tops, bottoms = [], []
            for side in (left, right):
                top = rest.pop(0)
                is_ratio = isinstance(side, ir.Ratio)
                tops.append(f"{top} * {_scale(side)}" if is_ratio else top)
                bottoms.append(rest.pop(0) if is_ratio else "1")
            tests = [f"{bottom} != 0" for bottom in bottoms if bottom != "1"]
            return f"({' and '.join(tests)} and {tops[0]} * {bottoms[1]} {op} {tops[1]} * {bottoms[0]})"

        return self.defined(operands, make, "False")

    def _arithmetic(self, e: ir.Binary) -> Code:
        op, a, b = e.op, e.left, e.right
        if op not in operators.DIVISIONS or (isinstance(b, ir.Const) and b.value):
            return self.strict([a, b], lambda x, y: operators.arithmetic_text(e, x, y))
        codes, divisor = [self.value(a), self.value(b)], self.temporary()

        def divided(x: str, y: str) -> str:
            return f"({operators.arithmetic_text(e, x, divisor)} if ({divisor} := {y}) else None)"

        return Code(self.defined(codes, divided), True)


def _scale(e: ir.Expr) -> int:
    """Bits per byte, and ns per second."""
    return 8 * 10**9 if isinstance(e.type, t.Ratio) and e.type.rate == "bitrate" else 10**9
