"""What the controller wants of a switch, whichever it is. Names are those of the P4 program, as BfRt has them.

Keys and parameters are named and stand in the order of the program, so a driver may go by either. Values are unsigned
integers; rates bit/s, sizes bytes, times ns.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Union

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
    port: int
    role: int
    index: int
    rate: int = 0  # 0: no limit
    queue_bytes: int = 0
    append_icrc: bool = False
    loopback: bool = False
    loop_time: int = 0


@dataclass(frozen=True)
class SetGenerator:
    """A frame for each of `count` queue pairs every `period`; 0: none."""

    port: int
    period: int
    count: int


# Evaluated when the module is loaded, so in the older form.
Update = Union[Put, Remove, Clear, SetRegister, SetMeter, SetMirror, SetGroup, SetPort, SetGenerator]


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

    @abstractmethod
    async def read_counters(self, counter: str, first: int, count: int) -> Counts: ...

    @abstractmethod
    async def read_ports(self) -> PortReading: ...

    @abstractmethod
    async def read_settings(self) -> tuple[PortSetting, ...]:
        """Of all ports that are set; nothing from a switch that does not say."""

    @abstractmethod
    async def close(self) -> None: ...
