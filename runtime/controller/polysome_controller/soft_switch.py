"""The driver of the soft switch: gRPC SoftSwitch of control.proto. One step is one request, so it is atomic."""

from __future__ import annotations

import secrets
from collections.abc import Sequence

from polysome_controller import control_pb2 as pb
from polysome_controller.driver import (
    Clear,
    Counts,
    Identity,
    Named,
    PortCount,
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
from polysome_controller.errors import Refused
from polysome_controller.peer import Peer

PER_UPDATE = 1e-3  # seconds that an update may take


def encoded(values: Named) -> list[bytes]:
    """Big-endian, as short as they are."""
    return [value.to_bytes(max(1, (value.bit_length() + 7) // 8), "big") for _, value in values]


def message(update: Update) -> pb.Update:
    if isinstance(update, Put):
        entry = pb.Entry(
            table=update.table, key=encoded(update.key), action=update.action, parameters=encoded(update.parameters)
        )
        return pb.Update(put=entry)
    if isinstance(update, Remove):
        return pb.Update(remove=pb.Entry(table=update.table, key=encoded(update.key)))
    if isinstance(update, Clear):
        return pb.Update(clear=update.table)
    if isinstance(update, SetRegister):
        return pb.Update(register=pb.Cell(**vars(update)))
    if isinstance(update, SetMeter):
        return pb.Update(meter=pb.Meter(**vars(update)))
    if isinstance(update, SetMirror):
        return pb.Update(mirror=pb.Mirror(**vars(update)))
    if isinstance(update, SetGroup):
        return pb.Update(group=pb.Group(**vars(update)))
    if isinstance(update, SetPort):
        return pb.Update(port=pb.Port(**vars(update)))
    if isinstance(update, SetHold):
        return pb.Update(hold=pb.Hold(**vars(update)))
    assert isinstance(update, SetGenerator)
    return pb.Update(generator=pb.Generator(**vars(update)))


class SoftSwitch(SwitchDriver):
    """`deadline`: seconds for an answer, besides what updates take."""

    def __init__(self, peer: Peer, deadline: float) -> None:
        self._peer = peer
        self._deadline = deadline

    async def describe(self) -> Identity:
        challenge = secrets.token_bytes(16)
        answer: pb.SwitchDescription = await self._peer.call("Describe", pb.DescribeRequest(challenge=challenge))
        if answer.challenge != challenge:
            raise Refused("its answer is not to this request: the challenge is another one")
        if answer.model != "software":
            raise Refused(f"it is a switch of model `{answer.model}`, not `software`")
        return Identity(answer.boot, answer.program)

    async def write(self, boot: int, updates: Sequence[Update]) -> None:
        # There is no buffer to be set: it has what memory there is.
        request = pb.WriteRequest(boot=boot, updates=[message(u) for u in updates if not isinstance(u, SetBuffer)])
        await self._peer.change("Write", request, self._deadline + len(updates) * PER_UPDATE)

    async def read_register(self, register: str, first: int, count: int) -> tuple[int, ...]:
        request = pb.ReadRequest(registers=[pb.Cell(register=register, index=first)], counts=[count])
        answer: pb.ReadResponse = await self._peer.call("Read", request)
        values = tuple(answer.registers[0].values) if answer.registers else ()
        if len(values) != count:
            raise Refused(f"Read: {len(values)} values of {register}, not {count}")
        return values

    async def read_counters(self, counter: str, first: int, count: int) -> Counts:
        request = pb.ReadRequest(counters=[pb.CounterCell(counter=counter, index=first)], counter_counts=[count])
        answer: pb.ReadResponse = await self._peer.call("Read", request)
        found = answer.counters[0] if answer.counters else pb.CounterValues()
        if len(found.packets) != count or len(found.bytes) != count:
            raise Refused(f"Read: {len(found.packets)} values of {counter}, not {count}")
        return Counts(tuple(found.packets), tuple(found.bytes))

    async def read_ports(self) -> PortReading:
        answer: pb.SwitchStatistics = await self._peer.call("Statistics", pb.Nothing())
        ports = tuple(
            PortCount(p.port, p.up, p.frames_in, p.bytes_in, p.frames_out, p.bytes_out, p.dropped) for p in answer.ports
        )
        return PortReading(ports, tuple((d.name, d.value) for d in answer.drops))

    async def read_traffic(self, ports: Sequence[int]) -> Traffic:
        answer: pb.SwitchStatistics = await self._peer.call("Statistics", pb.Nothing())
        found = tuple(
            PortTraffic(
                port.port, port.rate, (), {q.queue: QueueTraffic(q.limit or None, q.priority) for q in port.queues}
            )
            for port in answer.ports
            if port.port in ports
        )
        return Traffic(answer.cell, None, found)

    async def read_settings(self) -> tuple[PortSetting, ...]:
        answer: pb.SwitchStatistics = await self._peer.call("Statistics", pb.Nothing())
        return tuple(PortSetting(p.port, p.role, p.index, p.append_icrc) for p in answer.ports)

    async def close(self) -> None:
        await self._peer.close()
