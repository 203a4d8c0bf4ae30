"""Sets of parse classes in words: `ethernet / [vlan ×1-2 /] ipv4 / tcp | udp`.

A pattern is an interval: all classes that hold the headers `low` and none outside of `high`. A set of classes is
covered exactly by a few patterns; headers that the parser groups (`l4`) count as one where both are in the set.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from polysome.analysis.relevance import members
from polysome.ir import program as ir

SHORT = 12  # letters

Token = tuple[int, ...]  # a header instance, or several of which a class holds one


@dataclass(frozen=True)
class Pattern:
    """Every class of which each token of `low` is a part, and that has nothing outside of `high`."""

    low: frozenset[Token]
    high: frozenset[Token]
    classes: int


def patterns(mask: int, among: int, parser: ir.Parser) -> list[Pattern]:
    """Patterns that match, of the classes in `among`, exactly those of `mask`."""
    tokens = _class_tokens(mask, parser)
    found: list[Pattern] = []
    left = dict(tokens)
    while left:
        low = high = next(iter(left.values()))
        for candidate in sorted(tokens.values(), key=len):
            smaller, larger = low & candidate, high | candidate
            if (smaller, larger) != (low, high) and not _matching(smaller, larger, parser) & among & ~mask:
                low, high = smaller, larger
        matched = _matching(low, high, parser) & mask
        found.append(Pattern(low, high, matched))
        left = {c: tokens_of for c, tokens_of in left.items() if not matched >> c & 1}
    return found


def _class_tokens(mask: int, parser: ir.Parser) -> dict[int, frozenset[Token]]:
    """Each class as a set of tokens: a group's member stands for the group if its twins are in the set too."""
    numbers = {path: c for c, path in enumerate(parser.classes)}
    groups = sorted((tuple(g) for g in parser.groups.values()), key=len)
    found = {}
    for c in members(mask):
        path = parser.classes[c]
        tokens = set[Token]()
        for place, instance in enumerate(path):
            token: Token = (instance,)
            for group in groups:
                if instance in group:
                    twins = [numbers.get((*path[:place], other, *path[place + 1 :])) for other in group]
                    if all(twin is not None and mask >> twin & 1 for twin in twins):
                        token = group
            tokens.add(token)
        found[c] = frozenset(tokens)
    return found


def _matching(low: Iterable[Token], high: Iterable[Token], parser: ir.Parser) -> int:
    mask = parser.all_classes
    for token in low:
        any_of = 0
        for i in token:
            any_of |= parser.having[i]
        mask &= any_of
    allowed = {i for token in high for i in token}
    for i, having in enumerate(parser.having):
        if i not in allowed:
            mask &= ~having
    return mask


# ---------------------------------------------------------------- words


def words(pattern: Pattern, parser: ir.Parser, plain: frozenset[int] = frozenset()) -> str:
    """The headers in wire order, in brackets what may be missing; `…` for those of `plain` that may be there."""
    if not pattern.low and pattern.high and all(i in plain for token in pattern.high for i in token):
        return "other packets"
    parts: list[str] = []
    stacks: dict[str, tuple[int, int]] = {}
    order = wire_order(parser)
    for token in sorted(_without_doubles(pattern), key=lambda token: order[token[0]]):
        sure = token in pattern.low
        base = stack_name(parser.instances[token[0]].name)
        if base is not None:
            low, high = stacks.get(base, (0, 0))
            stacks[base] = (low + sure, high + 1)
        name = base or _group(token, parser)
        shown = name if sure or base else "…" if set(token) <= plain else f"[{name}]"
        if not parts or parts[-1] != shown:
            parts.append(shown)
    return " / ".join(_stack(part, *stacks[part]) if part in stacks else part for part in parts) or "no header"


def _group(token: Token, parser: ir.Parser) -> str:
    """`tcp | udp`, or for longer names that of the group."""
    members = " | ".join(parser.instances[i].name for i in token)
    names = [name for name, group in parser.groups.items() if tuple(group) == token]
    return members if len(members) <= SHORT or not names or len(token) == 1 else names[0]


def _without_doubles(pattern: Pattern) -> set[Token]:
    """The tokens of `high`; of a group and its members, only what is in `low` or else the group."""
    found = set(pattern.high)
    for group in [token for token in pattern.high if len(token) > 1]:
        single = {token for token in pattern.high if len(token) == 1 and token[0] in group}
        if single & pattern.low:
            found.discard(group)
        else:
            found -= single
    return found


def _stack(name: str, low: int, high: int) -> str:
    if high == 1:
        return name if low else f"[{name}]"
    return f"{name} ×{low}" if low == high else f"{name} ×{low}-{high}"


def stack_name(instance: str) -> str | None:
    """`vlan` for `vlan[0]`; None for a header that is not in a stack."""
    found = re.fullmatch(r"(.*)\[\d+\]", instance)
    return found[1] if found else None


@lru_cache(maxsize=16)
def wire_order(parser: ir.Parser) -> tuple[int, ...]:
    """A rank for each instance, such that a header that comes before another has the lower one."""
    after: dict[int, set[int]] = {i: set() for i in range(len(parser.instances))}
    for path in parser.classes:
        for a, b in pairwise(path):
            after[a].add(b)
    ranks: dict[int, int] = {}

    def visit(i: int, above: frozenset[int]) -> None:
        if i not in ranks and i not in above:
            for follower in sorted(after[i], reverse=True):
                visit(follower, above | {i})
            ranks[i] = len(ranks)

    for i in reversed(range(len(parser.instances))):
        visit(i, frozenset())
    return tuple(len(ranks) - ranks[i] for i in range(len(parser.instances)))
