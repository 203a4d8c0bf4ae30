"""Quantifiers and aggregates to Python functions that find their elements by index (`judge.joins`)."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from polysome.ir import program as ir
from polysome.ir import properties as pr
from polysome.ir import types as t
from polysome.testing.judge.conditions import alternatives, conjuncts
from polysome.testing.judge.functions import INDENT, Functions
from polysome.testing.judge.joins import HASHABLE, Bound, Join, Orders, Planner
from polysome.testing.judge.operators import Code

VALUES = "values"
Emit = Callable[[str | None], list[str]]  # lines for a found element; None: for `b.items[i:j]` as a whole


def indented(lines: list[str]) -> list[str]:
    return [INDENT + line for line in lines]


def guarded(tests: list[str], lines: list[str]) -> list[str]:
    """The lines, if all tests are true; what is quick to test is tested first."""
    return [f"if {' and '.join(sorted(tests, key=_cost))}:", *indented(lines)] if tests else lines


def _cost(test: str) -> int:
    """Look-ups before questions to the View before quantifiers."""
    return 2 if _QUANTIFIER.search(test) else int("V." in test)


_QUANTIFIER = re.compile(r"\bq\d+\(")


@dataclass(frozen=True)
class Access:
    """How a bucket is reached: `table.get(key)`, and what is left to test of its elements."""

    bucket: str
    rest: list[ir.Expr]


class Loops:
    """Writes functions for one property."""

    def __init__(self, code: Functions) -> None:
        self.c = code

    # ------------------------------------------------------------ quantifiers and aggregates

    def call(self, e: pr.Quantified | pr.Aggregate) -> Code:
        """A call of the function for `e`, with what it needs from outside."""
        c = self.c
        c.kinds[e.slot] = e.domain.kind
        with c.inside((e.slot,)) as context:
            body = self._quantified(e) if isinstance(e, pr.Quantified) else self._aggregate(e)
        name = c.function("q", ", ".join(context.params.values()), body)
        return Code(f"{name}({', '.join(context.params)})", isinstance(e, pr.Aggregate) and e.op in ("min", "max"))

    def _quantified(self, e: pr.Quantified) -> list[str]:
        found = e.kind == "exists"
        lines: list[str] = []
        for either in alternatives(e.condition, negated=not found):
            lines += self.scan(
                e, either, lambda element: [f"return {found}"] if element else [f"if i < j: return {found}"]
            )
        return [*lines, f"return {not found}"]

    def _aggregate(self, e: pr.Aggregate) -> list[str]:
        c = self.c
        where = conjuncts(e.where)
        mine = e.value is None or c.free(e.value) == {e.slot}
        nothing = {"min": "None", "max": "None"}.get(e.op, "0")

        singly = False

        def emit(element: str | None) -> list[str]:
            nonlocal singly
            if element is None:
                return [f"return {self._over(e)}"]
            singly = True
            if e.value is None:
                return ["r += 1"]
            value = c.value(e.value)
            return [f"v = {value.text}", f"{'if v is not None: ' if value.maybe else ''}r.append(v)"]

        lines = self.scan(e, where, emit, whole=mine)
        if not singly:
            return [*lines, f"return {nothing}"]
        if e.value is None:
            return ["r = 0", *lines, "return r"]
        return ["r = []", *lines, f"return {_wrapped(e, f'aggregate({e.op!r}, r)')}"]

    def _over(self, e: pr.Aggregate) -> str:
        """The aggregate over `b.items[i:j]`."""
        if e.value is None:
            return "max(0, j - i)"
        with self.c.inside((e.slot,), {e.slot: "x"}):
            value = self.c.value(e.value)
        function = self.c.function("f", "x", [f"return {value.text}"])
        method = {"sum": "total", "min": "least", "max": "largest", "distinct": "different"}[e.op]
        return _wrapped(e, f"b.{method}(i, j, {function})")

    # ------------------------------------------------------------ one domain

    def scan(self, e: pr.Quantified | pr.Aggregate, where: list[ir.Expr], emit: Emit, whole: bool = True) -> list[str]:
        """Lines that run over the elements with all of `where`.

        `emit(name)` is what to do with an element, `emit(None)` with all of `b.items[i:j]`, if `whole` allows that.
        """
        c = self.c
        packets = e.domain.kind != VALUES
        join = self.planner(e.slot, packets, False, frozenset()).plan(where)
        guards = [c.test(g) for g in join.guards]
        if not packets:
            return guarded(guards, self._over_values(e, join, emit))
        access = self._access(e.slot, e.domain.kind, join, self._kept(e, join))
        bounds = self.bounds(join, e.domain.kind)
        if not access.rest and whole:
            inner = emit(None)
        else:
            tests = [c.test(r) for r in access.rest]
            inner = [f"for s{e.slot} in b.items[i:j]:", *indented(guarded(tests, emit(f"s{e.slot}")))]
        return guarded(guards, [f"b = {access.bucket}", "if b is not None:", *indented([*bounds, *inner])])

    def planner(self, slot: int, packets: bool, in_order: bool, orders: Orders) -> Planner:
        return Planner(slot, self.c.free, lambda e: self._own(slot, e).text, packets, in_order, orders)

    def _own(self, slot: int, e: ir.Expr) -> Code:
        """Code for a term of the element `x`."""
        with self.c.inside((slot,), {slot: "x"}):
            return self.c.value(e)

    def _over_values(self, e: pr.Quantified | pr.Aggregate, join: Join, emit: Emit) -> list[str]:
        """A list, set or map."""
        c = self.c
        assert e.domain.source is not None
        source = self.collection(e.domain.source)
        inner = emit(f"s{e.slot}")
        if join.keys and all(isinstance(mine.type, HASHABLE) for mine, _ in join.keys):
            index = c.memo("Indexes", self._index(e.slot, "source", join))
            key = self._key(join)
            tests = guarded([c.test(r) for r in join.rest], inner)
            lines = [f"b = {index}.of(z).get({key})", "if b is not None:"]
            lines += indented([f"for s{e.slot} in b.items:", *indented(tests)])
        else:
            equal = [self._equal(mine, other) for mine, other in join.keys]
            tests = guarded([*(c.test(r) for r in join.own), *equal, *(c.test(r) for r in join.rest)], inner)
            lines = [f"for s{e.slot} in z:", *indented(tests)]
        return [f"z = {source.text}", *(guarded(["z is not None"], lines) if source.maybe else lines)]

    def collection(self, source: ir.Expr) -> Code:
        """What can be run over: of maps, their entries."""
        code = self.c.value(source)
        if not isinstance(source.type, t.Table):
            return code
        return Code(self.c.defined([code], lambda s: f"{s}.pairs"), code.maybe)

    def _equal(self, mine: ir.Expr, other: ir.Expr) -> str:
        return self.c.test(ir.Binary(mine.span, t.BOOL, "==", mine, other))

    # ------------------------------------------------------------ indexes

    def _index(self, slot: int, domain: str, join: Join, term: ir.Expr | None = None) -> str:
        """A function that makes the buckets of a domain by the join's key, sorted by `term`."""
        c = self.c
        with c.inside((slot,), {slot: "x"}):
            tests = [c.test(o) for o in join.own]
            keys = [c.value(mine) for mine, _ in join.keys]
            key = c.defined(keys, lambda *a: a[0] if len(a) == 1 else f"({', '.join(a)})") if keys else "()"
        if not tests and not keys and term is None:
            return c.function("i", "_", [f"return {{(): Bucket({domain})}}"])
        lines = ["keys = []; items = []", f"for x in {domain}:"]
        lines += indented(guarded(tests, [f"keys.append({key}); items.append(x)"]))
        if term is None:
            result = "buckets(keys, items)"
        else:
            value = c.function("f", "x", [f"return {self._own(slot, term).text}"])
            result = f"{{k: by(b.items, {value}) for k, b in buckets(keys, items).items()}}"
        return c.function("i", "source" if domain == "source" else "_", [*lines, f"return {result}"])

    def _key(self, join: Join) -> str:
        """What is looked up."""
        others = [self.c.value(other).text for _, other in join.keys]
        return "()" if not others else others[0] if len(others) == 1 else f"({', '.join(others)})"

    def _access(self, slot: int, kind: str, join: Join, keep: bool) -> Access:
        """The bucket; with `keep`, of those elements that pass the rest too, kept for the next time."""
        c = self.c
        index = c.memo("Column", self._index(slot, f"ALL_{kind}", join, join.term))
        key = self._key(join)
        if keep:
            with c.inside((slot,), {slot: "x"}) as context:
                tests = [c.test(r) for r in join.rest]
            names = ", ".join(["k", *context.params.values()])
            if all(isinstance(type, HASHABLE) for type in context.types):
                body = [
                    f"{names}, = a",
                    f"b = {index}[0].get(k)",
                    "if b is None: return None",
                    f"m = [{' and '.join(tests)} for x in b.items]",
                    "if b.keys is b.items: return Bucket(list(compress(b.items, m)))",
                    "return Bucket(list(compress(b.items, m)), list(compress(b.keys, m)))",
                ]
                table = c.memo("Recent", c.function("k", "a", body))
                return Access(f"{table}[{', '.join([key, *context.params])},]", [])
        return Access(f"{index}[0].get({key})", join.rest)

    def bucket(self, slot: int, kind: str, join: Join) -> str:
        """The bucket, of which the join's rest is still to be tested."""
        return self._access(slot, kind, join, keep=False).bucket

    def _kept(self, e: pr.Quantified | pr.Aggregate, join: Join) -> bool:
        """Is it worth to keep what passes the rest? If that does not depend on the innermost name outside."""
        outside = self.c.free(e)
        inside = frozenset().union(*map(self.c.free, join.rest)) - {e.slot}
        return bool(inside) and max(outside) not in inside

    # ------------------------------------------------------------ bounds

    def bounds(self, join: Join, kind: str, previous: str | None = None) -> list[str]:
        """Lines that set i and j, the part of bucket b within the bounds and behind packet `previous`."""
        prefix = "E" if kind == "emitted" else "T"
        if join.term is not None:
            lines = ["i = 0; j = len(b.items)"]
            for bound in join.bounds:
                lines += self._bisected(bound, "b.keys", "i", "j")
            return lines
        if not join.bounds and previous is None:
            return ["i = 0; j = len(b.items)"]
        lines = [f"i = {previous} + 1" if previous is not None else "i = 0", f"j = COUNT_{kind}"]
        for bound in join.bounds:
            lines += self._bisected(bound, "" if bound.name == "number" else f"{prefix}_at", "i", "j")
        return [*lines, "i = bisect_left(b.items, i); j = bisect_left(b.items, j)"]

    def _bisected(self, bound: Bound, keys: str, low: str, high: str) -> list[str]:
        """i or j by one bound on the sorted `keys`, or if there are none on the position itself."""
        limit = self.c.value(bound.limit)
        if bound.shift is not None:
            codes = [limit, self.c.value(bound.shift)]
            limit = Code(self.c.defined(codes, lambda x, d: f"({x} {bound.sign} {d})"), any(c.maybe for c in codes))
        after = bound.op in (">", "<=")  # equal ones are before the place
        position = "z + 1" if after else "z"
        place = f"bisect_{'right' if after else 'left'}({keys}, z)" if keys else position
        name, choose = (low, "max") if bound.op in (">", ">=") else (high, "min")
        line = f"{name} = {choose}({name}, {place})"
        if limit.maybe:
            return [f"z = {limit.text}", f"if z is None: {high} = 0", f"else: {line}"]
        return [f"z = {limit.text}", line]


def _wrapped(e: pr.Aggregate, text: str) -> str:
    """Sums wrap like `+`."""
    return f"{text} & {(1 << (t.width(e.type) or 64)) - 1}" if e.op == "sum" else text
