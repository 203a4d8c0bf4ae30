"""Typing of expressions."""

from __future__ import annotations

from abc import ABC, abstractmethod

from polysome.p4 import ast
from polysome.p4 import program as pr
from polysome.p4.architecture import COUNTER_TYPES, HASHES, METER_TYPES
from polysome.p4.scope import Meaning, Scope, World
from polysome.p4.types import BOOL, LITERAL, MOST_BITS, Bits, Bool, Composite, Type, width
from polysome.syntax.spans import Span

ARITHMETIC = {"+", "-", "|+|", "|-|", "&", "|", "^"}
ORDER = {"<", "<=", ">", ">="}
MOST_SIGNED = 64

# The architecture's enumerations: their members are numbers here.
ENUMERATIONS = {
    "HashAlgorithm_t": tuple(HASHES),
    "CounterType_t": COUNTER_TYPES,
    "MeterType_t": METER_TYPES,
    "MeterColor_t": ("GREEN", "YELLOW", "RED"),
}
COLORS = {"GREEN": 0, "YELLOW": 1, "RED": 3}


class Expressions(ABC):
    """Types expressions in a scope. A method that returns None has reported why."""

    def __init__(self, world: World) -> None:
        self.world = world

    @abstractmethod
    def call(self, e: ast.Call, scope: Scope) -> pr.Expr | None:
        """The value of a call."""

    @abstractmethod
    def hit(self, e: ast.Call, miss: bool, scope: Scope) -> pr.Expr | None:
        """`table.apply().hit`, or `.miss`."""

    # ------------------------------------------------------------ entry points

    def value(self, e: ast.Expr, scope: Scope, expected: Type | None = None) -> pr.Expr | None:
        """A value; if `expected` is given, of that type."""
        found = self.expr(e, scope)
        if found is None:
            return None
        if expected is not None:
            return self.fit(found, expected, e.span)
        if found.type == LITERAL:
            self._unsized(e.span)
            return None
        return found

    def condition(self, e: ast.Expr, scope: Scope) -> pr.Expr | None:
        found = self.expr(e, scope)
        if found is not None and found.type != BOOL:
            self.world.wrong_type(
                f"a condition is a `bool`, and this is {_a(found.type)}",
                e.span,
                "Compare it: `… == 1`, `… != 0`.",
            )
            return None
        return found

    def constant(self, e: ast.Expr, scope: Scope, expected: Type | None = None) -> int | None:
        """The value of a constant expression, without a width unless `expected` is given."""
        found = self.expr(e, scope)
        if found is not None and expected is not None:
            found = self.fit(found, expected, e.span)
        if found is None:
            return None
        if not isinstance(found, pr.Const):
            self.world.wrong_type("a constant is needed here", e.span, "Write a number or the name of a `const`.")
            return None
        return found.value

    def place(self, e: ast.Expr, scope: Scope) -> pr.Place | None:
        """Storage: a parameter, a variable, a field."""
        found = self.expr(e, scope)
        if found is None or isinstance(found, pr.Place):
            return found
        self.world.wrong_type(
            "this is a value, and a place to store one is needed", e.span, "Name a field or variable."
        )
        return None

    def header(self, e: ast.Expr, scope: Scope) -> pr.Place | None:
        found = self.place(e, scope)
        if found is not None and not (isinstance(found.type, Composite) and found.type.header):
            self.world.wrong_type(f"a header is needed, and this is {_a(found.type)}", e.span, "Name a header.")
            return None
        return found

    def fit(self, e: pr.Expr, to: Type, span: Span) -> pr.Expr | None:
        """The same value as type `to`: numbers without a width take it, others must have it."""
        if e.type == to:
            return e
        if e.type == LITERAL and isinstance(to, Bits) and isinstance(e, pr.Const):
            low, high = (-(1 << to.width - 1), 1 << to.width - 1) if to.signed else (0, 1 << to.width)
            if low <= e.value < high:
                return pr.Const(e.value % (1 << to.width), to, span)
            self.world.wrong_type(
                f"{e.value} does not fit into `{to}`",
                span,
                "Use a smaller number or a wider type.",
                "It would lose its upper bits.",
            )
            return None
        self.world.wrong_type(
            f"this is {_a(e.type)}, and {_a(to)} is needed",
            span,
            f"Cast it: `({to}) …`." if isinstance(to, Bits) and isinstance(e.type, Bits) else "Use one type for both.",
        )
        return None

    # ------------------------------------------------------------ by kind

    def expr(self, e: ast.Expr, scope: Scope) -> pr.Expr | None:
        match e:
            case ast.Number():
                if e.width is None:
                    return pr.Const(e.value, LITERAL, e.span)
                return self.fit(pr.Const(e.value, LITERAL, e.span), Bits(e.width, e.signed), e.span)
            case ast.Boolean():
                return pr.Const(int(e.value), BOOL, e.span)
            case ast.Name():
                return self._storage(self._named(e, scope), e.name, e.span)
            case ast.Member():
                return self._member(e, scope)
            case ast.Slice():
                return self._slice(e, scope)
            case ast.Unary():
                return self._unary(e, scope)
            case ast.Binary():
                return self._binary(e, scope)
            case ast.Conditional():
                return self._conditional(e, scope)
            case ast.Cast():
                return self._cast(e, scope)
            case ast.Call():
                return self.call(e, scope)
            case ast.ListOf():
                self.world.wrong_type("a list cannot stand here", e.span, "Lists are arguments of externs only.")
                return None

    def _named(self, e: ast.Name, scope: Scope) -> Meaning | None:
        found = scope.find(e.name)
        if found is None:
            self.world.unknown("value", e.name, e.span, list(scope.visible()))
        return found

    def _storage(self, found: Meaning | None, name: str, span: Span) -> pr.Expr | None:
        match found:
            case None:
                return None
            case pr.Const():
                return pr.Const(found.value, found.type, span)
            case pr.Place():
                return pr.Place(found.root, found.path, found.type, span)
            case _:
                self.world.wrong_type(f"`{name}` is no value", span, "Call it, or name a field or variable.")
                return None

    def _member(self, e: ast.Member, scope: Scope) -> pr.Expr | None:
        if isinstance(e.base, ast.Name) and e.base.name in ENUMERATIONS:
            return self._enumerated(e.base.name, e.name)
        if isinstance(e.base, ast.Call) and e.name.text in ("hit", "miss"):
            return self.hit(e.base, e.name.text == "miss", scope)
        base = self.expr(e.base, scope)
        if base is None:
            return None
        if not isinstance(base, pr.Place) or not isinstance(base.type, Composite):
            self.world.wrong_type(
                f"{_a(base.type)} has no fields", e.name.span, "Only headers and structs have fields."
            )
            return None
        kind = base.type.field(e.name.text)
        if kind is None:
            self.world.unknown(f"field of {base.type}", e.name.text, e.name.span, [n for n, _ in base.type.fields])
            return None
        return pr.Place(base.root, (*base.path, e.name.text), kind, e.span)

    def _enumerated(self, name: str, member: ast.Ident) -> pr.Expr | None:
        members = ENUMERATIONS[name]
        if member.text not in members:
            self.world.unknown(f"member of {name}", member.text, member.span, members)
            return None
        value = COLORS[member.text] if name == "MeterColor_t" else members.index(member.text)
        return pr.Const(value, Bits(8), member.span)

    def _slice(self, e: ast.Slice, scope: Scope) -> pr.Expr | None:
        base = self.value(e.base, scope)
        if e.low is None:
            self.world.outside("an index into a header stack", e.span, "Use one header for each element.")
            return None
        high, low = self.constant(e.high, scope), self.constant(e.low, scope)
        if base is None or high is None or low is None:
            return None
        if not isinstance(base.type, Bits):
            self.world.wrong_type(f"{_a(base.type)} has no bits to choose from", e.span, "Slice a field of bits.")
            return None
        if not 0 <= low <= high < base.type.width:
            self.world.wrong_type(
                f"bits {high} to {low} are not in `{base.type}`",
                e.span,
                f"Write [high:low] with {base.type.width - 1} >= high >= low.",
                "Bits are counted from 0, the lowest.",
            )
            return None
        if isinstance(base, pr.Const):
            return pr.Const(base.value >> low & (1 << high - low + 1) - 1, Bits(high - low + 1), e.span)
        return pr.Slice(base, high, low, Bits(high - low + 1), e.span)

    def _unary(self, e: ast.Unary, scope: Scope) -> pr.Expr | None:
        value = self.expr(e.value, scope)
        if value is None:
            return None
        if e.op == "!":
            if value.type != BOOL:
                self.world.wrong_type(
                    f"`!` needs a `bool`, and this is {_a(value.type)}", e.span, "Compare it, or use `~`."
                )
                return None
            return pr.Unary("!", value, BOOL, e.span)
        if isinstance(value, pr.Const) and value.type == LITERAL and e.op == "-":
            return pr.Const(-value.value, LITERAL, e.span)
        if not isinstance(value.type, Bits):
            self.world.wrong_type(
                f"`{e.op}` needs bits, and this is {_a(value.type)}", e.span, "Give it a width: `8w5`."
            )
            return None
        if isinstance(value, pr.Const):
            return pr.Const(
                (~value.value if e.op == "~" else -value.value) % (1 << value.type.width), value.type, e.span
            )
        return pr.Unary(e.op, value, value.type, e.span)

    def _binary(self, e: ast.Binary, scope: Scope) -> pr.Expr | None:
        left, right = self.expr(e.left, scope), self.expr(e.right, scope)
        if left is None or right is None:
            return None
        if e.op in ("&&", "||"):
            if self.fit(left, BOOL, e.left.span) is None or self.fit(right, BOOL, e.right.span) is None:
                return None
            return pr.Binary(e.op, left, right, BOOL, e.span)
        if e.op == "++":
            return self._concatenation(e, left, right)
        if e.op in ("<<", ">>"):
            return self._shift(e, left, right)
        if isinstance(left, pr.Const) and isinstance(right, pr.Const):
            folded = self._fold(e, left, right)
            if folded is not None:
                return folded
        if e.op in "*/%":
            self.world.outside(f"`{e.op}` of values that are not constants", e.span, "Shift, or look the result up.")
            return None
        return self._same_type(e, left, right)

    def _same_type(self, e: ast.Binary, left: pr.Expr, right: pr.Expr) -> pr.Expr | None:
        """Arithmetic and comparisons: both sides have one type; a number without width takes the other's."""
        a = self.fit(left, right.type, e.left.span) if left.type == LITERAL else left
        b = self.fit(right, left.type, e.right.span) if right.type == LITERAL else right
        if a is None or b is None:
            return None
        if a.type != b.type:
            self.world.wrong_type(
                f"`{e.op}` of {_a(a.type)} and {_a(b.type)}",
                e.span,
                "Cast one side to the type of the other: `(bit<N>) …`.",
            )
            return None
        equal = e.op in ("==", "!=")
        if isinstance(a.type, Bits) and a.type.width > MOST_BITS:
            self.world.outside(f"`{e.op}` of {a.type.width} bits", e.span, f"At most {MOST_BITS} bits: do it in parts.")
            return None
        if not isinstance(a.type, Bits) and not (equal and isinstance(a.type, Bool)):
            self.world.wrong_type(f"`{e.op}` of {_a(a.type)}", e.span, "Name fields of bits.")
            return None
        return pr.Binary(e.op, a, b, BOOL if equal or e.op in ORDER else a.type, e.span)

    def _fold(self, e: ast.Binary, left: pr.Const, right: pr.Const) -> pr.Expr | None:
        """The value of an operation on constants; None if it is better told by `_same_type`."""
        if left.type != right.type and LITERAL not in (left.type, right.type):
            return None
        kind = right.type if left.type == LITERAL else left.type
        a, b = left.value, right.value
        if e.op in ("/", "%") and b == 0:
            return None
        if e.op in (*ORDER, "==", "!="):
            truth = {"<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b, "==": a == b, "!=": a != b}
            return pr.Const(int(truth[e.op]), BOOL, e.span)
        found = {
            "+": a + b, "-": a - b, "*": a * b, "&": a & b, "|": a | b, "^": a ^ b,
            "/": a // b if b else 0, "%": a % b if b else 0,
        }.get(e.op)  # fmt: skip
        if found is None:
            return None
        if isinstance(kind, Bits):
            return pr.Const(found % (1 << kind.width), kind, e.span)
        return pr.Const(found, LITERAL, e.span) if kind == LITERAL else None

    def _concatenation(self, e: ast.Binary, left: pr.Expr, right: pr.Expr) -> pr.Expr | None:
        for side, at in ((left, e.left), (right, e.right)):
            if side.type == LITERAL:
                self._unsized(at.span)
                return None
            if not isinstance(side.type, Bits):
                self.world.wrong_type(f"`++` joins bits, and this is {_a(side.type)}", at.span, "Name fields of bits.")
                return None
        total = width(left.type) + width(right.type)
        if total > MOST_BITS:
            self.world.outside(f"a value of {total} bits", e.span, f"At most {MOST_BITS} bits: write it in parts.")
            return None
        if isinstance(left, pr.Const) and isinstance(right, pr.Const):
            return pr.Const(left.value << width(right.type) | right.value, Bits(total), e.span)
        return pr.Binary("++", left, right, Bits(total), e.span)

    def _shift(self, e: ast.Binary, left: pr.Expr, right: pr.Expr) -> pr.Expr | None:
        if not isinstance(right, pr.Const):
            self.world.outside("a shift by a value that is not constant", e.right.span, "Shift by a number.")
            return None
        if isinstance(left, pr.Const) and left.type == LITERAL:
            shifted = left.value << right.value if e.op == "<<" else left.value >> right.value
            return pr.Const(shifted, LITERAL, e.span)
        if not isinstance(left.type, Bits):
            self.world.wrong_type(f"`{e.op}` of {_a(left.type)}", e.left.span, "Shift bits.")
            return None
        if isinstance(left, pr.Const) and not left.type.signed:
            shifted = left.value << right.value if e.op == "<<" else left.value >> right.value
            return pr.Const(shifted % (1 << left.type.width), left.type, e.span)
        return pr.Binary(e.op, left, right, left.type, e.span)

    def _conditional(self, e: ast.Conditional, scope: Scope) -> pr.Expr | None:
        condition = self.condition(e.condition, scope)
        yes, no = self.expr(e.yes, scope), self.expr(e.no, scope)
        if condition is None or yes is None or no is None:
            return None
        if yes.type == LITERAL and no.type == LITERAL:
            self._unsized(e.span)
            return None
        a = self.fit(yes, no.type, e.yes.span) if yes.type == LITERAL else yes
        b = self.fit(no, yes.type, e.no.span) if no.type == LITERAL else no
        if a is None or b is None or self.fit(b, a.type, e.no.span) is None:
            return None
        return pr.Conditional(condition, a, b, a.type, e.span)

    def _cast(self, e: ast.Cast, scope: Scope) -> pr.Expr | None:
        to, value = self.type(e.type, scope), self.expr(e.value, scope)
        if to is None or value is None:
            return None
        if value.type == LITERAL:
            return self.fit(value, to, e.span)
        if not _castable(value.type, to):
            self.world.wrong_type(
                f"{_a(value.type)} cannot be cast to {_a(to)}",
                e.span,
                "Change the width first, the sign then; a `bool` is cast to and from `bit<1>` only.",
            )
            return None
        if isinstance(value, pr.Const) and isinstance(to, Bits) and not to.signed:
            return pr.Const(value.value % (1 << to.width), to, e.span)
        return pr.Cast(value, to, e.span)

    # ------------------------------------------------------------ types

    def type(self, t: ast.Type, scope: Scope) -> Type | None:
        match t:
            case ast.BoolType():
                return BOOL
            case ast.BitType():
                bits = self.constant(t.width, scope)
                if bits is None:
                    return None
                if bits < 1:
                    self.world.wrong_type(f"a type of {bits} bits", t.span, "A width is 1 or more.")
                    return None
                if t.signed and bits > MOST_SIGNED:
                    self.world.outside(f"`int<{bits}>`", t.span, f"At most {MOST_SIGNED} bits, or `bit<{bits}>`.")
                    return None
                return Bits(bits, t.signed)
            case ast.NamedType():
                found = self.world.types.get(t.name.text)
                if found is None or t.args:
                    self.world.unknown("type", t.name.text, t.name.span, list(self.world.types))
                    return None
                return found

    def _unsized(self, span: Span) -> None:
        self.world.wrong_type(
            "a number without a width, where nothing says which it has",
            span,
            "Write the width: `16w5` is 5 in 16 bits.",
        )


def _castable(a: Type, b: Type) -> bool:
    if isinstance(a, Bits) and isinstance(b, Bits):
        return a.signed == b.signed or a.width == b.width
    return {type(a), type(b)} == {Bits, Bool} and Bits(1) in (a, b)


def _a(of: Type) -> str:
    return str(of) if of == LITERAL or str(of).startswith("a ") else f"`{of}`"
