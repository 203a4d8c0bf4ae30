"""How a trace is run: the options of `outputs(…)` in properties (LANGUAGE.md L12.13)."""

from __future__ import annotations

from dataclasses import dataclass


class Unsupported(Exception):
    """An engine cannot run with these options, or is not here; the text says what is missing."""


@dataclass(frozen=True, slots=True)
class RunOptions:
    """None: as the engine does by itself. `jump` in ns; `faults`: some of loss, duplication, reordering.

    `seed` makes what is random in a run (scrambled bytes, where time jumps, faults) repeatable.
    """

    batch: int | None = None
    cores: int | None = None
    split: bool | None = None
    scramble: bool = False
    steps: int = 1
    jump: int = 0
    ties: int = 1
    capacity: int | None = None
    collisions: bool = False
    faults: frozenset[str] = frozenset()
    seed: int = 0
