"""How the elements of one domain are found that fulfil conjuncts with what is already bound: a small query planner.

Of the conjuncts, those on the new element alone make an index; equalities of one of its terms with something outside
are the index's key; bounds on its position, its time or another of its terms are two bisections; the rest is tested.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace

from polysome.ir import program as ir
from polysome.ir import properties as pr
from polysome.ir import types as t
from polysome.testing.judge.conditions import SWAPPED

HASHABLE = (
    t.Bits, t.Bool, t.Address, t.Quantity, t.Port, t.Enum, t.Struct, t.Tuple, t.Str, t.ByteString, t.Entry, pr.Packet,
)  # fmt: skip
ORDERED = (t.Bits, t.Quantity, t.Address)
ORDER = "order"  # the term of bounds on `number` and `at`, which packets are in order of


@dataclass(frozen=True)
class Bound:
    """`term op limit`, or with `shift` `limit sign shift`, without wrapping; `name` of an attribute in ORDER."""

    op: str
    limit: ir.Expr
    name: str = ""
    sign: str = "+"
    shift: ir.Expr | None = None


@dataclass
class Join:
    """Conjuncts by their use. `bounds` by term: ORDER, or the index in `terms`."""

    guards: list[ir.Expr] = field(default_factory=list)
    own: list[ir.Expr] = field(default_factory=list)
    keys: list[tuple[ir.Expr, ir.Expr]] = field(default_factory=list)  # (of the new element, outside)
    term: ir.Expr | None = None  # None with bounds: ORDER
    bounds: list[Bound] = field(default_factory=list)
    rest: list[ir.Expr] = field(default_factory=list)


Orders = frozenset[tuple[int, int]]  # pairs of slots of packets: the first is not after the second


def ordered(conjuncts: Iterable[ir.Expr]) -> Orders:
    """What `p.number < q.number`, `p.at <= q.at` and the like say."""
    found = set()
    for e in conjuncts:
        match e:
            case ir.Binary(
                op=op,
                left=pr.Attribute(packet=ir.Local(slot=a), name=x),
                right=pr.Attribute(packet=ir.Local(slot=b), name=y),
            ) if x == y and x in ("at", "number") and op in ("<", "<=", ">", ">="):
                found.add((a, b) if op in ("<", "<=") else (b, a))
    return frozenset(found)


class Planner:
    """Plans for conjuncts about a new element in `slot`.

    `free`: the slots that an expression depends on; `text`: the same for terms that are the same. `packets`: the
    elements are packets, in their order. `in_order`: they must come in it, so only bounds on their position are used.
    """

    def __init__(
        self,
        slot: int,
        free: Callable[[ir.Node], frozenset[int]],
        text: Callable[[ir.Expr], str],
        packets: bool,
        in_order: bool,
        orders: Orders,
    ) -> None:
        self.slot, self.free, self.text = slot, free, text
        self.packets, self.in_order, self.orders = packets, in_order, orders

    def plan(self, conjuncts: list[ir.Expr]) -> Join:
        self.orders |= ordered(conjuncts)
        found, bounds = Join(), []
        for e in conjuncts:
            slots = self.free(e)
            if self.slot not in slots:
                found.guards.append(e)
            elif slots == {self.slot}:
                found.own.append(e)
            elif (key := self._key(e)) is not None:
                found.keys.append(key)
            elif (bound := self._bound(e)) is not None:
                bounds.append((e, *bound))
            else:
                found.rest.append(e)
        self._choose(found, bounds)
        return found

    def _choose(self, found: Join, bounds: list[tuple[ir.Expr, ir.Expr | None, Bound]]) -> None:
        """Bounds on one term only: the one with most of them, on both sides if possible; the others are tested."""
        groups: dict[str, list[tuple[ir.Expr, ir.Expr | None, Bound]]] = {}
        for one in bounds:
            groups.setdefault(ORDER if one[1] is None else self.text(one[1]), []).append(one)
        best = max(groups, key=lambda g: (len({b.op[0] for _, _, b in groups[g]}), g == ORDER), default=None)
        for group, members in groups.items():
            for e, term, bound in members:
                if group == best:
                    found.term = term
                    found.bounds.append(bound)
                else:
                    found.rest.append(e)

    def _key(self, e: ir.Expr) -> tuple[ir.Expr, ir.Expr] | None:
        if not isinstance(e, ir.Binary) or e.op != "==" or not isinstance(e.left.type, HASHABLE):
            return None
        if isinstance(e.left, ir.Ratio) or isinstance(e.right, ir.Ratio):
            return None
        for mine, other in ((e.left, e.right), (e.right, e.left)):
            if self.free(mine) == {self.slot} and self.slot not in self.free(other):
                return mine, other
        return None

    def _bound(self, e: ir.Expr) -> tuple[ir.Expr | None, Bound] | None:
        """(the term, None for ORDER; the bound)"""
        if not self.packets or not isinstance(e, ir.Binary) or e.op not in ("<", "<=", ">", ">="):
            return None
        for mine, other, op in ((e.left, e.right, e.op), (e.right, e.left, SWAPPED[e.op])):
            if isinstance(mine.type, ORDERED) and self.free(mine) == {self.slot} and self.slot not in self.free(other):
                return self._of(mine, Bound(op, other))
            if _difference(mine) and self.slot not in self.free(other):
                return self._apart(mine, op, other)
        return None

    def _of(self, term: ir.Expr, bound: Bound) -> tuple[ir.Expr | None, Bound] | None:
        match term:
            case pr.Attribute(packet=ir.Local(), name="at" | "number" as name):
                return None, replace(bound, name=name)
        return None if self.in_order else (term, bound)

    def _apart(self, e: ir.Expr, op: str, d: ir.Expr) -> tuple[ir.Expr | None, Bound] | None:
        """`a - b op d` where b is known not to be after a, so that the difference did not wrap."""
        assert isinstance(e, ir.Binary)
        later, earlier = e.left, e.right
        mine = later if self.free(later) == {self.slot} else earlier
        other = earlier if mine is later else later
        if self.free(mine) != {self.slot} or self.slot in self.free(other):
            return None
        if not self._known(earlier, later):
            return None
        if mine is later:
            return self._of(mine, Bound(op, other, shift=d))
        return self._of(mine, Bound(SWAPPED[op], other, sign="-", shift=d))

    def _known(self, earlier: ir.Expr, later: ir.Expr) -> bool:
        match earlier, later:
            case pr.Attribute(packet=ir.Local(slot=a), name="at"), pr.Attribute(packet=ir.Local(slot=b), name="at"):
                return (a, b) in self.orders
        return False


def _difference(e: ir.Expr) -> bool:
    """Is it one packet's time minus another's?"""
    match e:
        case ir.Binary(op="-", left=pr.Attribute(packet=ir.Local()) as a, right=pr.Attribute(packet=ir.Local()) as b):
            return a.name == "at" == b.name
    return False
