"""A design and the options of a run as the struct that a system's library takes."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass

from polysome.backends.system import structs
from polysome.backends.system.cables import DEEP, cable
from polysome.backends.system.faults import Fault
from polysome.backends.system.machines import machines_of
from polysome.plan.design import Design

# What no target knows and the software site takes.
NF_FRAME_TIME = 50  # ns of a core for a frame
NF_QUEUE = 4096  # frames
NF_BURST = 32
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


def configure(design: Design, run: Run) -> structs.System:
    """The switch is set by its controller: of it, nothing is here but where its cables are."""
    site = design.site
    traffic = [cable(ports[0], site.traffic_rate) for ports in site.traffic]
    servers = machines_of(design.plan.architecture).servers(design)
    return structs.System(
        seed=run.seed,
        start=run.start,
        switch_mac=structs.mac(design.addresses.mac),
        switch_ip=design.addresses.ip,
        traffic=structs.array(structs.Cable, traffic),
        traffic_count=len(traffic),
        servers=structs.array(structs.Server, servers),
        server_count=len(servers),
        nf_cable=cable(site.nf_servers[0].port, site.rate_to(site.nf_servers[0])),
        nf_queue=DEEP if run.deep else NF_QUEUE,
        nf_burst=NF_BURST,
        nf_frame_time=NF_FRAME_TIME,
        faults=structs.array(structs.Fault, [_fault(fault) for fault in run.faults]),
        fault_count=len(run.faults),
        drain=DRAIN,
        capture=run.capture,
        collide=run.collide,
        sizes=(ctypes.c_uint64 * len(run.sizes))(*run.sizes),
        size_count=len(run.sizes),
    )


def _fault(fault: Fault) -> structs.Fault:
    return structs.Fault(
        kind=fault.kind,
        where=fault.where,
        index=fault.index,
        probability=fault.probability,
        hold=fault.hold,
        from_=fault.start,
        to=fault.end,
    )
