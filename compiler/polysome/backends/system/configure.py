"""A design and the options of a run as the struct that a system's library takes."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass

from polysome.backends.controller.config import FALLBACK_BURST
from polysome.backends.controller.verdicts import port_sets
from polysome.backends.system import abi
from polysome.backends.system.design import Design
from polysome.backends.system.faults import Fault

DEEP = 1 << 30  # bytes of a queue that no trace fills

# What no target knows and the software site takes: cables of some 20 m in a rack, a meter for each 5 ns.
CABLE = 100  # ns
NF_FRAME_TIME = 50  # ns of a core for a frame
NF_QUEUE = 4096  # frames
NF_BURST = 32
POLL = 1_000_000  # ns between two looks of the controller
DRAIN = 1_000_000_000  # ns


@dataclass(frozen=True)
class Run:
    """`start`: when the first packet comes. `deep`: no queue ever overflows. `sizes`: of the NF's state.

    `capture`: a record of every frame on every link.
    """

    sizes: Sequence[int]
    start: int
    seed: int = 0
    faults: Sequence[Fault] = ()
    deep: bool = False
    capture: bool = False
    collide: bool = False


def configure(design: Design, run: Run) -> abi.System:
    """Raises Unsupported for a set of ports that the switch's table has no room for."""
    site, sizes = design.site, design.sizes
    queue = DEEP if run.deep else design.plan.queues.limit.value
    traffic = [_cable(ports[0], site.traffic_rate) for ports in site.traffic]
    servers = [_server(design, number) for number in range(len(site.rdma_servers))]
    depths = [way.depth(design.program.parser) for way in design.ways]
    verdicts = port_sets(design.program)
    queue_pairs = design.queue_pairs
    parking = design.plan.parking
    system = abi.System(
        seed=run.seed,
        start=run.start,
        switch_mac=abi.mac(design.addresses.mac),
        nf_mac=abi.mac(design.nf_mac),
        switch_ip=design.addresses.ip,
        traffic=abi.array(abi.Cable, traffic),
        traffic_count=len(traffic),
        servers=abi.array(abi.Server, servers),
        server_count=len(servers),
        nf_cable=_cable(site.nf_servers[0].port, site.rate_to(site.nf_servers[0])),
        nf_queue=DEEP if run.deep else NF_QUEUE,
        nf_burst=NF_BURST,
        nf_frame_time=NF_FRAME_TIME,
        queue_pairs=abi.halfwords(queue_pairs),
        queue_pair_count=len(queue_pairs),
        queue_pair_bits=sizes.queue_pairs.bit_length() - 1,
        buckets=sizes.buckets,
        depths=abi.halfwords(depths),
        depth_count=len(depths),
        verdicts=abi.halfwords(verdicts),
        verdict_count=len(verdicts),
        fallback_rate=design.fallback_rate // 8,
        fallback_burst=FALLBACK_BURST,
        faults=abi.array(abi.Fault, [_fault(fault) for fault in run.faults]),
        fault_count=len(run.faults),
        recirculation=design.addresses.recirculation_port,
        generator=site.generator_port,
        controller_port=site.cpu_port,
        queue_bytes=queue,
        recirculation_rate=site.switch.port_rate_bps,
        recirculation_time=site.switch.recirculation_ns,
        sweep=0 if parking is None else parking.sweep.value * len(queue_pairs),
        poll=POLL,
        longest_queueing=0 if parking is None else parking.queueing.value,
        drain=DRAIN,
        capture=run.capture,
        collide=run.collide,
        sizes=(ctypes.c_uint64 * len(run.sizes))(*run.sizes),
        size_count=len(run.sizes),
    )
    return system


def _cable(port: int, rate: int) -> abi.Cable:
    """What comes in waits at its sender, however much there is."""
    link = abi.Link(rate=rate, delay=CABLE, queue=DEEP)
    return abi.Cable(out=link, in_=link, port=port)


def _server(design: Design, number: int) -> abi.Server:
    server = design.site.rdma_servers[number]
    return abi.Server(
        cable=_cable(server.port, design.site.rate_to(server)),
        mac=abi.mac(design.server_mac(number)),
        ip=design.server_ip(number),
        rkey=0x1000 + number,
        region=design.sizes.cells * design.sizes.cell,
        read_time=server.nic.read_ns,
        read_rate=server.nic.queue_pair_bps // 8,
    )


def _fault(fault: Fault) -> abi.Fault:
    return abi.Fault(
        kind=fault.kind,
        where=fault.where,
        index=fault.index,
        probability=fault.probability,
        hold=fault.hold,
        from_=fault.start,
        to=fault.end,
    )
