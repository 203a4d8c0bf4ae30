"""Expressions of the typed program where state, config and branch points count (see `symbolic.expressions`)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from polysome import smt
from polysome.ir import program as ir
from polysome.ir import types as t
from polysome.ir.fold import zero
from polysome.ir.value_places import owns
from polysome.kinds.state.token_bucket import FULL, SCALE
from polysome.symbolic.expressions import WIDE, Expressions, PacketTerms
from polysome.symbolic.terms import resized, width
from polysome.symbolic.values import (
    FALSE,
    TIME,
    TOKENS,
    TRUE,
    UNKNOWN,
    Boxed,
    Rows,
    Term,
    anything,
    bits,
    choose,
    conj,
    disj,
    lift,
    neg,
)
from polysome.testing.coverage.points import Points, operands
from polysome.testing.coverage.symbolic.world import World


class Evaluator(Expressions):
    """Terms of expressions, and under which conditions the outcomes of branch points happen on the way.

    `guard` is the condition under which the present place is reached; `traps` the conditions under which the present
    statement ends the handler; `reached[n]` all conditions under which outcome n happens.
    """

    def __init__(self, program: ir.Program, points: Points, packet: PacketTerms, world: World) -> None:
        super().__init__(program, packet)
        self.points, self.world = points, world
        self.guard: Term = TRUE
        self.traps: list[Term] = []
        self.reached: dict[int, list[Term]] = {}
        self.edits: dict[tuple[int, int], Term] = {}
        self._arrival = False

    # ------------------------------------------------------------ conditions

    def happens(self, number: int, condition: Term = TRUE) -> None:
        """Outcome `number` happens here under a condition."""
        whole = conj(self.guard, neg(disj(*self.traps)), condition)
        if not smt.is_false(whole):
            self.note(number, whole)

    def note(self, number: int, condition: Term) -> None:
        """Outcome `number` happens if the whole condition holds."""
        self.reached.setdefault(number, []).append(condition)

    def decided(self, first: int | None, condition: Term) -> Term:
        """The condition of a point whose outcomes are `first` (it holds) and the one after."""
        condition = smt.simplify(condition)
        if first is not None:
            self.happens(first, condition)
            self.happens(first + 1, neg(condition))
        return condition

    def trap(self, condition: Term) -> None:
        self.traps.append(conj(self.guard, condition))

    def unknown(self, type: t.Type) -> Any:
        """A value that may be anything of the type."""
        return anything(type, self.world.limits, len(self.program.ports))

    @contextmanager
    def guarded(self, condition: Term) -> Iterator[None]:
        before, self.guard = self.guard, conj(self.guard, condition)
        yield
        self.guard = before

    @contextmanager
    def arrival(self) -> Iterator[None]:
        before = self.guard, self._arrival
        self.guard, self._arrival = TRUE, True
        with super().arrival():
            yield
        self.guard, self._arrival = before

    def decision(self, e: ir.Choose, condition: Term) -> Term:
        return self.decided(self.points.first(e), condition)

    def operand(self, e: ir.Binary, side: ir.Expr, value: Term) -> Term:
        counted = any(side is c for c in operands(e))
        return self.decided(self.points.condition(side) if counted else None, value)

    def field(self, i: int, f: int) -> Term:
        if not self._arrival and (i, f) in self.edits:
            return self.edits[i, f]
        return super().field(i, f)

    # ------------------------------------------------------------ tables and state

    def other(self, e: ir.Expr) -> Any:
        match e:
            case ir.Config(name=name):
                return self.world.config(name)
            case ir.Now():
                return self.world.now
            case ir.ListIndex(table=table, index=i):
                return self._index(e, self.value(table), self.value(i), isinstance(table.type, t.Table))
            case ir.Length(table=table):
                rows = self.value(table)
                if isinstance(rows, Rows):
                    return rows.count(width(e.type))
                return self.world.unknown_length(table, width(e.type))
            case ir.StateRead(state=s):
                return self.world.scalar(s)
            case ir.ArrayRead(state=s, index=i):
                index = self.value(i)
                self.trap(self._beyond(s, index))
                return self.world.element(s, index)
            case ir.Contains(state=s, key=k, index=index_name):
                return self._contains(s, self.value(k), index_name)
            case ir.StateLen(state=s):
                return resized(self.world.length(s), width(e.type))
            case ir.MethodCall(state=s, args=args):
                return self._method(e, s, [self.value(a) for a in args])
            case ir.BucketOp():
                return self._bucket(e)
            case _:  # hashes, byte strings, what only the parser has
                return super().other(e)

    def _index(self, e: ir.ListIndex, rows: Any, index: Term, hashed: bool) -> Any:
        if not isinstance(rows, Rows):
            self.trap(self.unknown(t.BOOL))
            return self.unknown(e.type)
        size = index.size()
        if hashed:  # any row
            index = self.unknown(t.Bits(size))
            self.world.limits.append(disj(smt.ULT(index, rows.count(size)), rows.count(size) == 0))
        self.trap(neg(disj(*(conj(there, index == n) for n, (there, _, _) in enumerate(rows.rows)))))
        boxed = isinstance(e.type, t.Ref)
        value: Any = None
        for n, (_, _, row) in enumerate(rows.rows):
            value = row if value is None else choose(index == n, row, value)
        if value is None:
            return self.unknown(e.type)
        return Boxed(value) if boxed else value

    def _contains(self, state: str, key: Any, index: str | None) -> Term:
        if not isinstance(self.program.state[state], ir.MapDecl):
            found = self.world.holds(state, key)
            return self.unknown(t.BOOL) if found is None else found
        return (self.world.get(state, key) if index is None else self.world.find(state, index, key))[0]

    def _beyond(self, state: str, index: Term) -> Term:
        """Is the index past the end of an array?"""
        decl = self.program.state[state]
        assert isinstance(decl, ir.ArrayDecl)
        return FALSE if decl.size >> index.size() else smt.UGE(index, decl.size)

    def _method(self, e: ir.MethodCall, state: str, args: list[Any]) -> Any:
        if isinstance(self.program.state[state], ir.MapDecl):
            self.put(state, args[0], ())
            return ()
        found = self.world.call(conj(self.guard, neg(disj(*self.traps))), state, e.method, args)
        if e.type == t.Tuple(()):
            return ()
        return self.unknown(e.type) if found is None else found

    def put(self, state: str, key: Any, value: Any) -> None:
        """`m[k] = v`, and what the map computes of it."""
        raise NotImplementedError

    def _bucket(self, e: ir.BucketOp) -> Term:
        place = e.place
        key = self.value(place.key) if place.key is not None else None
        n, rate, burst = self.value(e.amount), self.value(e.rate), self.value(e.burst)
        whole = self._whole(place, key)
        bucket = _member(whole, place.path)
        if not self.world.exact or not isinstance(bucket, tuple):
            return self.unknown(t.BOOL)
        scale = bits(SCALE["packets" if e.rate.type == t.PACKETRATE else "bytes"], WIDE)
        held = self._refilled(bucket, resized(rate, WIDE), resized(burst, WIDE) * scale)
        wanted = resized(n, WIDE) * scale
        untouched = smt.is_bv_value(bucket[0]) and bucket[0].as_long() == FULL[0]
        there = smt.simplify(smt.UGE(resized(burst, WIDE), resized(n, WIDE)) if untouched else smt.UGE(held, wanted))
        if e.take:
            left = (smt.Extract(TOKENS - 1, 0, held - wanted), resized(self.world.now, TIME))
            self._store(place, key, _with_member(whole, place.path, choose(there, left, bucket)))
        return there

    def _refilled(self, bucket: tuple[Term, Term], rate: Term, full: Term) -> Term:
        """What the bucket holds now; one that was never used is full."""
        tokens, last = bucket
        if smt.is_bv_value(tokens) and tokens.as_long() == FULL[0]:
            return full
        held = resized(tokens, WIDE) + resized(self.world.now - last, WIDE) * rate
        return smt.If(smt.ULE(full, held), full, held)

    def _whole(self, place: ir.Place, key: Any) -> Any:
        """The value that a bucket is part of."""
        match self.program.state[place.state]:
            case ir.ScalarDecl():
                return self.world.scalar(place.state)
            case ir.ArrayDecl():
                self.trap(self._beyond(place.state, key))
                return self.world.element(place.state, key)
            case _:
                return self.present(place.state, key)

    def present(self, state: str, key: Any) -> Any:
        """An entry's value, or the initial one (L7.3)."""
        decl = self.program.state[state]
        assert isinstance(decl, ir.MapDecl) and decl.value is not None
        found, value = self.world.get(state, key)
        if owns(decl.value):
            self.trap(neg(found))
            return value
        return choose(found, value, lift(decl.value, zero(decl.value)))

    def _store(self, place: ir.Place, key: Any, value: Any) -> None:
        if isinstance(self.program.state[place.state], ir.MapDecl):
            self.put(place.state, key, value)
        else:
            self.world.write(self.guard, place.state, key, value)


def _member(value: Any, path: tuple[int, ...]) -> Any:
    for i in path:
        value = value[i] if isinstance(value, tuple) else UNKNOWN
    return value


def _with_member(value: Any, path: tuple[int, ...], new: Any) -> Any:
    if not path:
        return new
    i = path[0]
    return (*value[:i], _with_member(value[i], path[1:], new), *value[i + 1 :])
