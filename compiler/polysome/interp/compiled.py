"""Generated Python, compiled once: programs that differ little have much of it in common."""

from __future__ import annotations

from functools import lru_cache
from types import CodeType


@lru_cache(maxsize=4096)
def compiled(source: str, title: str) -> CodeType:
    """A module's code; `title` stands where a file's name would in a traceback."""
    return compile(source, f"<{title}>", "exec")
