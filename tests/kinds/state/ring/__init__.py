"""`ring<V> { room n; }`: the last n values. A kind of state for tests, which adds it to Polysome as a folder."""

from __future__ import annotations

from pathlib import Path

from polysome.kinds.base import Method, NativeState, Option, StateKind


class Ring:
    """The last `room` values; `in` is O(room)."""

    def __init__(self, room: int) -> None:
        self.room = room
        self.clear()

    def push(self, value: object) -> None:
        """One more; the oldest goes if there is no room."""
        self.items = [*self.items, value][-self.room :]

    def held(self) -> int:
        """How many are there."""
        return len(self.items)

    def __contains__(self, value: object) -> bool:
        return value in self.items

    def clear(self) -> None:
        """Forgets everything."""
        self.items: list[object] = []


KIND = StateKind(
    name="ring",
    params=("V",),
    options=(Option("room", "count", required=True, room=True, why="it is how many are kept"),),
    methods=(
        Method("push", ("V",), None, writes=True),
        Method("held", (), "u64", writes=False),
        Method("clear", (), None, writes=True),
    ),
    make=lambda options, ctx: Ring(options["room"]),
    memory=lambda options, key_bits, value_bits: options["room"] * ((key_bits + 7) // 8),
    note=lambda options: f"the last {options['room']}",
    element="V",
    native=NativeState(
        "Ring<std::array<uint64_t, {words}>>",
        lambda options: (options["room"],),
        keeps_keys=True,
        memory=lambda options, words, table: 8 * words * options["room"],
        header=Path(__file__).with_name("ring.hpp"),
    ),
)
