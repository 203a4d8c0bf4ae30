"""What is found once in a process, by terms and what is made of them: programs that are alike ask mostly the same."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import Generic, TypeVar

from polysome import smt
from polysome.prove.window import Window

T = TypeVar("T")


MOST = 4096  # about as many as twenty programs have


class Once(Generic[T]):
    """Found values, the last `MOST`. What they were found for is kept with them: no other term gets the number of one
    of its terms."""

    def __init__(self) -> None:
        self._found: dict[Hashable, tuple[object, T]] = {}

    def get(self, of: tuple[object, ...], find: Callable[[], T]) -> T:
        key = key_of(of)
        found = self._found.get(key)
        if found is None:
            found = (of, find())
            if len(self._found) >= MOST:
                del self._found[next(iter(self._found))]
            self._found[key] = found
        return found[1]


def key_of(of: object) -> Hashable:
    """Equal for what is built alike."""
    if isinstance(of, smt.Term):
        return (of.get_id(),)
    if isinstance(of, tuple):
        return tuple(map(key_of, of))
    if isinstance(of, Window):
        return of.key
    if isinstance(of, Mapping):
        return tuple((k, key_of(v)) for k, v in of.items())
    assert isinstance(of, Hashable)
    return of
