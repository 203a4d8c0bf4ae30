"""RDMA servers of a simulated system, and their agents as the controller's peers."""

from __future__ import annotations

from typing import Any

from polysome.backends.system import structs
from polysome.backends.system.cables import cable
from polysome.backends.system.calls import AgentCalls
from polysome.backends.system.machines import Machines
from polysome.backends.system.peers import Simulated
from polysome.plan.architectures.ribosome.store import queue_pairs
from polysome.plan.design import Design
from polysome_controller import control_pb2 as pb
from polysome_controller.errors import Refused, Unreachable


class Memory(Machines):
    def servers(self, design: Design) -> list[structs.Server]:
        return [_server(design, number) for number in range(len(design.site.rdma_servers))]

    def peers(self, design: Design, calls: AgentCalls, config: Any) -> dict[tuple[str, str], Any]:
        return {
            ("Agent", server.name): Agent(design, number, calls, server.mtu)
            for number, server in enumerate(config.rdma_servers)
        }


SIMULATED = Memory()


def _rkey(server: int) -> int:
    """Of the region that a server lends."""
    return 0x1000 + server


def _server(design: Design, number: int) -> structs.Server:
    server = design.site.rdma_servers[number]
    return structs.Server(
        cable=cable(server.port, design.site.rate_to(server)),
        mac=structs.mac(design.server_mac(number)),
        queue_pairs=queue_pairs(design.plan).count(number),
        ip=design.server_ip(number),
        rkey=_rkey(number),
        region=design.sizes.cells * design.sizes.cell,
        read_time=server.nic.read_ns,
        read_rate=server.nic.queue_pair_bps // 8,
    )


class Agent(Simulated):
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
            rkey=_rkey(self._number),
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
