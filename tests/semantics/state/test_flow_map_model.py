"""The flow map against a list that is searched from end to end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from polysome.kinds.base import Trap
from polysome.kinds.state.flow_map import AGE, EVICTED, IDLE, REMOVED, FlowMap, Span, WhenFull
from polysome.kinds.values import Row

Value = tuple[int, Row]  # a number, which is also the index key, and a row
Log = list[tuple[Any, ...]]


@dataclass
class Entry:
    key: int
    value: Value
    used: int
    written: int
    idle: int | None
    age: int | None

    def due(self) -> int | None:
        times = [t + d for t, d in ((self.used, self.idle), (self.written, self.age)) if d is not None]
        return min(times, default=None)


class Model:
    """The rules of section 1, one after the other, on a list in insertion order."""

    def __init__(self, capacity: int, idle: Span, age: Span, when_full: WhenFull, log: Log) -> None:
        self.capacity, self.idle, self.age, self.when_full, self.log = capacity, idle, age, when_full, log
        self.now = 0
        self.entries: list[Entry] = []

    def lookup(self, key: int) -> Entry | None:
        return next((e for e in self.entries if e.key == key), None)

    def by_index(self, number: int) -> Entry | None:
        return next((e for e in self.entries if e.value[0] == number and e.value[1].live), None)

    def use(self, entry: Entry | None) -> Entry | None:
        if entry is None or not entry.value[1].live:
            return None
        entry.used, entry.idle = self.now, span(self.idle, entry.key, entry.value)
        return entry

    def put(self, key: int, value: Value) -> bool:
        holder, entry = self.by_index(value[0]), self.lookup(key)
        if holder is not None and holder is not entry:
            raise Trap("index i of m taken")
        if entry is None and len(self.entries) == self.capacity:
            if self.when_full == "pass":
                return False
            if self.when_full == "drop":
                raise Trap("m full")
            self.log.append(("claim", value))
            by_write = self.idle is None and self.age is not None
            self.end(min(self.entries, key=lambda e: e.written if by_write else e.used), EVICTED)
        else:
            self.log.append(("claim", value))
        times = self.now, self.now, span(self.idle, key, value), span(self.age, key, value)
        if entry is None:
            self.entries.append(Entry(key, value, *times))
        else:
            self.log.append(("release", entry.value))
            entry.value, (entry.used, entry.written, entry.idle, entry.age) = value, times
        return True

    def end(self, entry: Entry, why: int) -> None:
        self.entries.remove(entry)
        self.log.append(("release", entry.value))
        self.log.append(("end", self.now, entry.key, entry.value, why))

    def advance(self, time: int) -> None:
        while True:
            due = [(end, i, e) for i, e in enumerate(self.entries) if (end := e.due()) is not None and end <= time]
            if not due:
                break
            self.now, _, entry = min(due, key=lambda d: d[:2])
            self.end(entry, IDLE if entry.idle is not None and entry.used + entry.idle == self.now else AGE)
        self.now = time


def span(term: Span, key: int, value: Value) -> int | None:
    if term is None or isinstance(term, int):
        return term
    return max(1, term(key, value))


def varying(key: int, value: Value) -> int:
    return value[0] * 3 % 11  # 0 to 10


SPANS = st.sampled_from([None, 1, 4, 9, varying])
STEPS = st.one_of(
    st.tuples(st.just("put"), st.integers(0, 4), st.integers(0, 5), st.integers(0, 3)),
    st.tuples(st.sampled_from(["get", "peek", "contains", "find", "has", "remove", "kill", "wait"]), st.integers(0, 5)),
    st.tuples(st.just("wait"), st.integers(0, 12)),
    st.tuples(st.just("items")),
)


@settings(max_examples=300)
@given(
    st.integers(1, 4),
    SPANS,
    SPANS,
    st.sampled_from(["drop", "evict", "pass"]),
    st.lists(STEPS, min_size=5, max_size=60),
)
def test_the_map_does_what_the_list_does(
    capacity: int, idle: Span, age: Span, when_full: WhenFull, steps: list[tuple[Any, ...]]
) -> None:
    rows = [Row(i) for i in range(4)]
    expected: Log = []
    log: Log = []
    model = Model(capacity, idle, age, when_full, expected)
    real = FlowMap(
        name="m",
        capacity=capacity,
        now=lambda: model.now,
        idle=idle,
        age=age,
        when_full=when_full,
        on_end=lambda key, value, why: log.append(("end", model.now, key, value, why)),
        indexes={"i": lambda key, value: value[0]},
        claim=lambda value: log.append(("claim", value)),
        release=lambda value: log.append(("release", value)),
        alive=lambda value: bool(value[1].live),
    )
    for step in steps:
        do(step, model, real, rows)
        assert log == expected
        assert len(real) == len(model.entries)
        assert real.items() == [(e.key, e.value) for e in model.entries if e.value[1].live]
        assert real.next_due() == min(filter(None, (e.due() for e in model.entries)), default=None)


def do(step: tuple[Any, ...], model: Model, real: FlowMap, rows: list[Row]) -> None:
    match step:
        case ("put", key, number, row):
            assert outcome(real.put, key, (number, rows[row])) == outcome(model.put, key, (number, rows[row]))
        case ("get", key):
            assert real.get(key) == value_of(model.use(model.lookup(key)))
        case ("peek", key):
            assert real.peek(key) == value_of(readable(model.lookup(key)))
        case ("contains", key):
            assert real.contains(key) == (readable(model.lookup(key)) is not None)
        case ("find", number):
            entry = model.use(model.by_index(number))
            assert real.find("i", number) == (None if entry is None else (entry.key, entry.value))
        case ("has", number):
            assert real.has("i", number) == (model.by_index(number) is not None)
        case ("remove", key):
            real.remove(key)
            gone = model.lookup(key)
            if gone is not None:
                model.end(gone, REMOVED)
        case ("kill", row):
            rows[row % 4].live = False
            rows[row % 4] = Row(row)
        case ("wait", time):
            advance(model, real, model.now + time)


def advance(model: Model, real: FlowMap, time: int) -> None:
    start = model.now
    while (due := real.due_key(time)) is not None:
        model.now = due[0]
        real.expire_one()
    model.now = start
    model.advance(time)


def readable(entry: Entry | None) -> Entry | None:
    return entry if entry is not None and entry.value[1].live else None


def value_of(entry: Entry | None) -> Value | None:
    return None if entry is None else entry.value


def outcome(put: Any, key: int, value: Value) -> object:
    try:
        return put(key, value)
    except Trap as trap:
        return trap.reason


def test_queues_do_not_outgrow_the_map() -> None:
    time = 0
    m = FlowMap(name="m", capacity=10, now=lambda: time, idle=10**9, age=None, when_full="evict")
    for time in range(5000):
        m.put(time, None)
        m.remove(time - 3)
    assert len(m._by_due._heap) < 100 and len(m._by_use._heap) < 100
