"""The other parts of a simulated system, as the controller's peers."""

from __future__ import annotations

from typing import Any

from google.protobuf.message import Message

from polysome.backends.system.calls import AgentCalls
from polysome.backends.system.configure import rkey
from polysome.plan.architectures.ribosome.store import queue_pairs
from polysome.plan.design import Design
from polysome_controller import control_pb2 as pb
from polysome_controller.errors import Refused, Unreachable

NF_RUN = 1  # an NF of a simulated system is never restarted


class _Simulated:
    """Answers by the method of the same name."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.certificate = pb.CertificateState()

    async def call(self, method: str, request: Message, deadline: float = 0) -> Any:
        return getattr(self, method.lower())(request)

    async def change(self, method: str, request: Message, deadline: float = 0) -> Any:
        return await self.call(method, request, deadline)

    async def close(self) -> None:
        pass


class Away(_Simulated):
    """A part that there is not."""

    async def call(self, method: str, request: Message, deadline: float = 0) -> Any:
        raise Unreachable(f"{method}: no such part in a simulated system")


class Agent(_Simulated):
    """Of an RDMA server; it is silent as long as the server is dead."""

    def __init__(self, design: Design, number: int, calls: AgentCalls, mtu: int) -> None:
        super().__init__(design.site.rdma_servers[number].name)
        self._design, self._number, self._calls, self._mtu = design, number, calls, mtu
        self._made: dict[int, pb.QueuePair] = {}  # as the last resets of this run have made them

    def describe(self, request: pb.DescribeRequest) -> pb.Registration:
        run, pairs = self._state()
        design, sizes = self._design, self._design.sizes
        return pb.Registration(
            challenge=request.challenge,
            server=self.name,
            boot=run,
            mac=design.server_mac(self._number).to_bytes(6, "big"),
            ip=design.server_ip(self._number).to_bytes(4, "big"),
            rkey=rkey(self._number),
            region=sizes.cells * sizes.cell,
            mtu=self._mtu,
            queue_pairs=pairs,
            device="simulated",
        )

    def health(self, _: pb.Nothing) -> pb.AgentHealth:
        run, pairs = self._state()
        return pb.AgentHealth(boot=run, link=True, queue_pairs=pairs)

    def reset(self, request: pb.ResetRequest) -> pb.QueuePair:
        self._expect(request.boot)
        made = self._calls.reset(self._number, request.pair, request.peer)
        if made is None:
            raise Unreachable("Reset: no answer in time")
        number, psn = made
        queue_pair = pb.QueuePair(pair=request.pair, number=number, psn=psn, peer=request.peer, ready=True)
        self._made[request.pair] = queue_pair
        return queue_pair

    def clear(self, request: pb.ClearRequest) -> pb.Nothing:
        self._expect(request.boot)
        if not self._calls.clear_memory(self._number):
            raise Unreachable("Clear: no answer in time")
        return pb.Nothing()

    def _expect(self, boot: int) -> None:
        run, _ = self._state()
        if boot != run:
            raise Refused(f"this is run {run:x}, not {boot:x}")

    def _state(self) -> tuple[int, list[pb.QueuePair]]:
        count = queue_pairs(self._design.plan).count(self._number)
        found = self._calls.state(self._number, count)
        if found is None:
            raise Unreachable("no answer in time")
        run, ready = found
        pairs = []
        for pair in range(count):
            queue_pair = pb.QueuePair(pair=pair)
            if pair in self._made:
                queue_pair.CopyFrom(self._made[pair])
            queue_pair.ready = ready[pair]
            pairs.append(queue_pair)
        return run, pairs


class Nf(_Simulated):
    """It has its config from the start, so no controller brings it one."""

    def __init__(self, design: Design, program: str) -> None:
        """`program`: hash of what it was compiled from."""
        super().__init__(design.site.nf_servers[0].name)
        self._design, self._program = design, program

    def describe(self, request: pb.DescribeRequest) -> pb.NfDescription:
        return pb.NfDescription(
            challenge=request.challenge,
            server=self.name,
            nf=self._design.program.name,
            boot=NF_RUN,
            program=self._program,
            mac=self._design.nf_mac.to_bytes(6, "big"),
        )

    def statistics(self, _: pb.Nothing) -> pb.NfStatistics:
        return pb.NfStatistics(boot=NF_RUN)
