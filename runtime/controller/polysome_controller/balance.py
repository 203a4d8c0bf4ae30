"""Keeps payload off busy servers: which buckets are where after a look at the load. Pure functions.

A server is busy if its payload is more than `high` of what is allowed there. Then so many of its buckets go that the
rest brings the middle between `low` and `high` (multiplicative decrease): first those that it has of others, then its
own, the highest-numbered first. They go to servers with room, in proportion to it, and where there is no room, nowhere:
their packets go whole. A server whose payload is below `low` gets `step` of its own buckets back at most (additive
increase), the last one that left first. Between `low` and `high`, nothing moves: that is the hysteresis. No bucket of a
server that is not busy moves, so its flows stay where they are.

Nothing is moved onto a server that would make it busy, judged by what a bucket carries on average; and a number of
buckets that was too many is not tried again for RETRY_POLLS looks, unless more is allowed now.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

NOWHERE = -1
RETRY_POLLS = 50


@dataclass(frozen=True)
class Policy:
    """Shares; see BackOff of control.proto."""

    high: float
    low: float
    step: float

    @property
    def middle(self) -> float:
        return (self.high + self.low) / 2


@dataclass(frozen=True)
class Load:
    """Of a server at a look, bit/s. `serves`: it has a queue pair that is up."""

    payload: float
    allowed: float
    serves: bool = True


@dataclass(frozen=True)
class Ceiling:
    """So many buckets were too many, when so much was allowed; forgotten after `polls` more looks."""

    buckets: int
    allowed: float
    polls: int


@dataclass(frozen=True)
class Balance:
    """`homes`: each bucket's own server; `places`: where it is, or NOWHERE; `ceilings`: by server."""

    homes: tuple[int, ...]
    places: tuple[int, ...]
    ceilings: tuple[Ceiling | None, ...]

    def at(self, server: int) -> list[int]:
        return [bucket for bucket, place in enumerate(self.places) if place == server]

    def own(self, server: int) -> int:
        return sum(home == server for home in self.homes)


def start(homes: tuple[int, ...], servers: int) -> Balance:
    """All buckets at home."""
    return Balance(homes, homes, (None,) * servers)


def decide(before: Balance, loads: tuple[Load, ...], policy: Policy) -> Balance:
    """One look: O(buckets · servers)."""
    places = list(before.places)
    ceilings = tuple(_aged(c, load) for c, load in zip(before.ceilings, loads, strict=True))
    each = _per_bucket(before, loads)
    homeless = [bucket for bucket, place in enumerate(places) if place == NOWHERE]
    ceilings_after = list(ceilings)
    busy = set()
    for server, load in enumerate(loads):
        if load.serves and load.payload > policy.high * load.allowed:
            busy.add(server)
            leaving = _leaving(before, server, load, policy)
            if leaving:
                count = len(before.at(server))
                ceilings_after[server] = Ceiling(count, load.allowed, RETRY_POLLS)
            for bucket in leaving:
                places[bucket] = NOWHERE
            homeless += leaving
    after = replace(before, places=tuple(places), ceilings=tuple(ceilings_after))
    after = _come_back(after, loads, policy, each, busy)
    return _give_away(after, [b for b in homeless if after.places[b] == NOWHERE], loads, policy, each, busy)


def _aged(ceiling: Ceiling | None, load: Load) -> Ceiling | None:
    if ceiling is None or ceiling.polls == 0 or load.allowed > 1.1 * ceiling.allowed:
        return None
    return replace(ceiling, polls=ceiling.polls - 1)


def _per_bucket(balance: Balance, loads: tuple[Load, ...]) -> list[float]:
    """What a bucket at each server carries on average; where there are none, what one does anywhere."""
    counts = [len(balance.at(server)) for server in range(len(loads))]
    total = sum(counts)
    anywhere = sum(load.payload for load in loads) / total if total else 0.0
    return [load.payload / count if count else anywhere for load, count in zip(loads, counts, strict=True)]


def _leaving(balance: Balance, server: int, load: Load, policy: Policy) -> list[int]:
    """Of the buckets at a busy server. One stays as long as anything is allowed, to see what a bucket carries."""
    here = balance.at(server)
    stay = int(len(here) * policy.middle * load.allowed / load.payload)
    stay = max(stay, 1 if load.allowed > 0 else 0)
    guests = sorted((b for b in here if balance.homes[b] != server), reverse=True)
    own = sorted((b for b in here if balance.homes[b] == server), reverse=True)
    return (guests + own)[: max(0, len(here) - stay)]


def _room(balance: Balance, server: int, load: Load, share: float, each: float) -> int:
    """How many more buckets, of `each` bit/s, fit under `share` of what is allowed, and under the ceiling."""
    here, away = len(balance.at(server)), len(balance.homes)
    spare = share * load.allowed - load.payload
    if not load.serves or load.allowed <= 0 or spare <= 0:
        return 0
    fit = int(spare / each) if spare < each * away else away
    ceiling = balance.ceilings[server]
    return max(0, min(fit, away, away if ceiling is None else ceiling.buckets - 1 - here))


def _come_back(balance: Balance, loads: tuple[Load, ...], policy: Policy, each: list[float], busy: set[int]) -> Balance:
    """To each server that has room again some of its own, lowest-numbered first: the reverse of how they left."""
    places = list(balance.places)
    for server, load in enumerate(loads):
        if server in busy or not load.serves or load.payload >= policy.low * load.allowed:
            continue
        away = [b for b, home in enumerate(balance.homes) if home == server and balance.places[b] != server]
        step = max(1, int(policy.step * balance.own(server)))
        for bucket in away[: min(step, _room(balance, server, load, policy.high, each[server]))]:
            places[bucket] = server
    return replace(balance, places=tuple(places))


def _give_away(
    balance: Balance, homeless: list[int], loads: tuple[Load, ...], policy: Policy, each: list[float], busy: set[int]
) -> Balance:
    """Buckets that are nowhere to servers that have all of their own and room for more, in proportion to it."""
    rooms = {}
    for server, load in enumerate(loads):
        complete = all(
            place == server for home, place in zip(balance.homes, balance.places, strict=True) if home == server
        )
        if server not in busy and complete:
            carries = max([each[server], *(each[balance.homes[b]] for b in homeless)])
            rooms[server] = _room(balance, server, load, policy.middle, carries)
    total = sum(rooms.values())
    if not total or not homeless:
        return balance
    places, waiting = list(balance.places), sorted(homeless)
    given = room_before = 0
    for server, room in rooms.items():
        room_before += room
        quota = min(len(homeless), total) * room_before // total - given
        given += quota
        for _ in range(quota):
            bucket = next((b for b in waiting if balance.homes[b] != server), None)
            if bucket is None:
                break
            waiting.remove(bucket)
            places[bucket] = server
    return replace(balance, places=tuple(places))
