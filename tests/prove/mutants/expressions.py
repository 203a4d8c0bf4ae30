"""All changes of one node of an expression of an emitted P4 program.

A change is (kind, what it is in words, the expression with it).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from polysome.p4 import program as pr
from polysome.p4.types import Bits, Bool, Composite, Type, width

T = TypeVar("T")
Change = tuple[str, str, T]

_OTHER = {
    "==": "!=", "!=": "==", "<": "<=", "<=": "<", ">": ">=", ">=": ">", "&&": "||", "||": "&&",
    "+": "-", "-": "+", "|+|": "+", "|-|": "-", "&": "|", "|": "&", "^": "|", "<<": ">>", ">>": "<<",
}  # fmt: skip
_COMPARE = {"==", "!=", "<", "<=", ">", ">="}


def text(e: pr.Expr) -> str:
    """An expression, short enough for a line of a report."""
    match e:
        case pr.Const():
            return f"{e.value:#x}" if e.value > 9 else str(e.value)
        case pr.Place():
            return str(e)
        case pr.Valid():
            return f"{e.header}.isValid()"
        case pr.Slice():
            return f"{text(e.value)}[{e.high}:{e.low}]"
        case pr.Unary():
            return f"{e.op}{text(e.value)}"
        case pr.Binary():
            return f"({text(e.left)} {e.op} {text(e.right)})"
        case pr.Cast():
            return text(e.value)
        case _:
            return type(e).__name__


def within(
    items: tuple[T, ...], change: Callable[[T], Iterable[Change[T]]], name: str
) -> Iterator[Change[tuple[T, ...]]]:
    """The changes of each of some items."""
    for n, item in enumerate(items):
        for kind, words, new in change(item):
            yield kind, f"{name} {n + 1}: {words}", (*items[:n], new, *items[n + 1 :])


def left_out(items: tuple[T, ...], kind: str, name: Callable[[T], str]) -> Iterator[Change[tuple[T, ...]]]:
    for n, item in enumerate(items):
        yield kind, f"{name(item)}: left out", items[:n] + items[n + 1 :]


def words_left_out(items: tuple[pr.Expr, ...]) -> Iterator[Change[tuple[pr.Expr, ...]]]:
    """Of what a checksum is over: each item, with those behind it that are in the same 16 bits."""
    for n in range(len(items)):
        for behind in range(n + 1, len(items) + 1):
            if sum(width(item.type) for item in items[n:behind]) % 16 == 0:
                what = ", ".join(text(item) for item in items[n:behind])
                yield "item", f"{what}: left out", items[:n] + items[behind:]
                break


@dataclass(frozen=True)
class Expressions:
    """Changes of the expressions of one gress."""

    gress: pr.Gress

    def of(self, e: pr.Expr) -> Iterator[Change[pr.Expr]]:
        """One node of `e` is another."""
        match e:
            case pr.Const(type=Bool()):
                yield "constant", f"{text(e)}: negated", replace(e, value=1 - e.value)
            case pr.Const():
                yield from self._constant(e)
            case pr.Place():
                if (other := self.beside(e)) is not None:
                    yield "place", f"{e}: {other} in its place", other
            case pr.Valid():
                if (other := self.beside(e.header)) is not None:
                    yield "place", f"{text(e)}: {other} in its place", replace(e, header=other)
            case pr.Slice():
                if e.high + 1 < width(e.value.type):
                    yield "slice", f"{text(e)}: one bit higher", replace(e, high=e.high + 1, low=e.low + 1)
                if e.low:
                    yield "slice", f"{text(e)}: one bit lower", replace(e, high=e.high - 1, low=e.low - 1)
                yield from self._inside(e, "value")
            case pr.Unary():
                if width(e.value.type) == width(e.type):
                    yield "operator", f"{text(e)}: without {e.op}", e.value
                yield from self._inside(e, "value")
            case pr.Binary():
                yield from self._binary(e)
            case pr.Conditional():
                yield "condition", f"{text(e.condition)} ? …: the other way round", replace(e, yes=e.no, no=e.yes)
                yield from self.condition(e.condition, lambda c: replace(e, condition=c))
                yield from self._inside(e, "yes", "no")
            case pr.Cast():
                yield from self._inside(e, "value")
            case pr.Execute() | pr.MeterOf():
                yield from self._inside(e, "index")
            case pr.ChecksumOf():
                yield "checksum", "which zero: the other", replace(e, ones=not e.ones)
                yield from self._items(e)
            case pr.HashOf():
                yield from self._items(e)
            case pr.Hit():
                yield "condition", f"{e.table}: miss for hit", replace(e, miss=not e.miss)
            case _:
                pass

    def condition(self, e: pr.Expr, put: Callable[[pr.Expr], T]) -> Iterator[Change[T]]:
        """Of a condition: negated, a part of it dropped, or changed inside."""
        yield "condition", f"{text(e)}: negated", put(pr.Unary("!", e, e.type, e.span))
        for kind, words, new in self.of(e):
            yield kind, words, put(new)

    def beside(self, place: pr.Place) -> pr.Place | None:
        """The next place of the same type in the same header or struct."""
        fields = self._fields(place)
        same = [name for name, kind in fields if kind == place.type]
        if len(same) < 2:
            return None
        other = same[(same.index(place.path[-1]) + 1) % len(same)]
        return replace(place, path=(*place.path[:-1], other))

    def _fields(self, place: pr.Place) -> tuple[tuple[str, Type], ...]:
        kind: Type | None = dict(self.gress.roots).get(place.root)
        for name in place.path[:-1]:
            kind = kind.field(name) if isinstance(kind, Composite) else None
        return kind.fields if isinstance(kind, Composite) and place.path else ()

    def _constant(self, e: pr.Const) -> Iterator[Change[pr.Expr]]:
        if isinstance(e.type, Bits):
            most = (1 << e.type.width) - 1
            for value in dict.fromkeys(((e.value + 1) & most, (e.value - 1) & most)):
                if value != e.value:
                    yield "constant", f"{text(e)}: {value:#x} in its place", replace(e, value=value)

    def _binary(self, e: pr.Binary) -> Iterator[Change[pr.Expr]]:
        if e.op in _OTHER:
            other = _OTHER[e.op]
            kind = "comparison" if e.op in _COMPARE else "operator"
            yield kind, f"{text(e)}: {other}", replace(e, op=other)
        if e.op in ("&&", "||"):
            yield "condition", f"{text(e)}: only the right side", e.right
            yield "condition", f"{text(e)}: only the left side", e.left
        yield from self._inside(e, "left", "right")

    def _inside(self, e: pr.Expr, *names: str) -> Iterator[Change[pr.Expr]]:
        for name in names:
            for kind, words, new in self.of(getattr(e, name)):
                inside: dict[str, Any] = {name: new}
                yield kind, words, replace(e, **inside)

    def _items(self, e: pr.ChecksumOf | pr.HashOf) -> Iterator[Change[pr.Expr]]:
        of_sum = isinstance(e, pr.ChecksumOf)
        if len(e.items) > 1:
            for kind, words, items in words_left_out(e.items) if of_sum else left_out(e.items, "item", text):
                yield kind, words, replace(e, items=items)
        for kind, words, items in within(e.items, self.of, "item"):
            yield kind, words, replace(e, items=items)
