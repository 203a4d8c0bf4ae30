"""A soft switch that forwards nothing: tables, registers and counters behind the service SoftSwitch."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from typing import Any

import grpc

from polysome_controller import control_pb2 as pb

from .fake_part import FakePart

REGISTERS = {
    "Ingress.counter": ("",),
    "Ingress.primaries": ("",),
    "Ingress.backups": ("",),
    "Ingress.reads": ("count", "rests"),
    "Ingress.silence": ("",),
    "Ingress.acknowledged": ("",),
    "Ingress.epochs": ("",),
    "Egress.epochs": ("",),
    "Egress.psns": ("",),
}
ACTIONS = {
    "Ingress.buckets": {"choose": 4},
    "Ingress.answers": {"answered": 1},
    "Ingress.servers": {"to_server": 1},
    "Ingress.nf_links": {"to_nf": 2},
    "Ingress.verdicts": {"send": 1, "flood": 1},
    "Ingress.stations": {"forward": 1},
    "Ingress.floods": {"flood_station": 1},
    "Egress.nf_stations": {"nf": 1},
    "Egress.servers": {"server": 3},
    "Egress.queue_pairs": {"remote": 1},
}
KEYS = {"Ingress.answers": 2, "Ingress.buckets": 2, "Ingress.nf_links": 2}
Values = tuple[int, ...]


def numbers(values: Any) -> Values:
    return tuple(int.from_bytes(value, "big") for value in values)


class FakeSwitch(FakePart):
    """`rows[table][key]` is (action, parameters); `cells[register, field, index]`; `history`: every request's updates,
    in words, with the registers as they were after it."""

    service = "SoftSwitch"

    def __init__(self, certificates: Any, program: str) -> None:
        super().__init__("switch", certificates)
        self.program = program
        self.model = "software"
        self.ports: dict[int, pb.PortStatistics] = {}
        self.drops: dict[str, int] = {}
        self.requests: list[pb.WriteRequest] = []
        self.cell = 80
        self.alter: Callable[[pb.PortStatistics], object] = lambda port: None  # how it is otherwise than set
        self.settings: dict[int, pb.Port] = {}  # what it does instead of what it is told
        self.slow = 0.0  # seconds between looking something up and answering
        self.restart()

    def restart(self) -> None:
        """As a new process: everything is empty."""
        self.boot = random.getrandbits(63) | 1
        self.newest = (0, 0)
        self.rows: dict[str, dict[Values, tuple[str, Values]]] = {table: {} for table in ACTIONS}
        self.cells: dict[tuple[str, str, int], int] = {}
        self.mirrors: dict[int, tuple[int, int]] = {}
        self.groups: dict[int, Values] = {}
        self.roles: dict[int, pb.Port] = {}
        self.held: set[int] = set()
        self.meters: dict[str, pb.Meter] = {}
        self.generator = pb.Generator()
        self.counters: dict[tuple[str, int], tuple[int, int]] = {}

    # ---- what tests look at

    def up(self, pair: int) -> bool:
        primary, backup = (self.cells.get((f"Ingress.{name}", "", pair), 0) for name in ("primaries", "backups"))
        assert primary == backup or not primary
        return bool(primary)

    def take_down(self, pair: int) -> None:
        """As a fatal NAK does."""
        for name in ("Ingress.primaries", "Ingress.backups"):
            self.cells[name, "", pair] = 0

    def count(self, counter: str, index: int, packets: int, bytes_: int = 0) -> None:
        old = self.counters.get((counter, index), (0, 0))
        self.counters[counter, index] = (old[0] + packets, old[1] + bytes_)

    # ---- the service

    async def Describe(self, request: pb.DescribeRequest, call: Any) -> pb.SwitchDescription:
        return pb.SwitchDescription(challenge=request.challenge, boot=self.boot, program=self.program, model=self.model)

    async def Write(self, request: pb.WriteRequest, call: Any) -> pb.Nothing:
        await self.take_lease(request, call)
        kept = ({t: dict(rows) for t, rows in self.rows.items()}, dict(self.cells), dict(self.meters))
        for number, update in enumerate(request.updates):
            try:
                self._do(update)
            except ValueError as error:
                self.rows, self.cells, self.meters = kept
                await call.abort(grpc.StatusCode.INVALID_ARGUMENT, f"update {number}: {error}")
        self.requests.append(request)
        return pb.Nothing()

    async def Read(self, request: pb.ReadRequest, call: Any) -> pb.ReadResponse:
        answer = pb.ReadResponse()
        for cell, count in zip(request.registers, request.counts, strict=True):
            assert cell.field in REGISTERS[cell.register]
            every = range(cell.index, cell.index + (count or 1))
            answer.registers.add(values=[self.cells.get((cell.register, cell.field, i), 0) for i in every])
        for cell, count in zip(request.counters, request.counter_counts, strict=True):
            every = range(cell.index, cell.index + (count or 1))
            found = [self.counters.get((cell.counter, i), (0, 0)) for i in every]
            answer.counters.add(packets=[p for p, _ in found], bytes=[b for _, b in found])
        await asyncio.sleep(self.slow)
        return answer

    async def Statistics(self, request: pb.Nothing, call: Any) -> pb.SwitchStatistics:
        drops = [pb.Counter(name=name, value=value) for name, value in self.drops.items()]
        found = [self._port(number) for number in {**self.ports, **self.roles}]
        return pb.SwitchStatistics(boot=self.boot, ports=found, drops=drops, cell=self.cell)

    def _port(self, number: int) -> pb.PortStatistics:
        """As it was counted, and as it was set."""
        made, asked = pb.PortStatistics(port=number), self.roles.get(number, pb.Port())
        made.MergeFrom(self.ports.get(number, made))
        told = self.settings.get(number, asked)
        made.role, made.index, made.append_icrc = told.role, told.index, told.append_icrc
        made.rate = asked.rate
        for queue in range(8):
            limit = asked.first_queue_bytes if queue == 7 and asked.first_queue_bytes else asked.queue_bytes
            made.queues.add(queue=queue, limit=limit, priority=queue)
        self.alter(made)
        return made

    def _do(self, update: pb.Update) -> None:
        what = update.WhichOneof("what")
        if what == "put":
            entry = update.put
            key, parameters = numbers(entry.key), numbers(entry.parameters)
            if ACTIONS.get(entry.table, {}).get(entry.action) != len(parameters):
                raise ValueError(f"{entry.table} has no action {entry.action} of {len(parameters)} parameters")
            if len(key) != KEYS.get(entry.table, 1):
                raise ValueError(f"{entry.table} has no key of {len(key)}")
            self.rows[entry.table][key] = (entry.action, parameters)
        elif what == "remove":
            self.rows[update.remove.table].pop(numbers(update.remove.key), None)
        elif what == "clear":
            self.rows[update.clear].clear()
        elif what == "register":
            cell = update.register
            if cell.field not in REGISTERS.get(cell.register, ()):
                raise ValueError(f"no register {cell.register}.{cell.field}")
            self.cells[cell.register, cell.field, cell.index] = cell.value
        elif what == "meter":
            self.meters[update.meter.name] = update.meter
        elif what == "mirror":
            self.mirrors[update.mirror.session] = (update.mirror.port, update.mirror.max_length)
        elif what == "group":
            self.groups[update.group.group] = tuple(update.group.ports)
        elif what == "port":
            self.roles[update.port.port] = update.port
        elif what == "hold":
            (self.held.add if update.hold.on else self.held.discard)(update.hold.port)
        elif what == "generator":
            self.generator = update.generator
        else:
            raise ValueError(f"{what} is not expected of the controller")
