"""What the controller wants of a switch, whichever it is. Names are those of the P4 program, as BfRt has them.

Keys and parameters are named and stand in the order of the program, so a driver may go by either. Values are unsigned
integers; rates bit/s, sizes bytes, times ns.
"""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

Named = tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class Put:
    """An entry that is there afterwards, whether it was before or not."""

    table: str
    key: Named
    action: str
    parameters: Named


@dataclass(frozen=True)
class Remove:
    """No entry with this key afterwards."""

    table: str
    key: Named


@dataclass(frozen=True)
class Clear:
    """No entry in the table."""

    table: str


@dataclass(frozen=True)
class SetRegister:
    register: str
    index: int
    value: int
    field: str = ""  # of a pair; empty: a plain value


@dataclass(frozen=True)
class SetMeter:
    """Committed and peak rate alike."""

    name: str
    index: int
    rate: int
    burst: int


@dataclass(frozen=True)
class SetMirror:
    """Copies of this session leave by `port`, cut to `max_length` bytes."""

    session: int
    port: int
    max_length: int


@dataclass(frozen=True)
class SetGroup:
    group: int
    ports: tuple[int, ...]


@dataclass(frozen=True)
class SetPort:
    """What may wait for it, in bytes of whole cells: in its queue, and in the one that is served before it. It never
    pauses, nor do its neighbours pause it: the plan's times are those of queues that always drain."""

    port: int
    role: int
    index: int
    rate: int = 0  # 0: no limit
    queue_bytes: int = 0  # 0: as the switch has it
    append_icrc: bool = False
    loopback: bool = False
    loop_time: int = 0
    first_queue_bytes: int = 0  # 0: as the switch has it


@dataclass(frozen=True)
class SetHold:
    """Nothing leaves by the port while it is on: frames wait in its queue, up to its limit. Off again with SetPort."""

    port: int
    on: bool


@dataclass(frozen=True)
class SetBuffer:
    """Of the packet buffer: what all queues together may hold, and of that what the mirror's copies may."""

    bytes: int
    mirrored: int


@dataclass(frozen=True)
class SetGenerator:
    """A frame for each of `count` queue pairs every `period`; 0: none."""

    port: int
    period: int
    count: int


Update = (
    Put | Remove | Clear | SetRegister | SetMeter | SetMirror | SetGroup | SetPort | SetHold | SetBuffer | SetGenerator
)


@dataclass(frozen=True)
class Identity:
    """Which run of the switch this is: its tables are empty when `boot` is a new one."""

    boot: int
    program: str  # SHA-256 of the P4 program's text; empty if the switch cannot tell


@dataclass(frozen=True)
class PortCount:
    port: int
    up: bool
    frames_in: int
    bytes_in: int
    frames_out: int
    bytes_out: int
    dropped: int


@dataclass(frozen=True)
class PortSetting:
    """What SetPort has made of a port."""

    port: int
    role: int
    index: int
    append_icrc: bool


@dataclass(frozen=True)
class PortReading:
    """`drops`: frames by reason, beside those that ports count."""

    ports: tuple[PortCount, ...]
    drops: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True)
class QueueTraffic:
    """`limit`: bytes that it may hold, None: there is none. Of two queues, that of higher priority is always first."""

    limit: int | None
    priority: int


@dataclass(frozen=True)
class PortTraffic:
    """`rate`: bit/s, 0: no limit, None: the switch cannot say. `held_up`: in words, what else keeps frames waiting."""

    port: int
    rate: int | None
    held_up: tuple[str, ...]
    queues: Mapping[int, QueueTraffic]


@dataclass(frozen=True)
class Traffic:
    """How a traffic manager is set. `cell`: bytes; `buffer`: as SetBuffer has it, None: as much as there is."""

    cell: int
    buffer: SetBuffer | None
    ports: tuple[PortTraffic, ...]


@dataclass(frozen=True)
class Counts:
    packets: tuple[int, ...]
    bytes: tuple[int, ...]


class SwitchDriver(ABC):
    """Every method ends in time; errors are Unreachable, Refused or Untrusted."""

    @abstractmethod
    async def describe(self) -> Identity:
        """Who answers; Refused unless it is the switch of this deployment, and answers now."""

    @abstractmethod
    async def write(self, boot: int, updates: Sequence[Update]) -> None:
        """All updates in order, for the switch's run `boot` only. A soft switch does them between two packets."""

    @abstractmethod
    async def read_register(self, register: str, first: int, count: int) -> tuple[int, ...]:
        """Plain values."""

    async def pause(self, register: str, count: int, seconds: float) -> None:
        """Before the next look at the first `count` values of a register: so many seconds, or more, if the driver knows
        that they are still as they were at the last look."""
        await asyncio.sleep(seconds)

    @abstractmethod
    async def read_counters(self, counter: str, first: int, count: int) -> Counts: ...

    @abstractmethod
    async def read_ports(self) -> PortReading: ...

    @abstractmethod
    async def read_traffic(self, ports: Sequence[int]) -> Traffic:
        """As the switch has it, not as it was told: Refused if it cannot say."""

    @abstractmethod
    async def read_settings(self) -> tuple[PortSetting, ...]:
        """Of all ports that are set; nothing from a switch that does not say."""

    @abstractmethod
    async def close(self) -> None: ...
