"""Packets that reach an outcome: from the state that a trace leaves, one more packet, whose bytes and time z3 finds."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Collection, Hashable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from polysome import smt
from polysome.config.tables import Tables
from polysome.engines.trace import Arrival, Trace
from polysome.interp.code import code_of
from polysome.interp.machine import Machine, Nowhere
from polysome.ir import program as ir
from polysome.ir import types as t
from polysome.symbolic.tables import concrete
from polysome.symbolic.values import TRUE, Term, conj, disj, neg, number
from polysome.testing.coverage.points import points
from polysome.testing.coverage.symbolic.execute import Executor
from polysome.testing.coverage.symbolic.machine_world import MachineWorld
from polysome.testing.coverage.symbolic.packet import AnyPacket

PATIENCE = 1000  # ms for one question
START = 1_700_000_000 * 10**9  # when a trace of one packet begins
DAY = 86_400 * 10**9


Way = tuple[int, Hashable]  # a statement of the typed program, and what happens there


@dataclass(frozen=True)
class Moment:
    """Behind a trace, when `events` more of what is due have happened. Without a trace: the start, with any config.

    `packets`: how many come next, one right after the other. `again`: stands for all moments behind the trace and its
    last packet some times more.
    """

    trace: Trace | None
    events: int = 0
    packets: int = 1
    again: bool = False


def ways(program: ir.Program, moment: Moment, taken: set[Way]) -> Iterator[Trace]:
    """Traces, one packet longer than the moment's, that each take a way through the spec that is not in `taken` yet.

    Ways tell apart the copies of an action, and how full a map is when it gets an entry: they lead to other states.
    """
    last = _Last(program, moment)
    if not last.possible:
        return
    for way, conditions in last.executor.ways.items():
        if way not in taken and (trace := last.first(conditions)) is not None:
            taken.add(way)
            yield trace


def patience(program: ir.Program, trace: Trace) -> int | None:
    """How long (ns) a packet behind the trace can wait so that nothing is due before it; None if nothing ever is."""
    machine, _ = _replayed(program, Moment(trace))
    due = machine.next_event(machine.clock.now + DAY)[0]
    return None if due is None else max(0, due - machine.clock.now - 1)


def solutions(program: ir.Program, moment: Moment, wanted: Collection[int]) -> Iterator[tuple[int, Trace]]:
    """For numbers of `wanted` (see `Points`) a trace that should reach it: the moment's and what comes next.

    A trace may fail to (hashes, sketches and the like are guessed): run it. What is reached by then may leave `wanted`
    meanwhile. One or two questions to z3 for each.
    """
    last = _Last(program, moment)
    for n in sorted(wanted) if last.possible else ():
        if n not in wanted:
            continue
        trace = last.reaching(n)
        if trace is not None:
            yield n, trace


class _Last:
    """The last packets of a trace, as terms; `executor` runs the last one."""

    def __init__(self, program: ir.Program, moment: Moment) -> None:
        self.program, self.moment = program, moment
        machine, values = _replayed(program, moment)
        self.times = [smt.BitVec(f"now{k}", 64) for k in range(moment.packets)]
        self.earliest = max(machine.clock.now, 0 if moment.trace is not None else START)
        due = machine.next_event(self.earliest + DAY)[0]
        self.latest = self.earliest + DAY if due is None else due - 1
        self.possible = self.latest >= self.earliest
        if not self.possible:
            return
        self.packets, self.solver = _frames(program, moment.packets)
        self.world = MachineWorld(machine, self.times[0], values)
        for packet, now in zip(self.packets, self.times, strict=True):
            self.world.now = now
            self.executor = _Behind(program, points(program), packet, self.world)
            self.executor.packet_handlers()
        self.executor.what_follows()
        while self.solver.num_scopes():
            self.solver.pop()
        self.solver.push()
        self.solver.add(*self.world.limits)
        for before, now in itertools.pairwise([smt.BitVecVal(self.earliest, 64), *self.times]):
            self.solver.add(smt.UGE(now, before), smt.ULE(now, self.latest))
        self.usual = smt.And(*(demand for packet in self.packets for demand in packet.usual))

    def reaching(self, n: int) -> Trace | None:
        """A trace for outcome n, by the packet itself or by what comes after it."""
        if (trace := self.first(self.executor.reached.get(n, []))) is not None:
            return trace
        for condition, delay in self.executor.later.get(n, []):
            if (model := self._model(condition)) is not None:
                return self._trace(model, delay)
        return None

    def first(self, conditions: list[Term]) -> Trace | None:
        """A trace whose last packet meets one of the conditions."""
        model = self._model(smt.Or(*conditions)) if conditions else None
        return None if model is None else self._trace(model, None)

    def _model(self, condition: Term) -> Term | None:
        for demands in ((condition, self.usual), (condition,)):
            self.solver.push()
            self.solver.add(*demands)
            model = self.solver.model() if self.solver.check() == smt.sat else None
            self.solver.pop()
            if model is not None:
                return model
        return None

    def _trace(self, model: Term, delay: int | None) -> Trace:
        added = [
            Arrival(number(model, packet.in_port), number(model, now), packet.frame(model))
            for packet, now in zip(self.packets, self.times, strict=True)
        ]
        if delay is not None:
            added.append(dataclasses.replace(added[-1], time=added[-1].time + delay))
        before = self.moment.trace
        if before is None:
            return Trace(_config(self.program, self.world, model), tuple(added))
        return Trace(before.config, (*before.arrivals, *added), before.changes)


@lru_cache(maxsize=8)
def _frames(program: ir.Program, count: int) -> tuple[list[AnyPacket], Term]:
    """So many packets of the program, to ports that it handles, and a solver that knows what frames are like."""
    solver = smt.Solver("QF_BV")
    solver.patience(PATIENCE)
    packets = [AnyPacket(program, points(program), f"{k}:") for k in range(count)]
    for packet in packets:
        solver.add(*packet.limits, *packet.layout)
        solver.add(disj(*(packet.in_port == port for h in program.packet_handlers for port in h.ports)))
    return packets, solver


class _Behind(Executor):
    """The handlers on one packet, then what its state leads to when time passes.

    `later[n]`: (condition, how long after the packet) under which outcome n happens; `ways`: conditions of ways.
    """

    world: MachineWorld

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.later: dict[int, list[tuple[Term, int]]] = {}
        self.ways: dict[Way, list[Term]] = {}
        self._depth = 0
        self.world.index_key = self._index_key  # type: ignore[method-assign]

    def note(self, number: int, condition: Term) -> None:
        super().note(number, condition)
        self.ways.setdefault((self.place, number), []).append(condition)

    def _index_key(self, index: ir.IndexDecl, key: Any, value: Any) -> Any:
        reached, self.reached = self.reached, {}
        found = self._over(index.key, {index.key_slot: key, index.value_slot: value})
        self.reached = reached
        return found

    def what_follows(self) -> None:
        """Timers, and the ends of all entries that are there now."""
        reached, self.reached = self.reached, {}
        ways, self.ways = self.ways, {}
        for timer in self.program.timers:
            self.locals = {}
            self.handler(timer, TRUE)
            self._afterwards(timer.period + 1)
        for handler in self.program.end_handlers.values():
            decl = self.program.state[handler.map]
            assert isinstance(decl, ir.MapDecl)
            for name, timeout in (("idle", decl.idle), ("age", decl.age)):
                if timeout is not None:
                    for there, key, value in self.world.entries(decl.name):
                        self.ended(decl, key, value, t.END.number(name), there)
                    self._afterwards(_longest(timeout) + 1)
        self.reached, self.ways = reached, ways

    def _afterwards(self, delay: int) -> None:
        for n, conditions in self.reached.items():
            self.later.setdefault(n, []).append((disj(*conditions), delay))
        self.reached = {}

    def put(self, state: str, key: Any, value: Any) -> None:
        decl = self.program.state[state]
        oldest = self.world.oldest(state) if isinstance(decl, ir.MapDecl) and decl.when_full == "evict" else None
        if oldest is not None and isinstance(decl, ir.MapDecl):
            before = self.guard
            self.ended(decl, *oldest, t.END.number("evicted"), conj(self.guard, self.world.full(state, key)))
            self.guard = before
        size = len(self.world.machine.states.objects[state])
        self.ways.setdefault((self.place, (state, size)), []).append(
            conj(self.guard, neg(self.world.get(state, key)[0]))
        )
        super().put(state, key, value)

    def ended(self, decl: ir.MapDecl, key: Any, value: Any, why: int | None, guard: Term) -> None:
        if self._depth < 2:  # an `on end` may end others
            self._depth += 1
            super().ended(decl, key, value, why, guard)
            self._depth -= 1


def _longest(timeout: ir.Timeout) -> int:
    if timeout.maximum is not None:
        return timeout.maximum
    assert isinstance(timeout.value, ir.Const)
    return int(timeout.value.value)


def _replayed(program: ir.Program, moment: Moment) -> tuple[Machine, Mapping[str, Any] | None]:
    """A machine as the moment finds it, and its config; None: it is still open."""
    trace = moment.trace
    if trace is None:
        return Machine(program, _Open(program), Nowhere(), code_of(program)), None
    machine = Machine(program, Tables(program, trace.config), Nowhere(), code_of(program))
    for change in trace.changes:
        machine.change_at(change.time, change.values)
    for arrival in trace.arrivals:
        machine.arrive(arrival.port, arrival.time, arrival.data)
    for _ in range(moment.events):
        due = machine.next_event(machine.clock.now + DAY)[0]
        if due is not None:
            machine.advance(due)
    values = dict(trace.config)
    for change in trace.changes:
        if change.time <= machine.clock.now:
            values |= change.values
    return machine, values


class _Open:
    """Tables of a config that is still open: empty, and 0."""

    def __init__(self, program: ir.Program) -> None:
        self.current: dict[str, Any] = dict.fromkeys(program.config, ())

    def replace(self, values: Mapping[str, Any]) -> None:
        raise AssertionError("nothing changes before the first packet")


def _config(program: ir.Program, world: MachineWorld, model: Term) -> dict[str, Any]:
    return {name: concrete(decl.type, world.chosen[name], model) for name, decl in program.config.items()}
