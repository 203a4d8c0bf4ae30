"""What each path through the packet handlers costs in generated C++: the interpreter says which packets take it, and
the instructions that the C++ executes for one of them are counted and analysed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from polysome.backends.cost.analyser import Processor, processor
from polysome.backends.cost.packet_cost import PacketCost, costs
from polysome.backends.cost.tracing import Arrival, Recording, Run, recorded
from polysome.backends.nf_cpp.config_blob import encode
from polysome.backends.nf_cpp.sizes import sizes
from polysome.testing.coverage.points import Outcome
from polysome.testing.packet_paths import Example, Path, examples, telling
from polysome.testing.spec import Spec

TRACES = 9  # of 128 packets at most; with those for small state, about 1000 packets
_CANDIDATES = 5  # packets of one path that are recorded


@dataclass(frozen=True)
class PathCost:
    """A path, what it costs, and the packet of which that is true: `headers`, the numbers of its instances; `small`: it
    was found with room for a few entries only. `seen`: how many generated packets took the path.
    """

    path: Path
    cost: PacketCost
    headers: tuple[int, ...]
    small: bool
    seen: int


@dataclass(frozen=True)
class Costs:
    """All paths that generated packets take, as `processor` would execute them. `missed`: outcomes on no path."""

    spec: Spec
    processor: Processor
    paths: tuple[PathCost, ...]
    missed: tuple[Outcome, ...]


def path_costs(spec: Spec) -> Costs:
    """Deterministic but for the compiler. Raises CostError, types_code.Unsupported; `tracing.missing` must be None."""
    found = examples(spec, 0, TRACES)
    chosen = {path: _candidates(those) for path, those in found.items()}
    runs, order = _runs([one for those in chosen.values() for one in those])
    model = processor()
    with recorded(spec.program, runs) as recording:
        best = [_best(recording, [order[id(one)] for one in those]) for those in chosen.values()]
        done = costs(recording, [recording.packets[n] for n in best], model)
    by_number = {order[id(one)]: one for those in chosen.values() for one in those}
    paths = [
        PathCost(path, cost, by_number[n].headers, by_number[n].small, len(found[path]))
        for path, cost, n in zip(chosen, done, best, strict=True)
    ]
    taken = {number for path in found for number in path.outcomes}
    missed = tuple(o for o in telling(spec.program) if o.number not in taken)
    return Costs(spec, model, tuple(sorted(paths, key=_order)), missed)


def _order(one: PathCost) -> tuple[int, bool, int, str, tuple[int, ...], str]:
    """By handler; what is sent, then what is dropped; by the place that decides, then as the branches stand."""
    path, verdict = one.path, one.path.verdict
    place = (verdict.start, verdict.file) if verdict is not None else (1 << 32, path.reason or "")
    return path.handler, path.reason is not None, *place, path.outcomes, repr(path.changes)


def _candidates(those: Sequence[Example]) -> list[Example]:
    """Of the usual kind: state of the declared size, few headers but some; late in their traces, when nothing happens
    for the first time any more.
    """

    def kind(one: Example) -> tuple[bool, bool, int, tuple[int, ...]]:
        return one.small, not one.headers, len(one.headers), one.headers

    usual = min(map(kind, those))
    return sorted((one for one in those if kind(one) == usual), key=lambda one: -one.packet)[:_CANDIDATES]


def _best(recording: Recording, numbers: Sequence[int]) -> int:
    """The packet with the fewest instructions: what is done only once, as a first allocation, is left out."""
    return min(numbers, key=lambda n: len(recording.packets[n]))


def _runs(those: Sequence[Example]) -> tuple[list[Run], dict[int, int]]:
    """One run for each trace, and for each example, by identity, the number of its packet among all that are traced."""
    traces: dict[int, list[Example]] = {}
    for one in those:
        traces.setdefault(id(one.trace), []).append(one)
    runs: list[Run] = []
    order: dict[int, int] = {}
    for group in traces.values():
        program, trace = group[0].program, group[0].trace
        group.sort(key=lambda one: one.packet)
        wanted = {one.packet for one in group}
        for one in group:
            order[id(one)] = len(order)
        packets = tuple(
            Arrival(a.port, a.time, a.data, n in wanted) for n, a in enumerate(trace.arrivals[: max(wanted) + 1])
        )
        changes = tuple((c.time, encode(program, c.values)) for c in trace.changes)
        runs.append(Run(encode(program, trace.config), sizes(program), changes, packets))
    return runs, order
