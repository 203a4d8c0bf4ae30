"""The driver of a simulated system's switch."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from polysome.backends.system.calls import SwitchCalls
from polysome.backends.system.structs import Port
from polysome_controller.driver import (
    Clear,
    Counts,
    Identity,
    PortReading,
    PortSetting,
    PortTraffic,
    Put,
    QueueTraffic,
    Remove,
    SetBuffer,
    SetGenerator,
    SetGroup,
    SetHold,
    SetMeter,
    SetMirror,
    SetPort,
    SetRegister,
    SwitchDriver,
    Traffic,
    Update,
)
from polysome_protocol import QUEUES

BOOT = 1  # it has one run only
NS = 1_000_000_000


class SimulatedSwitch(SwitchDriver):
    """`cell`: bytes of a cell of the chip's traffic manager. Who pauses goes on when the world says so (`wake`)."""

    def __init__(self, calls: SwitchCalls, cell: int) -> None:
        self._calls = calls
        self._cell = cell
        self._ports: set[int] = set()
        self._watching: asyncio.Future[None] | None = None

    async def describe(self) -> Identity:
        return Identity(BOOT, "")

    async def write(self, boot: int, updates: Sequence[Update]) -> None:
        for update in updates:
            self._apply(update)

    def _apply(self, update: Update) -> None:
        calls = self._calls
        match update:
            case Put(table, key, action, parameters):
                calls.put(table, [value for _, value in key], action, [value for _, value in parameters])
            case Remove(table, key):
                calls.remove(table, [value for _, value in key])
            case Clear(table):
                calls.clear(table)
            case SetRegister(register, index, value, field):
                calls.set_register(register, index, value, field)
            case SetMeter(name, index, rate, burst):
                calls.set_meter(name, index, rate, burst)
            case SetMirror(session, port, max_length):
                calls.set_mirror(session, port, max_length)
            case SetGroup(group, ports):
                calls.set_group(group, ports)
            case SetPort():
                self._ports.add(update.port)
                calls.set_port(Port(**vars(update)))
            case SetHold(port, on):
                calls.hold(port, on)
            case SetGenerator(port, period, count):
                calls.set_generator(port, period, count)
            case SetBuffer():
                pass  # it has what memory there is

    async def read_register(self, register: str, first: int, count: int) -> tuple[int, ...]:
        return tuple(self._calls.registers(register, first, count))

    async def pause(self, register: str, count: int, seconds: float) -> None:
        """The world looks at the register that often, and goes on by itself as long as it stays as it is."""
        self._calls.watch(register, count, round(seconds * NS))
        self._watching = asyncio.get_running_loop().create_future()
        await self._watching

    def wake(self) -> None:
        """There is something to see."""
        if self._watching is not None and not self._watching.done():
            self._watching.set_result(None)

    async def read_counters(self, counter: str, first: int, count: int) -> Counts:
        packets, size = self._calls.counters(counter, first, count)
        return Counts(tuple(packets), tuple(size))

    async def read_ports(self) -> PortReading:
        return PortReading(())  # nothing moves load here: links count what they carry

    async def read_traffic(self, ports: Sequence[int]) -> Traffic:
        found = []
        for number in ports:
            port = self._calls.port(number)
            if port is not None:
                first = port.first_queue_bytes or port.queue_bytes
                limits = {QUEUES.all: port.queue_bytes, QUEUES.first: first}
                queues = {queue: QueueTraffic(limit, queue) for queue, limit in limits.items()}
                found.append(PortTraffic(number, port.rate, (), queues))
        return Traffic(self._cell, None, tuple(found))

    async def read_settings(self) -> tuple[PortSetting, ...]:
        found = [port for number in sorted(self._ports) if (port := self._calls.port(number)) is not None]
        return tuple(PortSetting(p.port, p.role, p.index, bool(p.append_icrc)) for p in found)

    async def close(self) -> None:
        pass
