"""What is broken about packets and schedules."""

from __future__ import annotations

from typing import Any

from tests.testing.builtin.mutant import Patch, mutant, wrapped

from polysome.engines.interp import teller
from polysome.interp import apply, rebuild
from polysome.interp.machine import Machine
from polysome.interp.packet import Packet
from polysome.kinds.policy import drr, heads, link, police, reframe, shape
from polysome.kinds.policy.classes import Classes
from polysome.kinds.state import pool

# ---------------------------------------------------------------- no crash


@mutant("no crash", "store", "ZeroDivisionError")
def the_pool_fails(patch: Patch) -> None:
    wrapped(patch, pool.Pool, "take", lambda original, self, *args: 1 // 0)


@mutant("no crash", "rewriting", "KeyError")
def the_edits_fail(patch: Patch) -> None:
    def fails(*args: Any) -> bytes:
        raise KeyError("edit")

    patch.setattr("polysome.interp.machine.apply", fails)


# ---------------------------------------------------------------- conservation


@mutant("conservation", "store", "more than once")
def a_packet_leaves_twice(patch: Patch) -> None:
    def twice(original: Any, self: Any, *args: Any) -> None:
        original(self, *args)
        original(self, *args)

    wrapped(patch, teller.Recorder, "leave", twice)


@mutant("conservation", "store", "neither left nor was dropped")
def a_packet_vanishes(patch: Patch) -> None:
    wrapped(patch, teller.Recorder, "leave", lambda original, self, *args: None)


@mutant("conservation", "priority", "was sent to")
def a_copy_leaves_by_another_port(patch: Patch) -> None:
    def elsewhere(original: Any, self: Any, port: int, *args: Any) -> None:
        original(self, 3 - port, *args)

    wrapped(patch, teller.Recorder, "leave", elsewhere)


@mutant("conservation", "store", "decided at")
def a_packet_is_decided_late(patch: Patch) -> None:
    def late(original: Any, self: Any, port: int, time: int, data: bytes) -> None:
        original(self, port, time + 1, data)

    wrapped(patch, Machine, "arrive", late)


# ---------------------------------------------------------------- packet ends


@mutant("packet ends", "rewriting", "is shorter than its network header says")
def short_frames_are_sent(patch: Patch) -> None:
    patch.setattr(Packet, "short", property(lambda self: False))


@mutant("packet ends", "rewriting", "but it ends after")
def trailers_are_sent_on(patch: Patch) -> None:
    from polysome.interp import machine

    wrapped(patch, machine, "apply", lambda original, program, p: original(program, p) + p.data[p.end :])


# ---------------------------------------------------------------- checksums


@mutant("checksums", "rewriting", "left with a wrong one")
def checksums_are_forgotten(patch: Patch) -> None:
    patch.setattr(rebuild, "updated", lambda old, difference: old)


@mutant("checksums", "store", "left with a wrong one")
def checksums_are_forgotten_by_edits(patch: Patch) -> None:
    patch.setattr(apply, "updated", lambda old, difference: old)


@mutant("checksums", "rewriting", "was given is wrong")
def new_headers_have_none(patch: Patch) -> None:
    patch.setattr(rebuild, "whole", lambda data: 0)


@mutant("checksums", "rewriting", "zero")
def zero_is_updated(patch: Patch) -> None:
    from polysome.interp import machine

    original = machine.apply

    def without_zero(program: Any, p: Any) -> bytes:
        data = original(program, p)
        at = data.find(b"\0\x0a\0\0ab")  # length and checksum of a UDP datagram without one
        return data if at < 0 else data[: at + 2] + b"\x12\x34" + data[at + 4 :]

    patch.setattr(machine, "apply", without_zero)


@mutant("checksums", "rewriting", "made to look")
def damage_is_mended(patch: Patch) -> None:
    from polysome.interp import machine
    from polysome.testing.wire import checksums

    original = machine.apply

    def mended(program: Any, p: Any) -> bytes:
        data = original(program, p)
        for c in checksums(data):
            if not c.right and c.name.endswith("UDP"):
                right = 0xFFFF - (c.residual - c.value) % 0xFFFF
                data = data[: c.at] + right.to_bytes(2, "big") + data[c.at + 2 :]
        return data

    patch.setattr(machine, "apply", mended)


# ---------------------------------------------------------------- class order


@mutant("class order", "reframe", "left first")
def a_class_is_turned_round(patch: Patch) -> None:
    def turned(original: Any, self: Any, now: int) -> None:
        for group in self.groups.values():
            group.reverse()
        original(self, now)

    wrapped(patch, reframe.Reframe, "_empty", turned)


@mutant("class order", "priority", "left first")
def no_classes_in_a_queue(patch: Patch) -> None:
    from heapq import heappop, heappush

    def push(self: Any, item: Any, now: int) -> None:
        heappush(self.heads, (self.rank(item, now), item.order, item))

    patch.setattr(heads.HeadsQueue, "push", push)
    patch.setattr(heads.HeadsQueue, "pop", lambda self: heappop(self.heads)[2])


# ---------------------------------------------------------------- schedules


def _every_byte_counts_half(patch: Patch) -> None:
    patch.setattr(link, "BYTE", link.BYTE // 2)


@mutant("schedule bounds", "drr one", "sends at")
def ports_are_twice_as_fast(patch: Patch) -> None:
    _every_byte_counts_half(patch)


@mutant("schedule bounds", "shape", "may get through")
def shaped_packets_leave_too_early(patch: Patch) -> None:
    def early(original: Any, bucket: Any, now: int, n: int, rate: int, burst: int, scale: int) -> int | None:
        return original(bucket, now, n, 2 * rate, burst, scale)  # type: ignore[no-any-return]

    wrapped(patch, shape, "ready_at", early)
    wrapped(patch, shape, "take", lambda original, b, now, n, rate, *rest: original(b, now, n, 2 * rate, *rest))


@mutant("schedule bounds", "police", "may get through")
def policed_packets_take_nothing(patch: Patch) -> None:
    wrapped(patch, police, "take", lambda original, bucket, *args: (original(bucket, *args)[0], bucket))


@mutant("schedule bounds", "reframe", "at most")
def the_window_opens_late(patch: Patch) -> None:
    def longer(original: Any, self: Any, *args: Any) -> None:
        original(self, *args)
        self.window += 20_000

    wrapped(patch, reframe.Reframe, "__init__", longer)


@mutant("schedule", "shape", "it must leave at")
def shaped_packets_are_a_nanosecond_late(patch: Patch) -> None:
    def late(original: Any, *args: Any) -> int | None:
        time: int | None = original(*args)
        return time + 1 if time is not None and time > args[1] else time

    wrapped(patch, shape, "ready_at", late)


@mutant("schedule", "priority", "SCHEDULE.md P8.1")
def priorities_are_turned_round(patch: Patch) -> None:
    def turned(original: Any, self: Any, rank: Any) -> None:
        original(self, lambda item, now: -rank(item, now))

    wrapped(patch, heads.HeadsQueue, "__init__", turned)


@mutant("schedule", "drr", "SCHEDULE.md P10")
def quanta_ignore_the_weight(patch: Patch) -> None:
    patch.setattr(drr, "quantum", lambda weight: 40)


@mutant("schedule", "served", "must leave at")
def a_full_queue_is_not_full(patch: Patch) -> None:
    patch.setattr(link, "no_room", lambda settings, size, own, total: "queue full" if own + size >= 200 else None)


@mutant("schedule", "police evict", "policed")
def classes_are_forgotten_early(patch: Patch) -> None:
    def early(original: Any, self: Any, *args: Any) -> None:
        original(self, *args)
        self.idle //= 4

    wrapped(patch, Classes, "__init__", early)


@mutant("schedule", "fifo", "holds nothing")
def everything_leaves_a_nanosecond_late(patch: Patch) -> None:
    wrapped(
        patch,
        teller.Recorder,
        "leave",
        lambda original, self, port, time, data, order: original(self, port, time + 1, data, order),
    )
