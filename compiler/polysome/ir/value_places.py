"""What of a value is more than its bits: rows of config that it refers to, and what it has from pools."""

from __future__ import annotations

from collections.abc import Iterator

from polysome.ir import types as t

Path = tuple[int, ...]  # numbers of members from the outside to the inside; () is the value itself


def behind(type: t.Ref | t.FromPool) -> t.Type:
    """Of what a reference to a row, or a value from a pool, is read as."""
    return type.row if isinstance(type, t.Ref) else type.item


def members(type: t.Type) -> tuple[t.Type, ...]:
    """Types of what is inside a struct or a tuple, in declaration order; of nothing else."""
    match type:
        case t.Struct(_, fields):
            return tuple(member for _, member in fields)
        case t.Tuple(items):
            return items
        case _:
            return ()


def owned_places(type: t.Type) -> list[tuple[Path, str]]:
    """Paths in a value to what it owns, with the pool."""
    return [(path, part.pool) for path, part in _places(type) if isinstance(part, t.FromPool)]


def row_places(type: t.Type) -> list[Path]:
    """Paths in a value to what refers to a row; what a pool gave is not looked into."""
    return [path for path, part in _places(type) if isinstance(part, t.Ref)]


def owns(type: t.Type) -> bool:
    """Does a value of the type refer to a row or own something from a pool, so that it has no initial value?"""
    return any(isinstance(part, (t.Ref, t.FromPool)) for _, part in _places(type))


def _places(type: t.Type, path: Path = ()) -> Iterator[tuple[Path, t.Type]]:
    """Every part of a value, the whole first."""
    yield path, type
    for number, member in enumerate(members(type)):
        yield from _places(member, (*path, number))
