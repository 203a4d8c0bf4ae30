"""What is broken only in another run of the same trace."""

from __future__ import annotations

import random
from typing import Any

from tests.testing.builtin.mutant import Patch, mutant, wrapped

from polysome.engines.interp import teller
from polysome.interp import state
from polysome.interp.machine import Machine
from polysome.kinds.state import array, maglev
from polysome.kinds.state.flow_map import EVICTED, Entry, FlowMap

# ---------------------------------------------------------------- runs compared


@mutant("non-interference", "store", "not relevant")
def a_relevant_byte_is_scrambled(patch: Patch) -> None:
    from polysome.engines.interp import scramble

    original = scramble.kept

    def fewer(program: Any, packet: Any) -> set[int] | None:
        found = original(program, packet)
        return None if found is None else found - {29}  # the last byte of the IPv4 source

    patch.setattr(scramble, "kept", fewer)


@mutant("non-interference", "store", "other bytes")
def what_was_scrambled_is_not_put_back(patch: Patch) -> None:
    patch.setattr(teller.Recorder, "_apply", lambda self, p: Machine._apply(self, p))


@mutant("splitting", "store", "payloads parked")
def a_relevant_byte_stays_behind(patch: Patch) -> None:
    a_relevant_byte_is_scrambled(patch)


@mutant("splitting", "store", "other bytes")
def the_payload_is_lost(patch: Patch) -> None:
    what_was_scrambled_is_not_put_back(patch)


@mutant("time jumps", "store", "more, expiry does not hold")
def long_gaps_end_nothing(patch: Patch) -> None:
    def patient(original: Any, self: Any, by: int) -> Any:
        found = original(self, by)
        return None if found is not None and by - found[0] > 150_000 else found

    wrapped(patch, state.States, "next_due", patient)


@mutant("time jumps", "store", "expiry does not hold")
def several_packets_at_once_are_one(patch: Patch) -> None:
    seen: dict[str, tuple[int, int]] = {}

    def hasty(original: Any, self: Any, entry: Entry) -> None:
        last, count = seen.get(self.name, (0, 0))
        seen[self.name] = (self._now(), count + 1 if last == self._now() else 1)
        if seen[self.name][1] < 2:
            original(self, entry)

    wrapped(patch, FlowMap, "_use", hasty)


@mutant("poll invariance", "store", "steps between packets")
def looking_takes_time(patch: Patch) -> None:
    def slow(original: Any, self: Any, time: int) -> None:
        original(self, time + 40)

    wrapped(patch, Machine, "advance", slow)


@mutant("poll invariance", "store", "steps between packets")
def buckets_are_polled(patch: Patch) -> None:
    def polled(original: Any, self: Any, time: int) -> None:
        original(self, time)
        tokens, last = dict.get(self.scalars, "one", (0, 0))
        gained = min(3 * 10**9, tokens + (time - last) * 250_000 // 10**9 * 10**9)
        dict.__setitem__(self.scalars, "one", (gained, time))

    wrapped(patch, Machine, "advance", polled)


@mutant("exhaustion", "store", "with room for 1, expiry")
def a_map_of_one_is_never_full(patch: Patch) -> None:
    wrapped(
        patch,
        FlowMap,
        "_lacks_room",
        lambda original, self, key: original(self, key) and (self.capacity > 1 or self._when_full == "evict"),
    )


@mutant("exhaustion", "store", "with room for 2, expiry")
def a_map_of_two_evicts_the_newest(patch: Patch) -> None:
    def newest(original: Any, self: Any, entry: Entry, why: int) -> None:
        if why == EVICTED and self.capacity == 2 and self.name != "oldest":
            entry = list(self._entries.values())[-1]
        original(self, entry, why)

    wrapped(patch, FlowMap, "_end", newest)


@mutant("determinism", "store", "run again")
def hashes_are_seeded_by_chance(patch: Patch) -> None:
    chance = random.Random(7)
    wrapped(patch, maglev.Maglev, "lookup", lambda original, self, hashed: original(self, chance.getrandbits(64)))


@mutant("determinism", "store", "run again")
def state_outlives_the_run(patch: Patch) -> None:
    runs = iter(range(10**9))

    def dirty(original: Any, self: Any, *args: Any) -> None:
        original(self, *args)
        if self.name == "cells":
            self._values[0] = next(runs)

    wrapped(patch, array.Array, "__init__", dirty)
