"""Served ports and reframe against slow models of their own: what is sent when, and in which order."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from math import ceil
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from schedule_harness import Run, run
from schedule_strategies import LAST, REFRAME, SIZES, Schedule, served, workload

from polysome.kinds.policy.base import Item, Settings

Work = tuple[Schedule, list[dict[str, Any]]]


def by_port(r: Run) -> Iterator[list[tuple[Item, int, int]]]:
    """(packet, arrival, time of leaving) of what left, for each port."""
    ports: dict[int, list[tuple[Item, int, int]]] = {}
    for order, time in r.left:
        item, arrival = r.items[order]
        ports.setdefault(item.port, []).append((item, arrival, time))
    yield from ports.values()


@given(workload(served()))
def test_ports_conserve_work_and_never_drift(work: Work) -> None:
    schedule, offers = work
    r = run(schedule.kind, schedule.settings, offers)
    for sent in by_port(r):
        end = Fraction(0)
        for i, (item, arrival, time) in enumerate(sent):
            start = max(Fraction(arrival), end)
            assert time == ceil(start)  # not later, and not before the packet in front was out
            if arrival > end:  # the port was idle: nothing else may have been waiting then
                assert all(other >= arrival for _, other, _ in sent[i:])
            end = start + Fraction(item.size * 8 * 10**9, schedule.settings.serve or 1)


def never_inverted(r: Run, key: Callable[[Item, int], tuple[int, int]]) -> None:
    """No packet left a port while the first packet of another class had a smaller key."""
    for sent in by_port(r):
        for i, (item, arrival, time) in enumerate(sent):
            heads: dict[Any, tuple[Item, int]] = {}
            for other, other_arrival, _ in sent[i:]:
                if other_arrival < time:  # what arrives at that instant comes after what is due (P1.3)
                    heads.setdefault(other.cls, (other, other_arrival))
            assert all(key(item, arrival) <= key(*head) for head in heads.values())


@given(workload(served(("priority",))))
def test_priority_is_never_inverted(work: Work) -> None:
    schedule, offers = work
    never_inverted(run("priority", schedule.settings, offers), lambda item, _: (-item.args[0], item.order))


@given(workload(served(("deadline",))))
def test_the_earliest_deadline_is_first(work: Work) -> None:
    schedule, offers = work
    r = run("deadline", schedule.settings, offers)
    never_inverted(r, lambda item, arrival: (min(arrival + item.args[0], LAST), item.order))


class PaperDrr:
    """Deficit round robin as its paper writes it: an enqueuing and a dequeuing process."""

    def __init__(self) -> None:
        self.queues: dict[Any, list[Item]] = {}
        self.deficit: dict[Any, int] = {}
        self.active: list[Any] = []
        self.dequeued = self.dequeuing()

    def enqueue(self, item: Item) -> None:
        if not self.queues.get(item.cls):
            self.queues[item.cls] = []
            self.deficit[item.cls] = 0
            self.active.append(item.cls)
        self.queues[item.cls].append(item)

    def dequeuing(self) -> Iterator[Item]:
        while True:
            cls = self.active[0]
            queue = self.queues[cls]
            self.deficit[cls] += 1514 * min(max(queue[0].args[0], 1), 2**32 - 1)
            while queue[0].size <= self.deficit[cls]:
                item = queue.pop(0)
                self.deficit[cls] -= item.size
                if not queue:
                    self.active.pop(0)
                    yield item
                    break
                yield item
            else:
                self.active.append(self.active.pop(0))


@given(workload(served(("drr",))))
def test_drr_sends_what_the_papers_algorithm_sends(work: Work) -> None:
    schedule, offers = work
    r = run("drr", schedule.settings, offers)
    for sent in by_port(r):
        model, waiting = PaperDrr(), sorted(sent, key=lambda s: s[0].order)
        for item, arrival, time in sent:
            if time == arrival:  # it found the port free
                assert waiting.pop(0)[0] is item and not model.active
                continue
            while waiting and waiting[0][1] < time:
                model.enqueue(waiting.pop(0)[0])
            assert next(model.dequeued) is item


@given(st.lists(st.tuples(st.integers(0, 9), st.lists(SIZES, min_size=1, max_size=9)), min_size=2, max_size=3))
def test_drr_shares_converge_to_the_weights(classes: list[tuple[int, list[int]]]) -> None:
    # While two classes wait, what they got per weight differs by at most Q + 2 L (the paper's fairness measure),
    # however long that is: each class repeats its sizes.
    settings = Settings(serve=10**9, buffer=10**9, when_full="drop")
    r = Run("drr", settings)
    r.offer(0, "first", args=(1,))
    for cls, (weight, sizes) in enumerate(classes):
        for k in range(200):
            r.offer(0, cls, sizes[k % len(sizes)], args=(weight,))
    left: dict[Any, int] = {cls: sum(item.cls == cls for item, _ in r.items.values()) for cls in range(len(classes))}
    longest = max(size for _, sizes in classes for size in sizes)
    got: dict[Any, int] = dict.fromkeys(left, 0)
    while all(left.values()):
        share = [Fraction(got[cls], max(classes[cls][0], 1)) for cls in got]
        assert max(share) - min(share) <= 1514 + 2 * longest
        r.policy.run_due()
        item, _ = r.items[r.left[-1][0]]
        got[item.cls] += item.size
        left[item.cls] -= 1


@given(workload(REFRAME))
def test_reframe_groups_like_brute_force(work: Work) -> None:
    schedule, offers = work
    window, count = schedule.settings.window, schedule.settings.count
    assert window is not None and count is not None
    rest, expected = list(enumerate(offers)), []
    while rest:
        end = rest[0][1]["now"] + window
        batch = [p for i, p in enumerate(rest) if i == 0 or p[1]["now"] < end][:count]
        time = batch[-1][1]["now"] if len(batch) == count else end
        first: dict[str, int] = {}
        for order, offer in batch:
            first.setdefault(offer["cls"], order)
        expected += [(order, time) for order, _ in sorted(batch, key=lambda p: (first[p[1]["cls"]], p[0]))]
        rest = rest[len(batch) :]
    assert run("reframe", schedule.settings, offers).left == expected
