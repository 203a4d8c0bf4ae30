"""RDMA servers in a bundle: their agents, and what the switch and they must be set to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from polysome.backends.bundle.files import as_json, filled, fixed
from polysome.backends.bundle.parts import USER, Machine, Parts, Places, Role, Row, variables_of
from polysome.backends.controller.config import colons, dots, tls
from polysome.plan.architectures.ribosome.probes import probes
from polysome.plan.architectures.ribosome.store import Region, parking_of, regions
from polysome.plan.design import Design
from polysome.plan.numbers import binary, ceil_div
from polysome.plan.site import CPU_INTERFACE, SOFT, SOFT_ICRC, RdmaServer

DEVICE_PORT = 1  # of an RDMA device: an Ethernet port is a device of its own
HUGE_PAGE = 2 << 20
ROCE = 96  # bytes that Linux takes off an interface's MTU before it looks for a path MTU (iboe_get_mtu)
UNIT = "polysome-agent.service"
RDMA = Role(
    title="RDMA server",
    restarted="packets parked on it are lost; the other servers take over meanwhile",
    folder="rdma",
    program=("rdma/agent/CMakeLists.txt", "runtime/rdma/agent/main.cpp"),
    unit=f"rdma/{UNIT}",
    about="the agent of the servers that lend memory, and its configuration on each",
)


class Memory(Parts):
    """A server that no packets are parked on has an agent too, with nothing to lend: its own traffic passes through the
    switch."""

    roles: ClassVar[Mapping[str, Role]] = {"rdma": RDMA}

    def machines(self, design: Design) -> tuple[Machine, ...]:
        lent = {region.name: region for region in regions(design.plan)}
        return tuple(_rdma(design, server, lent.get(server.name)) for server in design.site.rdma_servers)

    def mtus(self, design: Design) -> dict[int, int]:
        return {server.port: _rdma_mtu(design, server) for server in design.site.rdma_servers}

    def by_cpu_port(self, design: Design) -> dict[str, str] | None:
        """Its probes (PROTOCOL.md, rule 14)."""
        if not probes(design):
            return None
        ports = " ".join(str(server.port) for server in design.site.rdma_servers)
        return {"ICRC": design.site.icrc or SOFT_ICRC, "ICRC_PORTS": ports}

    def requires(self, design: Design) -> dict[str, str]:
        """The controller proves it (rules 13 and 14)."""
        site = design.site
        if not probes(design):
            return {}
        found = {
            "icrc": site.icrc or SOFT_ICRC,
            "controller": f"{site.cpu_interface or CPU_INTERFACE} at switch port {site.cpu_port}",
        }
        return found if site.soft else {**found, "nic_icrc": str(site.nic_icrc)}

    def files(self, design: Design, values: dict[str, Any]) -> dict[str, bytes]:
        places: Places = values["places"]
        files = {
            f"rdma/{server.name}.json": as_json(agent_config(design, server, places.tls, USER))
            for server in design.site.rdma_servers
        }
        files[RDMA.unit] = filled(RDMA.unit, values)
        files["rdma/agent/CMakeLists.txt"] = fixed("rdma/agent/CMakeLists.txt")
        return files

    def rows(self, design: Design) -> Iterable[Row]:
        lent = {region.name: region for region in regions(design.plan)}
        for server in design.site.rdma_servers:
            region, what = lent.get(server.name), "lends nothing"
            if region is not None:
                last = region.first + region.count - 1
                what = f"{binary(region.bytes)}, queue pairs {region.first} to {last}"
            device = server.device or server.interface
            yield Row(server.name, "RDMA", str(server.address), server.port, str(device), what)

    def cards(self, design: Design) -> Iterable[tuple[str, str]]:
        if regions(design.plan):
            yield str(sum(region.count for region in regions(design.plan))), "queue pairs"


BUNDLE = Memory()


def _rdma_mtu(design: Design, server: RdmaServer) -> int:
    parking = parking_of(design.plan)
    return ROCE + (parking.path_mtu.value if parking is not None else max(server.nic.path_mtus_bytes))


def _rdma(design: Design, server: RdmaServer, region: Region | None) -> Machine:
    variables = variables_of(server.address, server.control_port, server.name, UNIT)
    variables |= {
        "ROLE": "rdma",
        "DEVICE": str(server.device),
        "DEVICE_PORT": str(DEVICE_PORT),
        "INTERFACE": str(server.interface),
        **_told(server),
        "LINKS": f"{server.interface}:{_rdma_mtu(design, server)}",
        "NUMA": str(server.numa),
    }
    if not design.site.soft and server.device != SOFT:
        variables["NIC_ICRC"] = str(design.site.nic_icrc)
    if server.huge_pages and region is not None:
        variables["HUGE_PAGES"] = str(ceil_div(region.bytes, HUGE_PAGE))
    return Machine(server.name, "rdma", str(server.address), dict(sorted(variables.items())))


def _told(server: RdmaServer) -> dict[str, str]:
    """The addresses of its interface, as far as the site says them: its part tells the ones that it has."""
    told = {} if server.mac is None else {"MAC": colons(server.mac)}
    return told | ({"IP": dots(server.ip)} if server.ip is not None else {})


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
