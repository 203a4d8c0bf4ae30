"""`police R, B`: what exceeds the class's rate is dropped (SCHEDULE.md P4)."""

from __future__ import annotations

from polysome.kinds.policy.base import LONGEST, Drop, Hold, Item, Leave, Policy, PolicyKind, Settings
from polysome.kinds.policy.classes import CLASS_OPTIONS, Classes, classes_memory
from polysome.kinds.state.token_bucket import SCALE, take


class Police(Policy):
    """A token bucket per class; nothing is ever held. O(1) a packet."""

    __slots__ = ("classes", "packets", "passes", "scale")

    def __init__(self, settings: Settings, leave: Leave, drop: Drop) -> None:
        super().__init__(leave, drop)
        self.classes = Classes(settings)
        self.passes = settings.when_full == "pass"
        self.packets = settings.unit == "packets"
        self.scale = SCALE[settings.unit]

    def offer(self, item: Item, now: int) -> None:
        state = self.classes.use(item.cls, now)
        if state is None:
            if self.passes:
                self.leave(item, now)
            else:
                self.drop(item, "no free class")
            return
        rate, burst = item.args
        n = 1 if self.packets else item.size
        conforms, state.bucket = take(state.bucket, now, n, rate, burst, self.scale)
        if conforms:
            self.leave(item, now)
        else:
            self.drop(item, "policed")


def hold_bound(settings: Settings, args: tuple[int, ...] | None, longest: int = LONGEST) -> Hold:
    return 0, "0: a packet leaves as it arrives, or is dropped"


KIND = PolicyKind(
    name="police",
    make=Police,
    hold_bound=hold_bound,
    memory=classes_memory,
    args=(("rate", "bitrate|packetrate"), ("burst", "bytes|u64")),
    options=CLASS_OPTIONS,
    when_full=("drop", "evict", "pass"),
    form="police RATE, BURST",
    native="Police<ClassKey>",
)
