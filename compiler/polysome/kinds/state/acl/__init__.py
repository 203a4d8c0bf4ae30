"""`config acl<K, V>`: the first row that matches all components of a key (STATE.md, section 11)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

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

    def get(self, key: tuple[int, ...], widths: tuple[int, ...]) -> Any:
        """The value of the first row that matches; None if none does. `widths`: each component's bits. O(rows)."""
        for row in self._rows:
            if all(map(_matches, row.matchers, key, widths)):
                return row.value
        return None


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
