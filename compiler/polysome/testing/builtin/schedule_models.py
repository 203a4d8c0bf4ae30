"""What SCHEDULE.md says becomes of each packet, as plainly as it can be computed: no heaps, no shortcuts.

A second implementation beside the policies, which shares no code with them: what those with a bucket per class, and
those that serve ports, have in common. Each policy's own part is the `EXPECTED` in its folder's `expected.py`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from polysome.engines.history import Offer
from polysome.ir import program as ir
from polysome.kinds.policy import brought

BYTE = 8 * 10**9  # in 10^-9 bit
PACKET = 10**9  # in 10^-9 packet
LAST_TIME = 2**64 - 1
MOST = 2**128 - 1
SHORTEST = 14


@dataclass
class Expected:
    """What must become of the offers, by their position: when they leave, in `order` of leaving; why they are dropped;
    the rule that says so. What is in neither is held.
    """

    left: dict[int, int] = field(default_factory=dict)
    dropped: dict[int, str] = field(default_factory=dict)
    rule: dict[int, str] = field(default_factory=dict)
    order: list[int] = field(default_factory=list)

    def leave(self, i: int, time: int, rule: str) -> None:
        self.left[i] = time
        self.rule[i] = rule
        self.order.append(i)

    def drop(self, i: int, reason: str, rule: str) -> None:
        self.dropped[i] = reason
        self.rule[i] = rule


Options = Mapping[str, Any]  # `ir.Schedule.options`


class Model(ABC):
    """What becomes of the offers, one after the other."""

    def __init__(self, options: Options, offers: Sequence[Offer]) -> None:
        self.options, self.offers = options, offers
        self.out = Expected()

    def until(self, time: int) -> None:  # noqa: B027
        """All that is due at or before `time` leaves."""

    @abstractmethod
    def arrive(self, i: int, offer: Offer) -> None:
        """Offer number i, at its time, which all that was due until then has left before."""


@dataclass(frozen=True)
class ExpectedOf:
    """A policy, by its section of SCHEDULE.md: the model, and how long a packet is held at most.

    `hold_bound(options, args, longest)`: ns, None if there is no bound; `args` are the policy's values if they are the
    same for all packets; `longest` the longest packet that left. `holds(options)`: may it hold any? `meters`: a class
    gets through its burst (the second value), and its rate (the first) beyond that.
    """

    model: Callable[[Options, Sequence[Offer]], Model]
    hold_bound: Callable[[Options, tuple[int, ...] | None, int], int | None]
    holds: Callable[[Options], bool] = lambda options: True
    meters: bool = False


def expected_of(schedule: ir.Schedule) -> ExpectedOf | None:
    """What is expected of the schedule's policy; None if its folder does not say."""
    found: ExpectedOf | None = brought("expected").get(schedule.policy)
    return found


def expected(policy: ExpectedOf, options: Options, offers: Sequence[Offer], end: int) -> Expected:
    """For a trace that ends at `end` (ns)."""
    model = policy.model(options, offers)
    for i, offer in enumerate(offers):
        model.until(offer.time)
        model.arrive(i, offer)
    model.until(end)
    return model.out


def full(options: Options, size: int, of_class: int, total: int) -> str | None:
    """P1.7."""
    if options.get("queue") is not None and of_class + size > options["queue"]:
        return "queue full"
    return "buffer full" if total + size > options["buffer"] else None


def own_room(options: Options) -> int:
    """How many bytes of one class wait at most."""
    return int(min(options["buffer"], options.get("queue", options["buffer"])))


# ---------------------------------------------------------------- police and shape


def unit(options: Options) -> int:
    """What a byte, or a packet, is in tokens."""
    return PACKET if options.get("unit") == "packets" else BYTE


@dataclass
class _Class:
    """P2: a bucket as of `last`, the bytes held."""

    made: int
    used: int
    tokens: int = MOST
    last: int = 0
    held: int = 0


