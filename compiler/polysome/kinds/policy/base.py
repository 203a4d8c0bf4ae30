"""What every schedule policy is to the interpreter (`Policy`) and to the compiler (`PolicyKind`).

The meaning of `schedule { class EXPR; POLICY; … }` is SCHEDULE.md, beside this file. All times are ns since
the trace's epoch, all sizes bytes, all rates bit/s or packets/s; everything is an exact `int`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol

from polysome.kinds.base import Option

BYTE = 8 * 10**9  # one byte in 10^-9 bit, the unit in which rate x time is a whole number
SHORTEST = 14  # a packet on a port has at least an Ethernet header
LONGEST = 65_600  # 40 + 65535 of IPv6, an Ethernet header and two tags, rounded up
LAST_TIME = 2**64 - 1  # times are 64 bits
FULL_FRAME = 1514  # an Ethernet frame with 1500 bytes of payload: what one unit of DRR weight stands for
PACKET_RECORD, CLASS_RECORD, TYPICAL_SHORT = 48, 64, 64  # bytes, for `memory` (SCHEDULE.md P1.9)

WhenFull = Literal["drop", "evict", "pass"]


@dataclass(slots=True)
class Item:
    """One packet (one copy, if it goes to several ports) that a handler sent.

    `size`: bytes of the packet as it leaves, at least 14. `order`: the packet's arrival number, which never falls
    from offer to offer; copies of one packet share it, and their class. `args`: the policy's run-time expressions
    as evaluated at the arrival, in the order of `PolicyKind.args`.
    """

    packet: Any
    port: int
    size: int
    cls: Hashable
    order: int
    args: tuple[int, ...] = ()


@dataclass(frozen=True)
class Settings:
    """The constants of a schedule, None where the spec says nothing.

    `serve` bit/s per output port; `classes` a number; `idle` ns; `buffer` and `queue` bytes; `window` (ns) and
    `count` (packets) of reframe; `unit`: whether rate and burst of police and shape count bytes or packets.
    """

    serve: int | None = None
    classes: int | None = None
    idle: int | None = None
    buffer: int | None = None
    queue: int | None = None
    when_full: WhenFull | None = None
    window: int | None = None
    count: int | None = None
    unit: Literal["bytes", "packets"] = "bytes"


Leave = Callable[[Item, int], None]  # the packet leaves at that time
Drop = Callable[[Item, str], None]  # the packet is dropped, now, for that reason


class Policy(ABC):
    """A schedule at work. Deterministic; holds packets, tells when it has to be run, never reads a clock.

    The caller keeps time (SCHEDULE.md P1.3): `now` never runs back, and before `offer(item, now)` it calls
    `run_due()` as long as `next_due()` is not None and <= now. Every item offered gets exactly one call of
    `leave` or `drop`, or is still held. The settings are taken to be free of `PolicyKind.problem`s.
    The defaults here are those of a policy that holds nothing.
    """

    __slots__ = ("drop", "leave")

    def __init__(self, leave: Leave, drop: Drop) -> None:
        self.leave = leave
        self.drop = drop

    @abstractmethod
    def offer(self, item: Item, now: int) -> None:
        """Take a packet that a handler sent at `now`; it may leave or be dropped within the call."""

    def next_due(self) -> int | None:
        """When `run_due` is wanted next; None if nothing is held. O(1)."""
        return None

    def run_due(self) -> None:
        """Let everything leave that is due at exactly `next_due()`; nothing if that is None."""
        return

    def held(self) -> int:
        """How many packets are held. O(1)."""
        return 0


Hold = tuple[int | None, str]  # a bound in ns and its formula in words; or None, and why there is no bound


class HoldBound(Protocol):
    """The bound on how long a packet is held.

    `args` are the run-time arguments if they are constants, else None; `longest` is the longest packet, bytes.
    """

    def __call__(self, settings: Settings, args: tuple[int, ...] | None, longest: int = LONGEST) -> Hold: ...


class Memory(Protocol):
    """Bytes of state and packets at most, by SCHEDULE.md P1.9; `class_bits` is the width of the class (IPv4 flow)."""

    def __call__(self, settings: Settings, class_bits: int = 104) -> int: ...


@dataclass(frozen=True)
class PolicyKind:
    """A policy as the checker sees it.

    `args`: its run-time expressions, (name, type term); "a|b" means either, the same side for all of them (the
    second: `unit` is packets). `constants`: values in place that are known at compile time and become the
    `Settings` field of that name. `options`: the clauses it takes; those of `serve_options` are taken (and
    required) only together with `serve`. `when_full`: the words its `when full` may say. `form`: how it is written.
    `shared`: what it keeps for all packets together, in words, if not one for each class or port.
    `native`: its C++ class, of what a class of packets is packed into (`ClassKey`); "": it has none, and what needs C++
    refuses it. `native_served`: that with `serve`, if it is another one. `header`: as `NativeState.header`.
    """

    name: str
    make: Callable[[Settings, Leave, Drop], Policy]
    hold_bound: HoldBound
    memory: Memory
    args: tuple[tuple[str, str], ...] = ()
    constants: tuple[tuple[str, str], ...] = ()
    options: tuple[Option, ...] = ()
    serve: Literal["required", "optional", "never"] = "never"
    serve_options: tuple[Option, ...] = ()
    when_full: tuple[WhenFull, ...] = ()
    shared: str = ""
    form: str = ""
    native: str = ""
    native_served: str = ""
    header: Path | None = None

    def options_for(self, served: bool) -> tuple[Option, ...]:
        """The clauses that may or must stand beside this policy, with or without `serve`."""
        return self.options + self.serve_options if served else self.options

    def problem(self, settings: Settings) -> str | None:
        """What is wrong with the settings, in words for the user, or None. Names the first thing found."""
        served = settings.serve is not None
        if self.serve == "required" and not served:
            return f"`{self.name}` needs `serve RATE`: it chooses what an output port sends next"
        if self.serve == "never" and served:
            return f"`{self.name}` takes no `serve`"
        return self._clause_problem(settings) or self._value_problem(settings)

    def _clause_problem(self, settings: Settings) -> str | None:
        options = {option.name: option for option in self.options_for(settings.serve is not None)}
        for name in ("classes", "idle", "buffer", "queue", "when_full"):
            given = getattr(settings, name) is not None
            words = name.replace("_", " ")
            if given and name not in options:
                with_serve = any(option.name == name for option in self.serve_options)
                return f"`{self.name}` takes no `{words}`" + (" without `serve`" if with_serve else "")
            if not given and name in options and options[name].required:
                return f"`{self.name}` needs `{words}`: {options[name].why}"
        return None

    def _value_problem(self, settings: Settings) -> str | None:
        for name, _ in self.constants:
            if getattr(settings, name) is None:
                return f"`{self.name}` needs a {name}"
        for name in ("serve", "classes", "idle", "count"):
            if getattr(settings, name) == 0:
                return f"`{name}` must be at least 1"
        if settings.when_full is not None and settings.when_full not in self.when_full:
            return f"`when full {settings.when_full}` is not possible with `{self.name}`"
        return None


def no_room(settings: Settings, size: int, of_class: int, in_total: int) -> str | None:
    """Why `size` bytes may not be held beside those of its class and those held in total, or None (P1.7)."""
    if settings.queue is not None and of_class + size > settings.queue:
        return "queue full"
    if settings.buffer is not None and in_total + size > settings.buffer:
        return "buffer full"
    return None


def ceil_div(a: int, b: int) -> int:
    """a / b rounded up, exactly; b > 0."""
    return -(-a // b)
