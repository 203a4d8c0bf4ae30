"""One run as the generated code of properties sees it: lists by packet number, packets parsed, state around packets."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping
from functools import cached_property, partial
from typing import Any

from polysome.config.tables import Tables
from polysome.engines.history import LENGTH, End, History
from polysome.interp import support as interp_support
from polysome.interp.packet import Packet, read_bits
from polysome.ir import program as ir
from polysome.ir import types as t
from polysome.ir.fold import zero
from polysome.kinds.base import Trap
from polysome.kinds.state import token_bucket
from polysome.kinds.values import ABSENT, Row, plain
from polysome.testing.execution import Execution
from polysome.testing.judge import checksums
from polysome.testing.judge.outputs import Outputs
from polysome.testing.judge.parsing import parse, spec_functions
from polysome.testing.judge.support import Bucket, Column


class View:
    """What happened in `execution`, in the form that is quick to ask; everything is made at its first use.

    Packets are their numbers, emitted packets too. Undefined is None.
    """

    def __init__(self, program: ir.Program, execution: Execution) -> None:
        self.program = program
        self.execution = execution
        self.record = execution.record
        self.fates = execution.record.fates
        self.made = execution.record.emitted
        self.functions = spec_functions(program)
        self.seen = {"in": Column(self._seen_in), "out": Column(self._seen_out), "emitted": Column(self._seen_emitted)}
        self._configs: dict[int, tuple[Mapping[str, Any], dict[str, Any]]] = {}
        self._entries: dict[tuple[str, int], tuple[Any, ...]] = {}
        self._passed: dict[str, dict[Any, Bucket]] = {}
        self._gaps: dict[tuple[Any, int], list[int]] = {}
        self._runs: dict[Any, Outputs] = {}
        self._ends: dict[tuple[tuple[str, ...], Any, int | None], list[int]] = {}
        self._right = {side: Column(partial(self._all_right, side)) for side in self.seen}

    # ------------------------------------------------------------ packets

    @cached_property
    def lists(self) -> dict[str, list[Any]]:
        """Attributes of the packets of the trace, by number."""
        fates, changes = self.fates, [change.time for change in self.record.trace.changes]
        return {
            "at": [f.at for f in fates],
            "sent": [f.sent for f in fates],
            "dropped": [f.dropped for f in fates],
            "held": [f.held for f in fates],
            "reason": [f.reason for f in fates],
            "left": [f.copies[0].time if f.copies else None for f in fates],
            "place": [f.copies[0].place if f.copies else None for f in fates],
            "ports": [frozenset(c.port for c in f.copies) for f in fates],
            "out_port": [_only(frozenset(c.port for c in f.copies)) for f in fates],
            "class": [f.order_class for f in fates],
            "in_port": [f.arrival.port for f in fates],
            "changes": [bisect_right(changes, f.at) for f in fates],
        }

    @cached_property
    def made_lists(self) -> dict[str, list[Any]]:
        """Attributes of what was emitted."""
        return {
            "at": [m.time for m in self.made],
            "port": [m.port for m in self.made],
            "cause": [m.cause for m in self.made],
        }

    def frame(self, side: str, number: int) -> bytes | None:
        """The bytes of a packet; None if it was not sent."""
        if side == "emitted":
            return self.made[number].data
        fate = self.fates[number]
        if side == "in":
            return fate.arrival.data
        return fate.copies[0].data if fate.copies else None

    def _seen_in(self, number: int) -> Packet:
        arrival = self.fates[number].arrival
        return parse(self.program, arrival.port, arrival.data)

    def _seen_out(self, number: int) -> Packet | None:
        fate = self.fates[number]
        return parse(self.program, fate.arrival.port, fate.copies[0].data) if fate.copies else None

    def _seen_emitted(self, number: int) -> Packet:
        return parse(self.program, self.made[number].port, self.made[number].data)

    def written(self, number: int, header: str, field: int | None) -> Any:
        """A field of the first such header of an emitted packet; its headers have no options, so they are fixed."""
        made, bit = self.made[number], 0
        if made.headers is None:
            return None
        for name, _ in made.headers:
            decl = self.program.headers[name]
            if name == header:
                if field is None:
                    return True
                f = decl.fields[field]
                value = read_bits(made.data, bit + f.offset, f.width, len(made.data))
                return value != 0 if isinstance(f.type, t.Bool) else value
            bit += decl.fixed * 8
        return False if field is None else None

    def checksums_valid(self, side: str, number: int) -> bool:
        """Are all checksums right? A packet that was not sent has none that are."""
        found: bool = self._right[side][number]
        return found

    def _all_right(self, side: str, number: int) -> bool:
        return checksums.right(self.program, self.frame(side, number), self.seen[side][number])

    # ------------------------------------------------------------ state and config

    @property
    def history(self) -> History:
        assert self.record.history is not None  # properties that look into state are skipped without
        return self.record.history

    def value(self, stamp: int, state: str) -> Any:
        """A scalar, or a copy of an object."""
        return _defined(self.history.read(stamp, state, "", None))

    def element(self, stamp: int, state: str, index: int | None) -> Any:
        """Of an array; undefined past its end."""
        decl = self.program.state[state]
        assert isinstance(decl, ir.ArrayDecl)
        if index is None or index >= decl.size:
            return None
        found = self.history.read(stamp, state, "", index)
        return decl.initial if found is ABSENT else plain(found)

    def length(self, stamp: int, state: str) -> int:
        return int(_defined(self.history.read(stamp, state, LENGTH, None)) or 0)

    def free(self, stamp: int, state: str, partition: Any) -> int | None:
        """Values left in a pool, in a partition."""
        found = self.history.read(stamp, state, LENGTH, partition)
        left: int | None = _defined(self.history.read(stamp, state, LENGTH, ...) if found is ABSENT else found)
        return left

    def holds(self, stamp: int, state: str, index: str | None, key: Any) -> bool:
        """Is the key in a map, set, index or filter? None is in nothing."""
        if key is None:
            return False
        if isinstance(self.program.state[state], ir.MapDecl):
            return self.history.read(stamp, state, index or "", key) is not ABSENT
        return key in self.value(stamp, state)

    def entry(self, stamp: int, state: str, key: Any) -> Any:
        """The value of a map's entry."""
        found: Any = ABSENT if key is None else self.history.read(stamp, state, "", key)
        return None if found is ABSENT else plain(found[1])

    def indexed(self, stamp: int, state: str, index: str, key: Any) -> Any:
        """(key, value) of the entry that an index leads to."""
        found = ABSENT if key is None else self.history.read(stamp, state, index, key)
        return None if found is ABSENT else plain(found)

    def entries(self, stamp: int, state: str) -> tuple[Any, ...]:
        """All that a map, set or `top_k` holds; the same object as long as nothing changes."""
        decl = self.program.state[state]
        if not isinstance(decl, ir.MapDecl):
            return tuple(self.value(stamp, state))
        version = self.history.writes(stamp, state)
        found = self._entries.get((state, version))
        if found is None:
            pairs = self.history.entries(stamp, state)
            found = tuple(key for key, _ in pairs) if decl.value is None else tuple(plain(pair) for pair in pairs)
            self._entries[state, version] = found
        return found

    def call(self, stamp: int, state: str, method: str, *args: Any) -> Any:
        """A method that only looks."""
        if None in args:
            return None
        try:
            return plain(getattr(self.value(stamp, state), method)(*args))
        except Trap:
            return None

    def bucket_has(self, number: int, stamp: int, place: tuple[str, Any, tuple[int, ...]], *amounts: Any) -> Any:
        """Does the bucket at (state, key, path) hold n (n, rate, burst, unit in `amounts`)? A new one is full."""
        state, key, path = place
        decl = self.program.state[state]
        if None in amounts or (key is None and not isinstance(decl, ir.ScalarDecl)):
            return None
        match decl:
            case ir.ScalarDecl():
                whole = self.value(stamp, state)
            case ir.ArrayDecl():
                whole = self.element(stamp, state, key)
            case _:
                assert isinstance(decl, ir.MapDecl) and decl.value is not None
                whole = self.entry(stamp, state, key)
                whole = zero(decl.value) if whole is None else whole
        if whole is None:
            return None
        n, rate, burst, unit = amounts
        bucket = interp_support.member(whole, path)
        return token_bucket.has(bucket, self.fates[number].at, n, rate, burst, token_bucket.SCALE[unit])

    def config(self, stamp: int) -> dict[str, Any]:
        """The config, with plain values for rows."""
        current = self.first_config if self.record.history is None else self.history.config(stamp)
        found = self._configs.get(id(current))
        if found is None:
            found = self._configs[id(current)] = (current, {name: _unrowed(v) for name, v in current.items()})
        return found[1]

    @cached_property
    def first_config(self) -> Mapping[str, Any]:
        """The config before the first packet, of engines that do not tell."""
        tables, trace = Tables(self.program, self.record.trace.config), self.record.trace
        for change in trace.changes:
            if trace.arrivals and change.time <= trace.arrivals[0].time:
                tables.replace(change.values)
        return tables.current

    # ------------------------------------------------------------ the trace as a whole

    @cached_property
    def flow(self) -> Column:
        """The flow of a packet as it arrived."""
        value = self.functions[f"value_{list(self.program.parser.values).index('flow')}"]
        seen = self.seen["in"]

        def compute(number: int) -> Any:
            try:
                return value(seen[number])
            except Trap:
                return None

        return Column(compute)

    def passed(self, unit: str, by: str, key: Any, low: Any, high: Any) -> int | None:
        """Bytes or packets of a flow or class that left from `low` to before `high`. O(log n)."""
        if key is None or low is None or high is None:
            return None
        if by not in self._passed:
            self._passed[by] = self._leaving(self.lists["class"] if by == "class" else self.flow)
        found = self._passed[by].get(key)
        if found is None:
            return 0
        i, j = bisect_left(found.keys, low), bisect_left(found.keys, high)
        return max(0, j - i) if unit == "packets" else found.total(i, j, self._sent_length)

    def _leaving(self, keys: Any) -> dict[Any, Bucket]:
        """Packets that left by key, in order of their time of leaving."""
        left = self.lists["left"]
        found: dict[Any, list[tuple[int, int]]] = {}
        for number, time in enumerate(left):
            if time is not None and keys[number] is not None:
                found.setdefault(keys[number], []).append((time, number))
        return {
            key: Bucket([number for _, number in sorted(mine)], sorted(time for time, _ in mine))
            for key, mine in found.items()
        }

    def _sent_length(self, number: int) -> int:
        return len(self.fates[number].copies[0].data)

    @cached_property
    def _arrivals(self) -> dict[Any, list[int]]:
        """Times of arrival by flow."""
        found: dict[Any, list[int]] = {}
        for fate in self.fates:
            found.setdefault(self.flow[fate.number], []).append(fate.at)
        return found

    def no_gap(self, flow: Any, longest: Any, *window: Any) -> bool | None:
        """Is no span of `longest` or more without an arrival of the flow? O(log n) after O(n) per flow and length."""
        if flow is None or longest is None or None in window:
            return None
        times = self._arrivals.get(flow, [])
        i, j = 0, len(times)
        if window:
            low, high = window
            if low >= high:
                return True
            i, j = bisect_left(times, low), bisect_left(times, high)
            if i == j:
                return bool(high - low < longest)
            if times[i] - low >= longest or high - times[j - 1] >= longest:
                return False
        gaps = self._gaps.get((flow, longest))
        if gaps is None:
            gaps = [n for n in range(len(times) - 1) if times[n + 1] - times[n] >= longest]
            self._gaps[flow, longest] = gaps
        first = bisect_left(gaps, i)
        return not (first < len(gaps) and gaps[first] + 1 < j)

    def ended(self, maps: tuple[str, ...], key: Any, why: int | None, *window: Any) -> bool | None:
        """Did an entry with this key (`...`: any) of one of the maps end so? O(log n)."""
        if key is None or None in window:
            return None
        asked = (maps, key, why)
        times = self._ends.get(asked)
        if times is None:
            times = self._ends[asked] = self._end_times(*asked)
        return bool(times) and (not window or _any_within(times, *window))

    def _end_times(self, maps: tuple[str, ...], key: Any, why: int | None) -> list[int]:
        """In order."""
        ends = [end for name in maps for end in self._ends_by_key.get((name, None if key is ... else key), ())]
        return sorted(end.time for end in ends if why is None or why == end.why)

    @cached_property
    def _ends_by_key(self) -> dict[tuple[str, Any], list[End]]:
        """By map and plain key; key None: all of the map."""
        found: dict[tuple[str, Any], list[End]] = {}
        for end in self.record.ends:
            found.setdefault((end.map, plain(end.key)), []).append(end)
            found.setdefault((end.map, None), []).append(end)
        return found

    def full(self, *window: Any) -> bool | None:
        """Did a new entry find its map full, or a `take` its pool empty?"""
        if None in window:
            return None
        times = self._overflows
        return bool(times) and (not window or _any_within(times, *window))

    @cached_property
    def _overflows(self) -> list[int]:
        """Times, of evictions and of what maps and pools refused."""
        evicted = t.END.number("evicted")
        found = [end.time for end in self.record.ends if end.why == evicted]
        for done in self.history.operations:
            match self.program.state.get(done.state), done.op:
                case ir.MapDecl(), "put" if done.result in (False, f"{done.state} full"):
                    found.append(done.time)
                case ir.PoolDecl(), "take" if done.result is None:
                    found.append(done.time)
        return sorted(found)

    def outputs(self, options: tuple[tuple[str, Any], ...]) -> Outputs:
        """A further run, which happens when it is compared."""
        if options not in self._runs:
            self._runs[options] = Outputs(self.execution, options)
        return self._runs[options]


class ConfigMap(dict[Any, Any]):
    """A map of the config with its entries as a tuple."""

    @cached_property
    def pairs(self) -> tuple[tuple[Any, Any], ...]:
        return tuple(self.items())


def _any_within(times: list[int], low: int, high: int) -> bool:
    """Is one of the sorted times from `low` to before `high`?"""
    i = bisect_left(times, low)
    return i < len(times) and times[i] < high


def _only(ports: frozenset[int]) -> int | None:
    return next(iter(ports)) if len(ports) == 1 else None


def _defined(value: Any) -> Any:
    return None if value is ABSENT else plain(value)


def _unrowed(value: Any) -> Any:
    """A config item with values where it has rows."""
    match value:
        case tuple():
            return tuple(row.value if isinstance(row, Row) else row for row in value)
        case dict():
            return ConfigMap((key, row.value if isinstance(row, Row) else row) for key, row in value.items())
        case _:
            return value
