"""What SCHEDULE.md says becomes of each packet, as plainly as it can be computed: no heaps, no shortcuts.

A second implementation beside `kinds.policy`, which shares no code with it.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from polysome.testing.history import Offer

BYTE = 8 * 10**9  # in 10^-9 bit
PACKET = 10**9  # in 10^-9 packet
LAST_TIME = 2**64 - 1
MOST = 2**128 - 1
QUANTUM = 1514


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


def expected(policy: str, options: Mapping[str, Any], offers: Sequence[Offer], end: int) -> Expected:
    """For a trace that ends at `end` (ns)."""
    model: _Model
    if "serve" in options:
        model = _Link(policy, options, offers)
    elif policy in ("police", "shape"):
        model = _Buckets(policy, options, offers)
    elif policy == "reframe":
        model = _Reframe(options, offers)
    else:
        model = _Model(offers)
    for i, offer in enumerate(offers):
        model.until(offer.time)
        model.arrive(i, offer)
    model.until(end)
    return model.out


class _Model:
    """A plain fifo (P3.1)."""

    def __init__(self, offers: Sequence[Offer]) -> None:
        self.offers = offers
        self.out = Expected()

    def until(self, time: int) -> None:
        """All that is due at or before `time` leaves."""

    def arrive(self, i: int, offer: Offer) -> None:
        self.out.leave(i, offer.time, "P3.1")


class _Reframe(_Model):
    """P6."""

    def __init__(self, options: Mapping[str, Any], offers: Sequence[Offer]) -> None:
        super().__init__(offers)
        self.window, self.count = options["window"], options["count"]
        self.buffer: list[int] = []

    def until(self, time: int) -> None:
        if self.buffer and (due := self.offers[self.buffer[0]].time + self.window) <= time:
            self._empty(due)

    def arrive(self, i: int, offer: Offer) -> None:
        self.buffer.append(i)
        if len(self.buffer) == self.count:
            self._empty(offer.time)

    def _empty(self, time: int) -> None:
        classes = list(dict.fromkeys(self.offers[i].order_class for i in self.buffer))
        for i in sorted(self.buffer, key=lambda i: (classes.index(self.offers[i].order_class), i)):
            self.out.leave(i, time, "P6.2")
        self.buffer = []


@dataclass
class _Class:
    """P2: a bucket as of `last`, the bytes held."""

    made: int
    used: int
    tokens: int = MOST
    last: int = 0
    held: int = 0


class _Buckets(_Model):
    """P4 and P5, with the classes of P2."""

    def __init__(self, policy: str, options: Mapping[str, Any], offers: Sequence[Offer]) -> None:
        super().__init__(offers)
        self.shapes, self.options = policy == "shape", options
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


def full(options: Mapping[str, Any], size: int, of_class: int, total: int) -> str | None:
    """P1.7."""
    if options.get("queue") is not None and of_class + size > options["queue"]:
        return "queue full"
    return "buffer full" if total + size > options["buffer"] else None


@dataclass
class _Port:
    """`end`: of what is being sent, in 10^-9 bit; `round` of drr with deficits, and whether its first is visited."""

    end: int = 0
    waiting: list[int] = field(default_factory=list)
    round: list[Hashable] = field(default_factory=list)
    deficits: dict[Hashable, int] = field(default_factory=dict)
    visiting: bool = False


class _Link(_Model):
    """P7, with what P3.2, P8, P9 and P10 send next."""

    def __init__(self, policy: str, options: Mapping[str, Any], offers: Sequence[Offer]) -> None:
        super().__init__(offers)
        self.policy, self.options, self.rate = policy, options, options["serve"]
        self.ports: dict[int, _Port] = {}

    def until(self, time: int) -> None:
        while True:
            due = [(-(-p.end // self.rate), number) for number, p in self.ports.items() if p.waiting]
            if not due or min(due)[0] > time:
                return
            now, number = min(due)
            port = self.ports[number]
            i = self._next(port)
            port.waiting.remove(i)
            port.end += self.offers[i].size * BYTE
            cls = self.offers[i].order_class
            if cls in port.round and not any(self.offers[j].order_class == cls for j in port.waiting):
                port.visiting = port.visiting and port.round[0] != cls
                port.round.remove(cls)
                del port.deficits[cls]
            self.out.leave(i, now, _SERVICE[self.policy])

    def arrive(self, i: int, offer: Offer) -> None:
        port = self.ports.setdefault(offer.port, _Port())
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
        if self.policy == "drr" and offer.order_class not in port.round:
            port.round.append(offer.order_class)
            port.deficits[offer.order_class] = 0

    def _next(self, port: _Port) -> int:
        if self.policy == "fifo":
            return port.waiting[0]
        heads: dict[Hashable, int] = {}
        for i in port.waiting:
            heads.setdefault(self.offers[i].order_class, i)
        if self.policy == "priority":
            return min(heads.values(), key=lambda i: (-self.offers[i].args[0], i))
        if self.policy == "deadline":
            return min(heads.values(), key=lambda i: (min(self.offers[i].time + self.offers[i].args[0], LAST_TIME), i))
        return self._by_round(port, heads)

    def _by_round(self, port: _Port, heads: Mapping[Hashable, int]) -> int:
        """P10.2 to P10.4, P10.6."""
        while True:
            cls = port.round[0]
            head = self.offers[heads[cls]]
            if not port.visiting:
                port.visiting = True
                port.deficits[cls] += QUANTUM * min(max(head.args[0], 1), 2**32 - 1)
            if head.size <= port.deficits[cls]:
                port.deficits[cls] -= head.size
                return heads[cls]
            port.round.append(port.round.pop(0))
            port.visiting = False


_SERVICE = {"fifo": "P3.2", "priority": "P8.1", "deadline": "P9.1", "drr": "P10.3"}
