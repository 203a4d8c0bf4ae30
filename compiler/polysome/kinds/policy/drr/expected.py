"""drr, as SCHEDULE.md P10 says it."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field

from polysome.engines.history import Offer
from polysome.testing.builtin.schedule_models import BYTE, SHORTEST, ExpectedOf, Link, Options, own_room

FULL_FRAME = 1514


def quantum(weight: int) -> int:
    """P10.2, P10.6."""
    return FULL_FRAME * min(max(weight, 1), 2**32 - 1)


@dataclass
class _Round:
    """Of one port: classes with their deficits in turn, and whether the first is visited."""

    deficits: dict[Hashable, int] = field(default_factory=dict)
    turns: list[Hashable] = field(default_factory=list)
    visiting: bool = False


class Drr(Link):
    """P10."""

    rule = "P10.3"

    def __init__(self, options: Options, offers: Sequence[Offer]) -> None:
        super().__init__(options, offers)
        self.rounds: dict[int, _Round] = {}

    def waits(self, port: int, cls: Hashable) -> None:
        """P10.1."""
        found = self.rounds.setdefault(port, _Round())
        if cls not in found.turns:
            found.turns.append(cls)
            found.deficits[cls] = 0

    def next(self, port: int, waiting: Sequence[int]) -> int:
        """P10.2 to P10.4."""
        heads, turn = self.heads(waiting), self.rounds[port]
        while True:
            cls = turn.turns[0]
            head = self.offers[heads[cls]]
            if not turn.visiting:
                turn.visiting = True
                turn.deficits[cls] += quantum(head.args[0])
            if head.size <= turn.deficits[cls]:
                turn.deficits[cls] -= head.size
                return heads[cls]
            turn.turns.append(turn.turns.pop(0))
            turn.visiting = False

    def sent(self, port: int, cls: Hashable, waiting: Sequence[int]) -> None:
        """P10.5."""
        turn = self.rounds[port]
        if cls not in self.heads(waiting):
            turn.visiting = turn.visiting and turn.turns[0] != cls
            turn.turns.remove(cls)
            del turn.deficits[cls]


def hold_bound(options: Options, args: tuple[int, ...] | None, longest: int) -> int | None:
    """P10.7."""
    if args is None:
        return None
    own, each = own_room(options), quantum(args[0])
    others = options["classes"] - 1 if "classes" in options else options["buffer"] // SHORTEST
    total = longest + own + others * (-(-own // each) * each + longest)
    return int(-(-total * BYTE // options["serve"]))


EXPECTED = ExpectedOf(Drr, hold_bound)
