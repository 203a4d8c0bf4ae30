"""`drr WEIGHT; serve R;`: deficit round robin (SCHEDULE.md P10; Shreedhar and Varghese, SIGCOMM 1995)."""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable

from polysome.kinds.policy.base import (
    BYTE,
    FULL_FRAME,
    LONGEST,
    SHORTEST,
    Drop,
    Hold,
    Item,
    Leave,
    Policy,
    PolicyKind,
    Settings,
    ceil_div,
)
from polysome.kinds.policy.link import LINK_OPTIONS, Link, link_memory

MOST_WEIGHT = 2**32 - 1  # so that an engine's deficits fit in 64 bits


def quantum(weight: int) -> int:
    """Bytes that one visit adds."""
    return FULL_FRAME * min(max(weight, 1), MOST_WEIGHT)


class Turn:
    """A class with packets waiting: a place in the round."""

    __slots__ = ("deficit", "items")

    def __init__(self) -> None:
        self.deficit = 0
        self.items: deque[Item] = deque()


class DrrQueue:
    """The round, a queue of classes; its first is being visited once `visiting`.

    O(1) a packet as long as packets are no longer than a quantum; a longer one takes size / quantum rounds.
    """

    __slots__ = ("classes", "round", "visiting")

    def __init__(self) -> None:
        self.classes: dict[Hashable, Turn] = {}
        self.round: deque[Turn] = deque()
        self.visiting = False

    def push(self, item: Item, now: int) -> None:
        turn = self.classes.get(item.cls)
        if turn is None:
            turn = self.classes[item.cls] = Turn()
            self.round.append(turn)
        turn.items.append(item)

    def pop(self) -> Item:
        while True:
            turn = self.round[0]
            head = turn.items[0]
            if not self.visiting:
                self.visiting = True
                turn.deficit += quantum(head.args[0])
            if head.size <= turn.deficit:
                return self._send(turn)
            self.round.rotate(-1)
            self.visiting = False

    def _send(self, turn: Turn) -> Item:
        item = turn.items.popleft()
        turn.deficit -= item.size
        if not turn.items:  # it leaves the round, and what was left of its deficit is lost
            self.round.popleft()
            self.visiting = False
            del self.classes[item.cls]
        return item


def make(settings: Settings, leave: Leave, drop: Drop) -> Policy:
    return Link(settings, DrrQueue, leave, drop)


def hold_bound(settings: Settings, args: tuple[int, ...] | None, longest: int = LONGEST) -> Hold:
    """With one constant weight; SCHEDULE.md P10.7 derives it."""
    if args is None:
        return None, "none: a weight computed per packet lets another class send any number of bytes in its turn"
    assert settings.serve is not None and settings.buffer is not None
    others = (settings.classes or settings.buffer // SHORTEST + 1) - 1
    limit = "buffer" if settings.queue is None or settings.queue > settings.buffer else "queue"
    own = settings.buffer if limit == "buffer" else settings.queue or 0
    share = quantum(args[0])
    visits = ceil_div(own, share)
    total = longest + own + others * (visits * share + longest)
    rivals = "(classes - 1)" if settings.classes is not None else f"(buffer / {SHORTEST} bytes)"
    return (
        ceil_div(total * BYTE, settings.serve),
        f"({limit} + longest packet + {rivals} * ({limit} rounded up to whole quanta + longest packet)) * 8 / serve: "
        "its own class's bytes, and as many from every other class in turn",
    )


KIND = PolicyKind(
    name="drr",
    make=make,
    hold_bound=hold_bound,
    memory=link_memory,
    args=(("weight", "u64"),),
    serve="required",
    serve_options=LINK_OPTIONS,
    when_full=("drop",),
    form="drr WEIGHT",
    native="Drr<ClassKey>",
)
