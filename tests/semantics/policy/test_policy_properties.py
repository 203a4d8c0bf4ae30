"""What holds for every schedule and every traffic (reference/field.md, "Scheduler")."""

from __future__ import annotations

from typing import Any

from hypothesis import event, given
from hypothesis import strategies as st
from schedule_harness import Run, run
from schedule_strategies import ANY, BOUNDED, Schedule, workload

from polysome.kinds.policy import POLICIES

Work = tuple[Schedule, list[dict[str, Any]]]


@given(workload(ANY))
def test_every_packet_leaves_once_or_is_dropped_once_or_is_held(work: Work) -> None:
    schedule, offers = work
    r = Run(schedule.kind, schedule.settings)
    for offer in offers:
        r.offer(**offer)
        done = [order for order, _ in r.left] + [order for order, _ in r.dropped]
        assert len(done) == len(set(done)) and len(done) + r.policy.held() == len(r.items)
        assert (r.policy.held() > 0) == (r.policy.next_due() is not None)
    r.finish()
    assert len(r.left) + len(r.dropped) == len(r.items) and r.policy.held() == 0
    event(f"{schedule.kind}: {'held' if any(r.waits()) else 'none held'}, {len({why for _, why in r.dropped})} reasons")


@given(workload(ANY))
def test_nothing_leaves_before_its_arrival_and_time_never_runs_back(work: Work) -> None:
    schedule, offers = work
    r = run(schedule.kind, schedule.settings, offers)
    assert all(wait >= 0 for wait in r.waits())
    assert [time for _, time in r.left] == sorted(time for _, time in r.left)


@given(workload(ANY))
def test_a_class_keeps_its_order(work: Work) -> None:
    schedule, offers = work
    r = run(schedule.kind, schedule.settings, offers)
    last: dict[Any, int] = {}
    for order, _ in r.left:
        item, _ = r.items[order]
        key = (item.port if schedule.settings.serve else None, item.cls)
        assert last.get(key, -1) < order
        last[key] = order


@given(workload(BOUNDED))
def test_held_no_longer_than_the_bound(work: Work) -> None:
    schedule, offers = work
    longest = max((offer["size"] for offer in offers), default=14)
    bound, _ = POLICIES[schedule.kind].hold_bound(schedule.settings, schedule.args, longest)
    assert bound is not None or schedule.args is None or schedule.args[0] == 0
    r = run(schedule.kind, schedule.settings, offers)
    worst = max(r.waits(), default=0)
    assert bound is None or worst <= bound
    event(f"{schedule.kind}: {'over half of the bound' if bound and worst * 2 > bound else 'less'}")


@given(workload(ANY), st.data())
def test_when_it_is_run_changes_nothing(work: Work, data: st.DataObject) -> None:
    schedule, offers = work
    r = Run(schedule.kind, schedule.settings)
    now = offers[0]["now"] if offers else 0
    for offer in offers:  # run whatever is due at some times between the packets, too
        for time in sorted(data.draw(st.lists(st.integers(now, offer["now"]), max_size=3))):
            r.until(time)
        now = offer["now"]
        r.offer(**offer)
    r.finish()
    plain = run(schedule.kind, schedule.settings, offers)
    assert (r.left, r.dropped) == (plain.left, plain.dropped)


@given(workload(ANY))
def test_limits_of_what_is_held(work: Work) -> None:
    schedule, offers = work
    settings = schedule.settings
    r = Run(schedule.kind, settings)
    for offer in offers:
        r.offer(**offer)
        gone = {order for order, _ in r.left} | {order for order, _ in r.dropped}
        held = [item for order, (item, _) in r.items.items() if order not in gone]
        by_class: dict[Any, int] = {}
        for item in held:
            key = (item.port if settings.serve else None, item.cls)
            by_class[key] = by_class.get(key, 0) + item.size
        assert settings.buffer is None or sum(by_class.values()) <= settings.buffer
        assert settings.queue is None or all(size <= settings.queue for size in by_class.values())
        assert settings.classes is None or len(by_class) <= settings.classes
        assert settings.count is None or len(held) < settings.count


@given(workload(ANY))
def test_what_is_dropped_for_room_would_not_have_fitted(work: Work) -> None:
    schedule, offers = work
    settings = schedule.settings
    roomy = all(limit is None or limit >= 10**6 for limit in (settings.buffer, settings.queue))
    if roomy:
        r = run(schedule.kind, settings, offers)
        assert not {why for _, why in r.dropped} & {"queue full", "buffer full"}
