"""Token buckets let through what they must, and no more."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, ClassVar

from polysome.analysis.values_text import text
from polysome.engines.history import End, Operation
from polysome.engines.record import Record
from polysome.ir import program as ir
from polysome.ir import types as t
from polysome.testing.builtin.base import Broken, KindInvariant, around, history_of, occasion, per_second, when
from polysome.testing.builtin.events import Event, events
from polysome.testing.builtin.rows import Path, member

PER_UNIT = {"bytes": 8 * 10**9, "packets": 10**9}  # 10^-9 bit, 10^-9 packet
MOST = 2**128 - 1
FULL = (MOST, 0)
Stored = tuple[int, int]  # tokens after the last take that succeeded, and its time


@dataclass(frozen=True)
class TokenBuckets(KindInvariant):
    """A token bucket never lets through more than burst + rate·t in any span of t, and refuses only what it really
    cannot afford, computed without any rounding: however small the steps in which time moves, a flow that stays
    below the rate is never refused, and one above it gets the rate, not less.
    """

    name: ClassVar[str] = "token buckets"
    section: ClassVar[int] = 4

    def concerns(self, program: ir.Program) -> bool:
        return any(buckets(_value_type(decl)) for decl in program.state.values())

    def check(self, record: Record) -> int:
        return _Replay(record).run()


@dataclass
class _Window:
    """The fullest span so far with one rate and burst: what was let through in it, less rate·t."""

    rate: int
    burst: int
    level: int = 0
    last: int = 0
    began: int = 0


@dataclass
class _Cell:
    """The buckets in one value, by their place in it."""

    stored: dict[Path, Stored] = field(default_factory=dict)
    windows: dict[Path, _Window] = field(default_factory=dict)


class _Replay:
    def __init__(self, record: Record) -> None:
        self.record, self.history = record, history_of(record)
        self.paths = {name: found for name, d in record.program.state.items() if (found := buckets(_value_type(d)))}
        self.cells: dict[tuple[str, Hashable], _Cell] = {}
        self.known: set[Stored] = {FULL}

    def run(self) -> int:
        if not self.paths:
            return 0
        cases = 0
        before: Event | None = None
        every = events(self.history)
        for event, after in zip(every, [*every[1:], None], strict=False):
            if isinstance(event, End):
                self.cells.pop((event.map, event.key), None)
            elif event.op in ("bucket_take", "bucket_has") and event.state in self.paths:
                cases += 1
                self._asked(event, before)
            elif event.state in self.paths and event.op in ("put", "set") and not _by_take(event, after):
                self._written(event)
            before = event
        return cases

    def _asked(self, op: Operation, before: Event | None) -> None:
        key, path, n, rate, burst, unit = op.args
        scale = PER_UNIT[unit]
        cell = self.cells.setdefault((op.state, key), _Cell())
        tokens, last = cell.stored.get(path, FULL)
        there = min(burst * scale, tokens + (op.time - last) * rate, MOST)
        enough = there >= n * scale
        if op.result is not enough:
            raise self._broken(
                op,
                f"bucket {self._text(op)} holds {_amount(there, scale)} {unit} (rate {_rate(op)}, burst {burst}; "
                f"something was last taken {'never' if last == 0 else 'at ' + when(self.record, last)})",
                f"asked for {n}, it must say {'yes' if enough else 'no'}; it said {'yes' if op.result else 'no'}",
            )
        not_kept = isinstance(before, Operation) and before.op == "put" and before.result is False
        if op.op == "bucket_take" and enough and not not_kept:
            cell.stored[path] = (there - n * scale, op.time)
            self.known.add(cell.stored[path])
            self._span(op, cell, path)

    def _span(self, op: Operation, cell: _Cell, path: Path) -> None:
        """From outside: no span with more than burst + rate·t."""
        _, _, n, rate, burst, unit = op.args
        window = cell.windows.get(path)
        if window is None or (window.rate, window.burst) != (rate, burst):
            window = cell.windows[path] = _Window(rate, burst, 0, op.time, op.time)
        window.level -= rate * (op.time - window.last)
        if window.level <= 0:
            window.level, window.began = 0, op.time
        window.level += n * PER_UNIT[unit]
        window.last = op.time
        if window.level > burst * PER_UNIT[unit]:
            raise self._broken(
                op,
                f"from {when(self.record, window.began)} on, bucket {self._text(op)} let through more than its burst "
                f"of {burst} {unit} and {_rate(op)}: {_amount(window.level, PER_UNIT[unit])} {unit} beyond the rate",
            )

    def _written(self, op: Operation) -> None:
        """The spec wrote the value around the bucket."""
        if op.op == "put" and op.result is not True:
            return
        key, value = op.args if len(op.args) == 2 else (None, op.args[0])
        cell = self.cells.setdefault((op.state, key), _Cell())
        for path in self.paths[op.state]:
            new = member(value, path)
            if new == cell.stored.get(path, FULL):
                continue
            if new not in self.known:
                continue  # what the engine makes of this bucket: the next take shows whether it is right
            cell.stored[path] = new
            cell.windows.pop(path, None)

    def _broken(self, op: Operation, first: str, *rest: str) -> Broken:
        said = f"{occasion(self.record, op.stamp, op.time)}: {first}"
        return Broken(around(self.record, op.stamp), said, *rest)

    def _text(self, op: Operation) -> str:
        decl = self.record.program.state[op.state]
        if isinstance(decl, ir.MapDecl):
            return f"`{op.state}[{text(op.args[0], decl.key, self.record.program)}]`"
        return f"`{op.state}`" if op.args[0] is None else f"`{op.state}[{op.args[0]}]`"


def _by_take(event: Operation, after: Event | None) -> bool:
    """Whether it is the write of a take, which the take itself accounts for."""
    if not isinstance(after, Operation) or after.op != "bucket_take" or after.state != event.state:
        return False
    key: Any = event.args[0] if len(event.args) == 2 else None
    return bool(after.args[0] == key)


def _rate(op: Operation) -> str:
    return per_second(op.args[3], op.args[5])


def _amount(units: int, scale: int) -> str:
    """Exactly, in bytes or packets: a scale has no other prime factors than 2 and 5."""
    return format((Decimal(units) / scale).normalize(), "f")


def _value_type(decl: ir.AnyState) -> t.Type | None:
    match decl:
        case ir.MapDecl(value=type) | ir.ArrayDecl(item=type) | ir.ScalarDecl(type=type):
            return type
        case _:
            return None


def buckets(type: t.Type | None, path: Path = ()) -> list[Path]:
    """Where in a value there are buckets."""
    match type:
        case t.Bucket():
            return [path]
        case t.Struct(_, fields):
            return [b for i, (_, f) in enumerate(fields) for b in buckets(f, (*path, i))]
        case t.Tuple(items):
            return [b for i, f in enumerate(items) for b in buckets(f, (*path, i))]
        case _:
            return []


INVARIANT = TokenBuckets()
