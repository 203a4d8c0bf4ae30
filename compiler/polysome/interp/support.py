"""What the generated code calls: indexing with built-in reasons, token buckets, narrowing of the parsed part."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from polysome.interp.packet import Packet
from polysome.kinds.base import Trap
from polysome.kinds.state.flow_map import FlowMap
from polysome.kinds.values import Prefix

# ---------------------------------------------------------------- parsing


def narrow(p: Packet, end: int) -> None:
    """A header says where its packet ends: the first one ends the packet, later ones only what follows may parse."""
    if p.claimed is None:
        p.claimed = end
        p.end = min(end, len(p.data))
    p.room = min(p.room, end)


def take_cut(p: Packet, i: int) -> None:
    """Instance `i` is valid although only its beginning is there."""
    p.offset[i] = p.pos
    p.header_end[i] = p.limit[i] = p.pos = p.room
    p.path.append(i)


# ---------------------------------------------------------------- built-in reasons


def divide(a: int, b: int, place: str) -> int:
    if b == 0:
        raise Trap(f"division by zero ({place})")
    return a // b


def modulo(a: int, b: int, place: str) -> int:
    if b == 0:
        raise Trap(f"division by zero ({place})")
    return a % b


def per(amount: int, duration: int, place: str) -> Fraction:
    """`amount / duration` without rounding."""
    if duration == 0:
        raise Trap(f"division by zero ({place})")
    return Fraction(amount, duration)


def in_prefix(address: int, prefix: Prefix, bits: int) -> bool:
    return prefix.contains(address, bits)


def list_row(rows: tuple[Any, ...], index: int, place: str) -> Any:
    """Row `index` of a config list."""
    if index >= len(rows):
        raise Trap(f"{'index past the end' if rows else 'empty list'} ({place})")
    return rows[index]


def hashed_row(table: Any, hashed: int, place: str) -> Any:
    try:
        return table.lookup(hashed)
    except Trap as trap:
        raise Trap(f"empty list ({place})") from trap


def at(function: Callable[..., Any], argument: Any, place: str, *more: Any) -> Any:
    """A state operation whose trap gets the place where it happened."""
    try:
        return function(argument, *more)
    except Trap as trap:
        raise Trap(f"{trap.reason} ({place})") from trap


def at2(function: Callable[[Any, Any], Any], a: Any, b: Any, place: str) -> Any:
    """`at` for two arguments."""
    try:
        return function(a, b)
    except Trap as trap:
        raise Trap(f"{trap.reason} ({place})") from trap


def put(m: FlowMap, key: Any, value: Any, place: str) -> bool:
    """`m[key] = value`; False if the map was full and passes."""
    try:
        return m.put(key, value)
    except Trap as trap:
        raise Trap(f"{trap.reason} ({place})") from trap


def present(m: FlowMap, key: Any, initial: Any, owned: bool, place: str) -> Any:
    """The entry's value, or the initial value of an entry that is about to be inserted (L7.3)."""
    value = m.peek(key)
    if value is not None:
        return value
    if owned:
        raise Trap(f"absent entry of {m.name} ({place})")
    return initial


# ---------------------------------------------------------------- members of values


def member(value: Any, path: tuple[int, ...]) -> Any:
    for i in path:
        value = value[i]
    return value


def with_member(value: Any, path: tuple[int, ...], new: Any) -> Any:
    """`value` with the member at `path` replaced."""
    if not path:
        return new
    i = path[0]
    return (*value[:i], with_member(value[i], path[1:], new), *value[i + 1 :])
