"""Runs a policy as the interpreter does, and records what it did."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from polysome.kinds.policy import POLICIES
from polysome.kinds.policy.base import Item, Policy, Settings


@dataclass
class Run:
    """A policy and its record: (order, time) of what left in order of leaving, (order, reason) of what was dropped."""

    kind: str
    settings: Settings
    left: list[tuple[int, int]] = field(default_factory=list)
    dropped: list[tuple[int, str]] = field(default_factory=list)
    items: dict[int, tuple[Item, int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        problem = POLICIES[self.kind].problem(self.settings)
        assert problem is None, problem
        self.policy: Policy = POLICIES[self.kind].make(
            self.settings,
            lambda item, time: self.left.append((item.order, time)),
            lambda item, reason: self.dropped.append((item.order, reason)),
        )

    def until(self, time: int) -> None:
        """Everything due at or before `time`."""
        while (due := self.policy.next_due()) is not None and due <= time:
            self.policy.run_due()

    def offer(self, now: int, cls: Hashable = "a", size: int = 100, args: Sequence[int] = (), port: int = 0) -> int:
        """One packet at `now`; returns its arrival number, counted from 0."""
        self.until(now)
        order = len(self.items)
        item = Item(None, port, size, cls, order, tuple(args))
        self.items[order] = (item, now)
        self.policy.offer(item, now)
        return order

    def finish(self) -> None:
        """Run until nothing is held."""
        while self.policy.next_due() is not None:
            self.policy.run_due()

    def waits(self) -> list[int]:
        """How long each packet that left was held."""
        return [time - self.items[order][1] for order, time in self.left]


def run(kind: str, settings: Settings, offers: Iterable[dict[str, Any]]) -> Run:
    """Offer each of `offers` (keyword arguments of `Run.offer`), then let everything leave."""
    result = Run(kind, settings)
    for offer in offers:
        result.offer(**offer)
    result.finish()
    return result
