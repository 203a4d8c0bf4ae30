"""`config acl<K, V>`: the first row that matches all components of a key (STATE.md, section 11)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from polysome.ir import types as t
from polysome.ir.value_places import members
from polysome.kinds.base import Show, TableKind
from polysome.kinds.values import Prefix


class Range(NamedTuple):
    """Both ends belong to it; empty if low > high."""

    low: int
    high: int


Matcher = int | Range | Prefix | None  # None matches anything


@dataclass(frozen=True)
class AclRow:
    """One matcher per component of the key. Rows of higher priority come first."""

    matchers: tuple[Matcher, ...]
    value: Any
    priority: int = 0


class Acl:
    """An immutable list of rows, by falling priority, then in file order."""

    def __init__(self, rows: Sequence[AclRow]) -> None:
        self._rows = sorted(rows, key=lambda row: -row.priority)  # stable

    def get(self, key: Any, widths: tuple[int, ...]) -> Any:
        """The value of the first row that matches; None if none does. O(rows).

        `key`: its components, or the only one itself; `widths`: each component's bits.
        """
        parts = key if type(key) is tuple else (key,)  # a prefix is a tuple of another type
        for row in self._rows:
            if all(map(_matches, row.matchers, parts, widths)):
                return row.value
        return None

    def __len__(self) -> int:
        return len(self._rows)


def _matches(matcher: Matcher, component: int, width: int) -> bool:
    match matcher:
        case None:
            return True
        case Prefix():
            return matcher.contains(component, width)
        case Range(low, high):
            return low <= component <= high
        case exact:
            return component == exact


def components(key: t.Type) -> tuple[t.Type, ...]:
    """The types that a row's matchers are for: a struct's or tuple's members, else the key itself."""
    return members(key) or (key,)


def _text(row: AclRow, type: t.Table, show: Show) -> str:
    matchers = ", ".join(map(_matcher_text, row.matchers, components(type.key), [show] * len(row.matchers)))
    text = f"({matchers}) -> {show(row.value, type.value)}"
    return text + (f" (priority {row.priority})" if row.priority else "")


def _matcher_text(matcher: Matcher, type: t.Type, show: Show) -> str:
    match matcher:
        case None:
            return "*"
        case Prefix():
            return show(matcher, t.PREFIX)
        case Range(low, high):
            return f"{show(low, type)}-{show(high, type)}"
        case exact:
            return show(exact, type)


KIND = TableKind(
    name="acl",
    section=11,
    params=("K", "V"),
    make=lambda rows, ctx: Acl(rows),
    value=lambda row: row.value,
    with_value=lambda row, value: replace(row, value=value),
    asked=lambda key: (tuple(map(t.width, components(key))),),
    text=_text,
)
