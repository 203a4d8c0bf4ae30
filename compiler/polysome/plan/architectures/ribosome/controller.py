"""What the controller is told of parking: servers, queue pairs, buckets, times, and how queue pairs are proved."""

from __future__ import annotations

from typing import Any

from polysome.backends.controller.config import Own
from polysome.plan.architectures.ribosome.probes import probes
from polysome.plan.architectures.ribosome.store import parking_of, queue_pairs, regions
from polysome.plan.design import Design
from polysome.plan.kinds import mirror_length
from polysome.plan.site import CPU_INTERFACE, SOFT_ICRC

FALLBACK_BURST = 262_144  # bytes of whole packets that find no queue pair, at once


class Parked(Own):
    def config(self, design: Design) -> dict[str, Any]:
        site, parking = design.site, parking_of(design.plan)
        return {
            "rdma_servers": _rdma_servers(design),
            "buckets": design.sizes.buckets,
            "mirror_sessions": site.switch.mirror_sessions,
            "depths": [mirror_length(site.switch, way.depth(design.program.parser)) for way in design.ways],
            "fallback_rate": design.fallback_rate,
            "fallback_burst": FALLBACK_BURST,
            "sweep": 0 if parking is None else parking.sweep.value * len(queue_pairs(design.plan)),
            "longest_queueing": 0 if parking is None else parking.queueing.value,
            "timeout": 0 if parking is None else parking.timeout.value,
            "back_off": vars(site.controller.back_off),
            **_bring_up(design),
        }


CONTROLLER = Parked()


def _rdma_servers(design: Design) -> list[dict[str, Any]]:
    """All of the site's, those without a queue pair too: their own traffic passes through the switch."""
    site, parking = design.site, parking_of(design.plan)
    counts = {region.name: region.count for region in regions(design.plan)}
    return [
        {
            "name": server.name,
            "address": f"{server.address}:{server.control_port}",
            "port": server.port,
            "rate": site.rate_to(server),
            "spare": site.rate_to(server) if server.spare is None else min(server.spare, site.rate_to(server)),
            "queue_pairs": counts.get(server.name, 0),
            "region": design.sizes.cells * design.sizes.cell if server.name in counts else 0,
            "mtu": parking.path_mtu.value if parking is not None else 0,
            "queue_bytes": design.plan.queues.limit.value,
            "first_queue_bytes": design.plan.queues.first.value if server.name in counts else 0,
        }
        for server in site.rdma_servers
    ]


def _bring_up(design: Design) -> dict[str, Any]:
    """How queue pairs are proved; nothing where there are none."""
    site, found = design.site, probes(design)
    if not found:
        return {}
    return {
        "bring_up": {
            "port": site.cpu_port,
            "interface": site.cpu_interface or CPU_INTERFACE,
            "rate": site.port_rate,
            "queue_bytes": design.plan.queues.limit.value,
            "icrc": site.icrc or SOFT_ICRC,
            "nic_icrc": site.nic_icrc or "",
            "probes": found,
        }
    }
