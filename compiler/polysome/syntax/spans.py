"""Where things stand in source files."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Span:
    """Characters `start` to `end` (excluded) of `file`, the name that messages show."""

    file: str
    start: int
    end: int

    def to(self, other: Span) -> Span:
        """From the start of this to the end of `other`, in the same file."""
        return Span(self.file, self.start, max(self.end, other.end))


class Source:
    """A file's text, with line and column look-up (both counted from 1)."""

    def __init__(self, name: str, text: str) -> None:
        self.name = name
        self.text = text
        self._starts = [0] + [i + 1 for i, c in enumerate(text) if c == "\n"]

    def position(self, offset: int) -> tuple[int, int]:
        line = bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1] + 1

    def line(self, number: int) -> str:
        end = self._starts[number] - 1 if number < len(self._starts) else len(self.text)
        return self.text[self._starts[number - 1] : end].rstrip("\r")
