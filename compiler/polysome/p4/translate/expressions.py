"""Expressions in C++."""

from __future__ import annotations

from dataclasses import dataclass, field

from polysome.p4 import program as pr
from polysome.p4.points import Points
from polysome.p4.translate.names import Names, ctype, literal, member, storage
from polysome.p4.types import BOOL, Bits, width

ORDER = {"<", "<=", ">", ">="}


@dataclass
class Expressions:
    """`places` says what stands before the path of a place, by its root, where that is not the root's name.

    `points`: what the code counts of what it reaches; None: nothing.
    """

    program: pr.Program
    names: Names
    gress: str
    places: dict[str, str] = field(default_factory=dict)
    exact: bool = False  # in a stateful ALU that compares sums exactly (ChipLimits.stateful_wraps)
    points: Points | None = None

    @property
    def frame_bytes(self) -> str:
        """What counters and meters count of a packet."""
        return "in.size + length_extra" if self.gress == "ingress" else "in.length"

    def place(self, e: pr.Place) -> str:
        if e.root in self.places:
            return self.places[e.root] + ".".join(e.path[:1] + tuple(map(member, e.path[1:])))
        root = f"v_{self.names.of(e.root)}" if e.root.startswith("$") else e.root
        return ".".join((root, *map(member, e.path)))

    def of(self, e: pr.Expr) -> str:
        match e:
            case pr.Const():
                return literal(e.value, e.type)
            case pr.Place():
                return self.place(e)
            case pr.Valid():
                return f"{self.place(e.header)}.valid"
            case pr.Slice():
                value = self.of(e.value)
                return f"cut<{width(e.type)}>({value} >> {e.low})" if e.low else f"cut<{width(e.type)}>({value})"
            case pr.Unary():
                return f"!{self._in(e.value)}" if e.op == "!" else f"cut<{width(e.type)}>({e.op}{self._in(e.value)})"
            case pr.Binary():
                return self._binary(e)
            case pr.Conditional():
                value = f"{self._in(e.condition)} ? {self.of(e.yes)} : {self.of(e.no)}"
                return f"({value})" if e.type == BOOL else f"static_cast<{ctype(e.type)}>({value})"
            case pr.Cast():
                return self._cast(e)
            case _:
                return self._extern(e)

    def _in(self, e: pr.Expr) -> str:
        """As an operand."""
        return f"({self.of(e)})" if isinstance(e, pr.Binary | pr.Hit) else self.of(e)

    def _binary(self, e: pr.Binary) -> str:
        if e.op in ORDER:
            return self._order(e)
        if e.op in ("<<", ">>"):
            return self._shift(e)
        left, right = self._in(e.left), self._in(e.right)
        if e.op in ("&&", "||", "==", "!="):
            return f"{left} {e.op} {right}"
        bits = width(e.type)
        signed = isinstance(e.type, Bits) and e.type.signed
        match e.op:
            case "|+|" | "|-|" if signed:
                return f"saturate_signed<{bits}>(to_signed<{bits}>({left}) {e.op[1]} to_signed<{bits}>({right}))"
            case "|+|":
                return f"add_saturating<{bits}>({self._as(e.left)}, {self._as(e.right)})"
            case "|-|":
                return f"subtract_saturating<{bits}>({self._as(e.left)}, {self._as(e.right)})"
            case "++":
                kind = ctype(e.type)
                joined = f"static_cast<{kind}>({left}) << {width(e.right.type)} | static_cast<{kind}>({right})"
                return f"static_cast<{kind}>({joined})"
            case "&" | "|" | "^":
                return f"static_cast<{ctype(e.type)}>({left} {e.op} {right})"
            case _:
                return f"cut<{bits}>({left} {e.op} {right})"

    def _as(self, e: pr.Expr) -> str:
        return f"static_cast<{ctype(e.type)}>({self.of(e)})" if isinstance(e, pr.Const) else self.of(e)

    def _shift(self, e: pr.Binary) -> str:
        assert isinstance(e.right, pr.Const) and isinstance(e.type, Bits)
        left, by, bits = self._in(e.left), e.right.value, e.type.width
        if e.type.signed and e.op == ">>":
            return f"cut<{bits}>(to_signed<{bits}>({left}) >> {min(by, bits - 1)})"
        if by >= bits:
            return literal(0, e.type)
        return f"cut<{bits}>({left} {e.op} {by})"

    def _order(self, e: pr.Binary) -> str:
        of = e.left.type
        if self.exact and (_sum(e.left) or _sum(e.right)):
            return f"{self._wide(e.left)} {e.op} {self._wide(e.right)}"
        if isinstance(of, Bits) and of.signed:
            return f"to_signed<{of.width}>({self.of(e.left)}) {e.op} to_signed<{of.width}>({self.of(e.right)})"
        return f"{self._in(e.left)} {e.op} {self._in(e.right)}"

    def _wide(self, e: pr.Expr) -> str:
        """A stateful ALU computes sums in more bits; what it takes of packet and register has no sign there."""
        if isinstance(e, pr.Binary) and _sum(e):
            return f"({self._wide(e.left)} {e.op} {self._wide(e.right)})"
        if isinstance(e, pr.Const):
            return f"std::int64_t{{{signed_value(e)}}}"
        return f"static_cast<std::int64_t>({self.of(e)})"

    def _cast(self, e: pr.Cast) -> str:
        value, to, source = self.of(e.value), e.type, e.value.type
        if to == BOOL:
            return f"({value} != 0)"
        assert isinstance(to, Bits)
        if source == BOOL:
            return f"static_cast<std::uint8_t>({value})"
        assert isinstance(source, Bits)
        if source.signed and to.width > source.width:
            return f"cut<{to.width}>(to_signed<{source.width}>({value}))"
        return f"cut<{to.width}>({value})" if to.width < source.width else f"static_cast<{ctype(to)}>({value})"

    def reached(self, number: int | None) -> str:
        """A statement that counts an outcome, with a space behind it; "" if nothing is counted."""
        return "" if self.points is None or number is None else f"coverage_.count({number}); "

    # ------------------------------------------------------------ externs

    def _extern(self, e: pr.Expr) -> str:
        match e:
            case pr.Execute():
                return f"run_{self.names.of(e.action)}({self.of(e.index)})"
            case pr.HashOf():
                return self._hash(e)
            case pr.MeterOf():
                return f"{self.names.of(e.meter)}.execute({self.of(e.index)}, {self.frame_bytes}, in.now)"
            case pr.ChecksumOf():
                total = sum(width(i.type) for i in e.items)
                return f"checksum({self.words(e.items, total)}, {'true' if e.ones else 'false'})"
            case pr.ChecksumGet():
                return f"{self.names.of(e.unit)}.get()"
            case pr.Lookahead():
                size = (width(e.type) + 7) // 8
                spare = size * 8 - width(e.type)
                return f"load<{size}>(p)" if not spare else f"cut<{width(e.type)}>(load<{size}>(p) >> {spare})"
            case pr.Hit():
                return f"{'!' if e.miss else ''}apply_{self.names.of(e.table)}().hit"
            case pr.Random():
                return f"cut<{width(e.type)}>(random())"
            case _:
                raise AssertionError(e)

    def words(self, items: tuple[pr.Expr, ...], total: int) -> str:
        """The sum of the 16-bit words of a list, each item where it stands in it."""
        parts, at = [], 0
        for item in items:
            at += width(item.type)
            value = f"static_cast<{storage(width(item.type))}>({self.of(item)})"
            if not (isinstance(item, pr.Const) and item.value == 0):
                parts.append(f"words({value}, {(total - at) % 16})")
        return " + ".join(parts) or "0u"

    def _hash(self, e: pr.HashOf) -> str:
        bits = width(e.type)
        total = sum(width(i.type) for i in e.items)
        puts = " ".join(f"joined.put<{width(i.type)}>({self.of(i)});" for i in e.items)
        if e.algorithm == "IDENTITY":
            size = min((bits + 7) // 8, (total + 7) // 8)
            found = f"load<{size}>(joined.bytes().data() + {(total + 7) // 8 - size})"
        else:
            found = f"C{e.algorithm[1:].lower()}::of(joined.bytes())"
        return f"[&] {{ Joined<{total}> joined; {puts} return cut<{bits}>({found}); }}()"


def signed_value(e: pr.Const) -> int:
    """A constant as a number, below 0 if its type has a sign and its value is."""
    assert isinstance(e.type, Bits)
    sign = e.type.signed and e.value >> (e.type.width - 1)
    return e.value - (1 << e.type.width) if sign else e.value


def _sum(e: pr.Expr) -> bool:
    return isinstance(e, pr.Binary) and e.op in ("+", "-")
