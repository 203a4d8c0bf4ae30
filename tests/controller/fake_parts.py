"""An RDMA agent and an NF server that only keep the rules of control.proto."""

from __future__ import annotations

import asyncio
import hashlib
import random
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import grpc

from polysome_controller import control_pb2 as pb

from .fake_part import FakePart


class FakeAgent(FakePart):
    """`log`: what was done to the memory and queue pairs, in words; `describe`: changes to its registration."""

    service = "Agent"

    def __init__(self, name: str, number: int, certificates: Path, queue_pairs: int, region: int) -> None:
        super().__init__(name, certificates)
        self.number = number
        self.region = region
        self.count = queue_pairs
        self.describe: dict[str, Any] = {}
        self.log: list[str] = []
        self.spare = 0
        self.counters: dict[str, int] = {}
        self.slow = 0.0  # seconds that a Reset takes
        self.link = True
        self.restart()

    def restart(self) -> None:
        """As a new process: memory and queue pairs are new."""
        self.boot = random.getrandbits(63) | 1
        self.newest = (0, 0)
        self.pairs = [pb.QueuePair(pair=i, number=0x100 + i, psn=7 * i) for i in range(self.count)]
        self.log = []

    def registration(self, challenge: bytes) -> pb.Registration:
        return pb.Registration(
            challenge=challenge,
            server=self.name,
            boot=self.boot,
            mac=bytes([2, 0, 0, 0, 1, self.number]),
            ip=bytes([198, 19, 255, 16 + self.number]),
            rkey=0x1000 + self.number,
            region=self.region,
            mtu=4096,
            queue_pairs=self.pairs,
            device="soft",
        )

    async def Describe(self, request: pb.DescribeRequest, call: Any) -> pb.Registration:
        answer = self.registration(request.challenge)
        for name, value in self.describe.items():
            setattr(answer, name, value)
        return answer

    async def Reset(self, request: pb.ResetRequest, call: Any) -> pb.QueuePair:
        await self.take_lease(request, call)
        if self.slow:
            await asyncio.sleep(self.slow)
        old = self.pairs[request.pair]
        made = pb.QueuePair(pair=old.pair, number=old.number + 0x100, psn=old.psn + 1000, peer=request.peer, ready=True)
        self.pairs[request.pair] = made
        self.log.append(f"reset {request.pair}")
        return made

    async def Clear(self, request: pb.ClearRequest, call: Any) -> pb.Nothing:
        await self.take_lease(request, call)
        for pair in self.pairs:
            pair.ready = False
        self.log.append("clear")
        return pb.Nothing()

    async def Health(self, request: pb.Nothing, call: Any) -> pb.AgentHealth:
        counters = [pb.Counter(name=name, value=value) for name, value in self.counters.items()]
        return pb.AgentHealth(
            boot=self.boot, link=self.link, queue_pairs=self.pairs, spare=self.spare, counters=counters
        )


class FakeNf(FakePart):
    """`refuses`: a config that holds these bytes is none of this NF's; `fails_commit`: Commit gets no good answer;
    `hands_over`: what happens when it is told that its frames are held."""

    service = "Nf"

    def __init__(self, name: str, number: int, certificates: Path, nf: str, program: str, config: bytes) -> None:
        super().__init__(name, certificates)
        self.mac = bytes([2, 0, 0, 0, 2, number])
        self.describe: dict[str, Any] = {}
        self.nf, self.program = nf, program
        self.refuses = b"bad"
        self.fails_commit = False
        self.held = 0
        self.took_over = False
        self.hands_over: Callable[[], Awaitable[object]] = self.ends
        self.first = config
        self.restart()

    def restart(self, config: bytes | None = None) -> None:
        self.boot = random.getrandbits(63) | 1
        self.newest = (0, 0)
        self.leaving = False  # another process, whatever the last one was told of
        self.config = self.first if config is None else config
        self.prepared: bytes | None = None

    @staticmethod
    def version(config: bytes | None) -> str:
        return "" if config is None else hashlib.sha256(config).hexdigest()

    async def Describe(self, request: pb.DescribeRequest, call: Any) -> pb.NfDescription:
        answer = pb.NfDescription(
            challenge=request.challenge,
            server=self.name,
            nf=self.nf,
            boot=self.boot,
            program=self.program,
            version=self.version(self.config),
            prepared=self.version(self.prepared),
            mac=self.mac,
            took_over=self.took_over,
        )
        for name, value in self.describe.items():
            setattr(answer, name, value)
        return answer

    async def ends(self) -> None:
        """Its process does, once this call is answered."""
        asyncio.get_running_loop().call_soon(lambda: asyncio.ensure_future(self.stop()))

    async def HandOver(self, request: pb.HandOverRequest, call: Any) -> pb.Nothing:
        await self.take_lease(request, call)
        self.leaving = False
        await self.hands_over()
        return pb.Nothing()

    async def Prepare(self, request: pb.PrepareRequest, call: Any) -> pb.Nothing:
        await self.take_lease(request, call)
        if self.refuses in request.config:
            await call.abort(grpc.StatusCode.INVALID_ARGUMENT, "row 3: no such backend")
        assert self.version(request.config) == request.version
        self.prepared = request.config
        return pb.Nothing()

    async def Commit(self, request: pb.CommitRequest, call: Any) -> pb.Nothing:
        await self.take_lease(request, call)
        if self.prepared is None or self.version(self.prepared) != request.version:
            await call.abort(grpc.StatusCode.FAILED_PRECONDITION, "another version is prepared")
        if self.fails_commit:
            self.fails_commit = False
            await call.abort(grpc.StatusCode.INTERNAL, "no room on its disk")
        assert self.prepared is not None
        self.config, self.prepared = self.prepared, None
        return pb.Nothing()

    async def Statistics(self, request: pb.Nothing, call: Any) -> pb.NfStatistics:
        drops = [pb.Counter(name="not for the VIP", value=3)]
        own = {} if self.own is None else {"certificate": self.own}
        version, leaving = self.version(self.config), self.leaving
        return pb.NfStatistics(boot=self.boot, held=self.held, version=version, drops=drops, leaving=leaving, **own)

    async def Try(self, request: pb.TryRequest, call: Any) -> pb.TryResponse:
        return pb.TryResponse(sent=True, ports=[1], packet=request.packet, version=self.name)
