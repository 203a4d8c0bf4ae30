"""acl by a plain search."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from polysome.kinds.state.acl import AclRow, Matcher, Range
from polysome.kinds.state.lpm.lookup import longest_prefix
from polysome.kinds.values import Prefix
from polysome.testing.builtin.lookups import Asked, Definition


def first_match(rows: Sequence[AclRow], key: Any, widths: Sequence[int]) -> Any:
    """S11.1, S11.2. A key of one component is that."""
    parts = key if type(key) is tuple else (key,)
    best: AclRow | None = None
    for row in rows:
        if (best is None or row.priority > best.priority) and all(map(_matches, row.matchers, parts, widths)):
            best = row
    return None if best is None else best.value


def _matches(matcher: Matcher, component: int, width: int) -> bool:
    if matcher is None:
        return True
    if isinstance(matcher, Prefix):
        return longest_prefix([(matcher, True)], component, width) is True
    if isinstance(matcher, Range):
        return component in range(matcher.low, matcher.high + 1)
    return component == matcher


def found(asked: Asked) -> Any:
    return first_match(asked.rows, *asked.look.args)


LOOKUP = Definition(found, "in an acl the first row that matches by priority and then by order")
