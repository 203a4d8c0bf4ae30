"""`array<V>[n]`: a fixed number of values by position (STATE.md, section 3)."""

from __future__ import annotations

from typing import Any

from polysome.kinds.base import Trap


class Array:
    """`size` values, all `initial` at first; values are copies. Every operation is O(1)."""

    def __init__(self, name: str, size: int, initial: Any) -> None:
        self.name = name
        self._values = [initial] * size

    def get(self, i: int) -> Any:
        """The value at `i`, from 0. Trap past the end."""
        if i >= len(self._values):
            raise Trap(f"index past the end of {self.name}")
        return self._values[i]

    def set(self, i: int, value: Any) -> None:
        """Replaces the value at `i`, from 0. Trap past the end."""
        if i >= len(self._values):
            raise Trap(f"index past the end of {self.name}")
        self._values[i] = value

    def __len__(self) -> int:
        return len(self._values)
