"""What a campaign is to do."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from polysome.resources import MEANING


class Sizes(StrEnum):
    """How much room state has: a few entries, as declared, or in turn."""

    both = "both"
    small = "small"
    declared = "declared"


@dataclass(frozen=True)
class Plan:
    """What to do: `seconds` of generating, and at most `traces` if given.

    `architecture`: of the machines around the NF, if `engine` has some; None: its own.
    `only`: names of properties, all if empty; `first`: stop at the first failure; `shrinking`: seconds at most for each
    property that fails.
    """

    engine: str = MEANING
    architecture: str | None = None
    sizes: Sizes = Sizes.both
    seed: int = 0
    seconds: float = 30.0
    traces: int | None = None
    only: tuple[str, ...] = ()
    captures: tuple[Path, ...] = ()
    first: bool = False
    shrinking: float = 20.0
