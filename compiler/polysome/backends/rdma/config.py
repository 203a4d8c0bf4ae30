"""From a design to the configuration of each RDMA server's agent."""

from __future__ import annotations

from typing import Any

from polysome.backends.controller.config import colons, dots, tls
from polysome.plan.architectures.ribosome.store import parking_of, regions
from polysome.plan.design import Design
from polysome.plan.site import RdmaServer

DEVICE_PORT = 1  # of an RDMA device: an Ethernet port is a device of its own


def agent_config(design: Design, server: RdmaServer, folder: str, user: str) -> dict[str, Any]:
    """The message AgentConfig, as JSON has it; `folder`: of the certificates, `user`: whom the agent becomes.

    A server that no packets are parked on has an agent too, with nothing to lend.
    """
    parking = parking_of(design.plan)
    region = next((r for r in regions(design.plan) if r.name == server.name), None)
    return {
        "server": server.name,
        "device": server.device,
        "interface": server.interface,
        "device_port": DEVICE_PORT,
        "numa": server.numa,
        "region": region.bytes if region is not None else 0,
        "queue_pairs": region.count if region is not None else 0,
        "mtu": parking.path_mtu.value if parking is not None else max(server.nic.path_mtus_bytes),
        "switch_mac": colons(design.addresses.mac),
        "switch_ip": dots(design.addresses.ip),
        "outstanding_reads": design.sizes.most_reads,
        "huge_pages": server.huge_pages,
        "listen": f"{server.address}:{server.control_port}",
        "tls": tls(folder, server.name),
        "user": user,
    }
