"""The paths that packets take through the handlers of a spec, found by running the interpreter on generated traffic.

A path is what the spec's own branches decide: which way every `if`, `require`, lookup and loop went, what that did to
maps, and the verdict. Operands of `and` and `or`, branches of functions (`fn`), and what the compiler makes by itself
tell no paths apart.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from polysome.config.tables import Tables
from polysome.engines.trace import Trace
from polysome.interp.machine import Machine, Nowhere
from polysome.interp.packet import Packet
from polysome.interp.state import States
from polysome.ir import program as ir
from polysome.ir.walk import walk
from polysome.kinds.state.flow_map import EVICTED, Entry, FlowMap
from polysome.syntax.spans import Span
from polysome.testing import traffic
from polysome.testing.coverage.counting import counting
from polysome.testing.coverage.points import Outcome, kind_of, points
from polysome.testing.spec import Spec

_KINDS = ("if", "require", "lookup", "loop")
_VERDICTS = ir.Send | ir.Bounce | ir.Drop


@dataclass(frozen=True)
class Path:
    """One path through packet handler `handler` (its number).

    `outcomes`: numbers of `coverage.points.Points`, ascending: their order in the source. `changes`: what maps went
    through, in order, as (`insert`, `overwrite`, `evict` or `end`, the map). `reason`: why the packet was dropped, None
    if it was sent. `verdict`: the statement that decided, None if none did, or if the last line that ran has several.
    """

    handler: int
    outcomes: tuple[int, ...]
    changes: tuple[tuple[str, str], ...]
    reason: str | None
    verdict: Span | None


@dataclass(frozen=True)
class Example:
    """A packet that took a path: packet `packet` of `trace`. `headers`: the numbers of its headers' instances.

    `program`: the one that ran; `small`: its state has room for a few entries only.
    """

    program: ir.Program
    small: bool
    trace: Trace
    packet: int
    headers: tuple[int, ...]


def examples(spec: Spec, seed: int, traces: int) -> dict[Path, list[Example]]:
    """Packets by path, from `traces` generated traces and a third as many for small state. Deterministic."""
    found: dict[Path, list[Example]] = {}
    for of, count in ((spec, traces), (spec.small(), traces // 3)):
        for trace in traffic.seeded(of, seed, most=traffic.MOST, count=count):
            for path, example in followed(of.program, trace, of is not spec):
                found.setdefault(path, []).append(example)
    return found


def followed(program: ir.Program, trace: Trace, small: bool = False) -> Iterator[tuple[Path, Example]]:
    """The paths of a trace's packets, without those that no handler sees or that a handler sends but are too short."""
    machine = _Follower(program, trace)
    for change in trace.changes:
        machine.change_at(change.time, change.values)
    for number, arrival in enumerate(trace.arrivals):
        machine.path = None
        machine.arrive(arrival.port, arrival.time, arrival.data)
        if machine.path is not None:
            yield machine.path, Example(program, small, trace, number, machine.headers)


def telling(program: ir.Program) -> tuple[Outcome, ...]:
    """The outcomes that tell paths apart: of points that stand in packet handlers or actions, not in fns."""
    found = points(program)
    nodes = [n for n in walk([h.body for h in program.packet_handlers]) if kind_of(program, n) in _KINDS]
    first = {found.first(node) for node in (*nodes, program.contract) if node is not None}
    return tuple(o for o in found.outcomes if o.point.first in first)


class _NotedMap(FlowMap):
    """Tells what happens to its entries."""

    note: Callable[[tuple[str, str]], None]

    def _insert(self, key: Any, value: Any, index_keys: Any) -> None:
        self.note(("insert", self.name))
        super()._insert(key, value, index_keys)

    def _overwrite(self, entry: Entry, value: Any, index_keys: Any) -> None:
        self.note(("overwrite", self.name))
        super()._overwrite(entry, value, index_keys)

    def _end(self, entry: Entry, why: int) -> None:
        self.note(("evict" if why == EVICTED else "end", self.name))
        super()._end(entry, why)


class _NotedStates(States):
    map_type = _NotedMap


class _Follower(Machine):
    """Notes the path of each packet while its handler runs."""

    states_type = _NotedStates

    def __init__(self, program: ir.Program, trace: Trace) -> None:
        self._counting = counting(program)
        super().__init__(program, Tables(program, trace.config), Nowhere(), self._counting.generated)
        self.path: Path | None = None
        self.headers: tuple[int, ...] = ()
        self._changes_of_maps: list[tuple[str, str]] = []
        for m in self.states.maps:
            assert isinstance(m, _NotedMap)
            m.note = self._changes_of_maps.append
        self._telling = [o.number for o in telling(program)]
        verdicts = [n for n in walk([h.body for h in program.packet_handlers]) if isinstance(n, _VERDICTS)]
        self._verdicts = [(points(program).line(s), s) for s in verdicts]
        self._number = {port: i for i, h in enumerate(program.packet_handlers) for port in h.ports}

    def _decide(self, p: Packet, handler: Callable[[Packet], Any]) -> Any:
        self._counting.taken()
        self._changes_of_maps.clear()
        verdict = super()._decide(p, handler)
        counts = self._counting.taken()
        took = tuple(n for n in self._telling if counts[n])
        self.headers = tuple(p.path)
        said = [(n, s.span) for n, s in self._verdicts if counts[n] and _says(s, verdict, p.in_port)]
        reason = verdict if isinstance(verdict, str) else None
        last = {span for n, span in said if n == max(said)[0]}  # nothing ran after it
        at = last.pop() if len(last) == 1 else None
        if reason is not None or not p.short:
            self.path = Path(self._number[p.in_port], took, tuple(self._changes_of_maps), reason, at)
        return verdict


def _says(s: ir.Statement, verdict: int | frozenset[int] | str, in_port: int) -> bool:
    """Can this statement have given the verdict?"""
    match s:
        case ir.Drop(reason=reason):
            return reason == verdict
        case ir.Bounce():
            return verdict == in_port
        case ir.Send(target=ir.Const(value=port)):
            return bool(port == verdict)
        case _:
            return not isinstance(verdict, str)