class Buckets(Model):
    """P4 and P5, with the classes of P2."""

    shapes: ClassVar[bool]  # what is above the rate waits (P5), or is dropped (P4)

    def __init__(self, options: Options, offers: Sequence[Offer]) -> None:
        super().__init__(options, offers)
        self.packets = options.get("unit") == "packets"
        self.classes: dict[Hashable, _Class] = {}
        self.held: list[tuple[int, int]] = []  # time to leave, position

    def until(self, time: int) -> None:
        for due, i in sorted(h for h in self.held if h[0] <= time):
            self.out.leave(i, due, "P5.1")
            cls = self.classes[self.offers[i].order_class]
            cls.held -= self.offers[i].size
            cls.used = due
        self.held = [h for h in self.held if h[0] > time]

    def arrive(self, i: int, offer: Offer) -> None:
        cls = self._class(offer.order_class, offer.time)
        if cls is None:
            if self.options["when_full"] == "pass":
                self.out.leave(i, offer.time, "P2.3")
            else:
                self.out.drop(i, "no free class", "P2.3")
            return
        rate, burst = offer.args
        scale, n = (PACKET, 1) if self.packets else (BYTE, offer.size)
        start = max(offer.time, cls.last)
        tokens = min(burst * scale, MOST, cls.tokens + (start - cls.last) * rate)
        missing = n * scale - tokens
        if missing > 0 and not self.shapes:
            self.out.drop(i, "policed", "P4.2")
            return
        if n > burst:
            self.out.drop(i, "longer than burst", "P5.4")
            return
        time = start if missing <= 0 else LAST_TIME + 1 if rate == 0 else start + -(-missing // rate)
        if time > LAST_TIME:
            self.out.drop(i, "rate too low", "P5.5")
            return
        full = self._full(offer.size, cls.held) if time > offer.time else None
        if full is not None:
            self.out.drop(i, full, "P1.7")
            return
        cls.tokens = min(burst * scale, MOST, cls.tokens + (time - cls.last) * rate) - n * scale
        cls.last = time
        if time == offer.time:
            self.out.leave(i, time, "P5.1" if self.shapes else "P4.1")
        else:
            cls.held += offer.size
            self.held.append((time, i))

    def _full(self, size: int, of_class: int) -> str | None:
        total = sum(self.offers[i].size for _, i in self.held)
        return full(self.options, size, of_class, total)

    def _class(self, key: Hashable, now: int) -> _Class | None:
        """P2.1 to P2.5."""
        idle = self.options["idle"]
        for other in [k for k, c in self.classes.items() if not c.held and now - c.used >= idle]:
            del self.classes[other]
        if key not in self.classes:
            if len(self.classes) >= self.options["classes"]:
                free = [(c.used, c.made, k) for k, c in self.classes.items() if not c.held]
                if self.options["when_full"] != "evict" or not free:
                    return None
                del self.classes[min(free, key=lambda found: found[:2])[2]]
            self.classes[key] = _Class(len(self.out.rule) + len(self.held), now)
        self.classes[key].used = now
        return self.classes[key]


# ---------------------------------------------------------------- ports with a rate


@dataclass
class Port:
    """`end`: of what is being sent, in 10^-9 bit; `waiting`: positions, in the order of arrival."""

    end: int = 0
    waiting: list[int] = field(default_factory=list)


class Link(Model):
    """P7; which of what waits a port sends next is up to the policy. `rule`: of its section, that which says so."""

    rule: ClassVar[str]

    def __init__(self, options: Options, offers: Sequence[Offer]) -> None:
        super().__init__(options, offers)
        self.rate = options["serve"]
        self.ports: dict[int, Port] = {}

    def until(self, time: int) -> None:
        while True:
            due = [(-(-p.end // self.rate), number) for number, p in self.ports.items() if p.waiting]
            if not due or min(due)[0] > time:
                return
            now, number = min(due)
            port = self.ports[number]
            i = self.next(number, port.waiting)
            port.waiting.remove(i)
            port.end += self.offers[i].size * BYTE
            self.sent(number, self.offers[i].order_class, port.waiting)
            self.out.leave(i, now, self.rule)

    def arrive(self, i: int, offer: Offer) -> None:
        port = self.ports.setdefault(offer.port, Port())
        if port.end <= offer.time * self.rate:
            port.end = offer.time * self.rate + offer.size * BYTE
            self.out.leave(i, offer.time, "P7.2")
            return
        waiting = {(number, self.offers[j].order_class): 0 for number, p in self.ports.items() for j in p.waiting}
        for number, p in self.ports.items():
            for j in p.waiting:
                waiting[number, self.offers[j].order_class] += self.offers[j].size
        of_class = waiting.get((offer.port, offer.order_class))
        if of_class is None and "classes" in self.options and len(waiting) >= self.options["classes"]:
            self.out.drop(i, "no free class", "P7.5")
            return
        reason = full(self.options, offer.size, of_class or 0, sum(waiting.values()))
        if reason is not None:
            self.out.drop(i, reason, "P1.7")
            return
        port.waiting.append(i)
        self.waits(offer.port, offer.order_class)

    @abstractmethod
    def next(self, port: int, waiting: Sequence[int]) -> int:
        """The position of the offer that the port sends next, of those that wait there."""

    def waits(self, port: int, cls: Hashable) -> None:
        """A packet of the class has begun to wait at the port."""

    def sent(self, port: int, cls: Hashable, waiting: Sequence[int]) -> None:
        """One that waited was sent; `waiting`: what is left there."""

    def heads(self, waiting: Sequence[int]) -> dict[Hashable, int]:
        """The first of each class."""
        found: dict[Hashable, int] = {}
        for i in waiting:
            found.setdefault(self.offers[i].order_class, i)
        return found


def one_queue_bound(options: Options, args: tuple[int, ...] | None, longest: int) -> int | None:
    """P3.2; where nothing that comes later is sent first."""
    return None if args is None else -(-(options["buffer"] + longest) * BYTE // options["serve"])
