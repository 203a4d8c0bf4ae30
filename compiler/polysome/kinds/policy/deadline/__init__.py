"""`deadline EXPR; serve R;`: earliest deadline first (SCHEDULE.md P9; Liu and Layland 1973, section 7)."""

from __future__ import annotations

from polysome.kinds.policy.base import LAST_TIME, LONGEST, Drop, Hold, Item, Leave, Policy, PolicyKind, Settings
from polysome.kinds.policy.heads import HeadsQueue
from polysome.kinds.policy.link import LINK_OPTIONS, Link, link_memory, one_queue_bound


def rank(item: Item, arrival: int) -> int:
    """The absolute deadline, as a 64-bit time that stops at its largest value."""
    return min(arrival + item.args[0], LAST_TIME)


def make(settings: Settings, leave: Leave, drop: Drop) -> Policy:
    return Link(settings, lambda: HeadsQueue(rank), leave, drop)


def hold_bound(settings: Settings, args: tuple[int, ...] | None, longest: int = LONGEST) -> Hold:
    if args is None:
        return None, "none: a deadline computed per packet may lie any time ahead, and nearer ones go first"
    return one_queue_bound(settings, longest)


KIND = PolicyKind(
    name="deadline",
    make=make,
    hold_bound=hold_bound,
    memory=link_memory,
    args=(("deadline", "duration"),),
    serve="required",
    serve_options=LINK_OPTIONS,
    when_full=("drop",),
    form="deadline DURATION",
    native="Deadline<ClassKey>",
)
