"""The classes that police and shape keep a bucket for: at most N, forgotten when idle (SCHEDULE.md P2)."""

from __future__ import annotations

from abc import abstractmethod
from collections import OrderedDict
from collections.abc import Hashable

from polysome.kinds.base import Option
from polysome.kinds.policy.base import CLASS_RECORD, Drop, Item, Leave, Policy, Settings, ceil_div
from polysome.kinds.state.token_bucket import FULL, SCALE, Bucket

CLASS_OPTIONS = (
    Option("classes", "count", required=True, why="each class has a token bucket, and somewhere memory ends"),
    Option("idle", "duration", required=True, why="a class that long out of use is forgotten"),
    Option("when_full", "word", required=True, why="say what a new class meets when all are taken"),
)


class ClassState:
    """One class: its bucket, the bytes it holds, its last use, its number."""

    __slots__ = ("bucket", "held", "made", "used")

    def __init__(self, made: int, used: int) -> None:
        self.bucket: Bucket = FULL
        self.held = 0
        self.made = made
        self.used = used


class Classes:
    """At most `classes` classes. Expiry is lazy in work and exact in effect, because `now` never runs back.

    O(1) a call; an eviction costs as many steps as classes were last used at the same instant.
    """

    __slots__ = ("evicts", "holding", "idle", "limit", "made", "resting")

    def __init__(self, settings: Settings) -> None:
        assert settings.classes is not None and settings.idle is not None
        self.limit = settings.classes
        self.idle = settings.idle
        self.evicts = settings.when_full == "evict"
        self.holding: dict[Hashable, ClassState] = {}
        self.resting: OrderedDict[Hashable, ClassState] = OrderedDict()  # hold nothing; by last use
        self.made = 0

    def use(self, cls: Hashable, now: int) -> ClassState | None:
        """The class's state after this use of it, made if there is none; None if it finds no room."""
        resting = self.resting
        while resting and next(iter(resting.values())).used + self.idle <= now:
            resting.popitem(last=False)
        state = self.holding.get(cls)
        if state is None:
            state = resting.get(cls)
            if state is not None:
                resting.move_to_end(cls)
        if state is None:
            if len(self.holding) + len(resting) >= self.limit and not self._evict():
                return None
            state = resting[cls] = ClassState(self.made, now)
            self.made += 1
        state.used = now
        return state

    def _evict(self) -> bool:
        """Forget the resting class used longest ago, among equals the one made first; False if none may go."""
        if not self.evicts or not self.resting:
            return False
        oldest, state = next(iter(self.resting.items()))
        for cls, other in self.resting.items():
            if other.used != state.used:
                break
            if other.made < self.resting[oldest].made:
                oldest = cls
        del self.resting[oldest]
        return True

    def hold(self, cls: Hashable, state: ClassState, size: int) -> None:
        """The class holds `size` bytes more, and so cannot be forgotten."""
        if not state.held:
            self.holding[cls] = self.resting.pop(cls)
        state.held += size

    def release(self, cls: Hashable, state: ClassState, size: int, now: int) -> None:
        """A held packet leaves: a use of its class."""
        state.held -= size
        if not state.held:
            state.used = now
            self.resting[cls] = self.holding.pop(cls)


class OfClasses(Policy):
    """What a policy with a token bucket per class does with each packet of a class that has one is `meter`."""

    __slots__ = ("classes", "packets", "passes", "scale")

    def __init__(self, settings: Settings, leave: Leave, drop: Drop) -> None:
        super().__init__(leave, drop)
        self.classes = Classes(settings)
        self.passes = settings.when_full == "pass"
        self.packets = settings.unit == "packets"
        self.scale = SCALE[settings.unit]

    def offer(self, item: Item, now: int) -> None:
        state = self.classes.use(item.cls, now)
        if state is not None:
            rate, burst = item.args
            self.meter(state, item, 1 if self.packets else item.size, rate, burst, now)
        elif self.passes:
            self.leave(item, now)
        else:
            self.drop(item, "no free class")

    @abstractmethod
    def meter(self, state: ClassState, item: Item, n: int, rate: int, burst: int, now: int) -> None:
        """A packet that takes `n` tokens of the class's bucket."""


def classes_memory(settings: Settings, class_bits: int = 104) -> int:
    """Bytes of `classes` records."""
    assert settings.classes is not None
    return settings.classes * (CLASS_RECORD + ceil_div(class_bits, 8))
