"""`police R, B`: what exceeds the class's rate is dropped (SCHEDULE.md P4)."""

from __future__ import annotations

from polysome.kinds.policy.base import LONGEST, Hold, Item, PolicyKind, Settings
from polysome.kinds.policy.classes import CLASS_OPTIONS, ClassState, OfClasses, classes_memory
from polysome.kinds.state.token_bucket import take


class Police(OfClasses):
    """A token bucket per class; nothing is ever held. O(1) a packet."""

    __slots__ = ()

    def meter(self, state: ClassState, item: Item, n: int, rate: int, burst: int, now: int) -> None:
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
