"""Which outcomes no packet can reach, whatever state and config hold."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from polysome import smt
from polysome.ir import program as ir
from polysome.ir import types as t
from polysome.ir.walk import walk
from polysome.symbolic.values import TRUE, Term
from polysome.testing.coverage.points import Point, points
from polysome.testing.coverage.symbolic.execute import Executor
from polysome.testing.coverage.symbolic.packet import AnyPacket
from polysome.testing.coverage.symbolic.world import FreeWorld

PATIENCE = 5000  # ms for one proof
NOTHING = "no packet, state or config leads there"


def unreachable(program: ir.Program, wanted: Collection[int]) -> dict[int, str]:
    """Those of the numbers (see `Points`) that are proved never to happen, and why.

    Every read of state and config may yield anything, so what remains may be reachable or not.
    """
    found = points(program)
    packet, world = AnyPacket(program, found), FreeWorld(program)
    executor = _Anywhere(program, found, packet, world)
    executor.everything()
    solver = smt.Solver("QF_BV")
    solver.patience(PATIENCE)
    solver.add(*packet.limits, *world.limits)
    never = [n for n in wanted if not _possible(solver, executor.reached.get(n, []))]
    constant = {n for point in found.points for n in _constant(point, executor.open)}
    own_params = any(name != "seed" for name in program.params)
    always = "it is constant" + (" with these params" if own_params else "")
    return {n: always if n in constant and n not in executor.reached else NOTHING for n in never}


def _possible(solver: Term, conditions: list[Term]) -> bool:
    """False only if none of the conditions can hold."""
    if not conditions:
        return False
    solver.push()
    solver.add(smt.Or(*conditions))
    found = solver.check()
    solver.pop()
    return bool(found != smt.unsat)


def _constant(point: Point, open_: Mapping[int, bool]) -> list[int]:
    """The outcomes of a point that is evaluated, and always to the same constant."""
    return [] if open_.get(point.first, True) else [point.first, point.first + 1]


class _Anywhere(Executor):
    """Every handler from any state. `open`: by first outcome, whether a point's condition is ever not a constant."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.open: dict[int, bool] = {}

    def decided(self, first: int | None, condition: Term) -> Term:
        condition = super().decided(first, condition)
        if first is not None:
            constant = smt.is_true(condition) or smt.is_false(condition)
            self.open[first] = self.open.get(first, False) or not constant
        return condition

    def everything(self) -> None:
        self.packet_handlers()
        program = self.program
        for handler in program.end_handlers.values():
            decl = program.state[handler.map]
            assert isinstance(decl, ir.MapDecl)
            key, value, why = handler.slots
            item = decl.value.item if isinstance(decl.value, t.FromPool) else decl.value
            reason = self.unknown(t.END)
            self.world.limits.append(smt.Or(*(reason == n for n in _reasons(program, decl))))
            self.locals = {key: self.unknown(decl.key), value: () if item is None else self.unknown(item), why: reason}
            self.handler(handler, TRUE)
        for timer in program.timers:
            self.locals = {}
            self.handler(timer, TRUE)

    def ended(self, *args: object) -> None:
        """`on end` runs by itself here."""


def _reasons(program: ir.Program, decl: ir.MapDecl) -> list[int]:
    """Why entries of a map can end."""
    names = [name for name, timeout in (("idle", decl.idle), ("age", decl.age)) if timeout is not None]
    if decl.when_full == "evict":
        names.append("evicted")
    bodies = [program.packet_handlers, program.end_handlers, program.timers]
    if any(isinstance(node, ir.MapRemove) and node.state == decl.name for node in walk(bodies)):
        names.append("removed")
    return [n for name, n in t.END.members if name in names]
