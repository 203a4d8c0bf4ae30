"""`priority EXPR; serve R;`: the largest value is sent first (SCHEDULE.md P8)."""

from __future__ import annotations

from polysome.kinds.policy.base import LONGEST, Drop, Hold, Item, Leave, Policy, PolicyKind, Settings
from polysome.kinds.policy.heads import HeadsQueue
from polysome.kinds.policy.link import LINK_OPTIONS, Link, link_memory, one_queue_bound


def rank(item: Item, arrival: int) -> int:
    return -item.args[0]


def make(settings: Settings, leave: Leave, drop: Drop) -> Policy:
    return Link(settings, lambda: HeadsQueue(rank), leave, drop)


def hold_bound(settings: Settings, args: tuple[int, ...] | None, longest: int = LONGEST) -> Hold:
    if args is None:
        return None, "none: as long as larger priorities keep coming, a smaller one waits"
    return one_queue_bound(settings, longest)


KIND = PolicyKind(
    name="priority",
    make=make,
    hold_bound=hold_bound,
    memory=link_memory,
    args=(("value", "u64"),),
    serve="required",
    serve_options=LINK_OPTIONS,
    when_full=("drop",),
    form="priority VALUE",
    native="Priority<ClassKey>",
)
