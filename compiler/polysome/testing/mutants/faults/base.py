"""What faults have in common."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from polysome.testing.mutants.written import Edits, Written


@dataclass(frozen=True)
class Fault:
    """`find` gives every way to make the fault in a file, those too that do not compile or change nothing."""

    name: str
    find: Callable[[Written], Iterator[Edits]]
