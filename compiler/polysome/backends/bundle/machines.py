"""The machines of a site: what each of them has, needs and runs, as the scripts of a bundle read it."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass

from polysome.backends.controller.config import colons, dots
from polysome.backends.controller.probes import probes
from polysome.backends.rdma.config import DEVICE_PORT
from polysome.plan.architectures.ribosome.store import Region, parking_of, regions
from polysome.plan.design import Design
from polysome.plan.numbers import ceil_div
from polysome.plan.site import CPU_INTERFACE, SOFT, SOFT_ICRC, NfServer, RdmaServer
from polysome_protocol import ETHERNET, MOST_SUFFIX

USER = "polysome"  # whom programs become that need root only at their start
HUGE_PAGE = 2 << 20
NF_HUGE_PAGES = 512  # 1 GiB: what DPDK's pools of packets take, with room
ROCE = 96  # bytes that Linux takes off an interface's MTU before it looks for a path MTU (iboe_get_mtu)


@dataclass(frozen=True)
class Places:
    """Folders of a deployment on every machine, by the NF's name."""

    nf: str

    @property
    def programs(self) -> str:
        return f"/opt/polysome/{self.nf}"

    @property
    def configuration(self) -> str:
        return f"/etc/polysome/{self.nf}"

    @property
    def tls(self) -> str:
        return f"{self.configuration}/tls"

    @property
    def state(self) -> str:
        return f"/var/lib/polysome/{self.nf}"

    @property
    def run(self) -> str:
        return f"/run/polysome/{self.nf}"


@dataclass(frozen=True)
class Machine:
    """`role`: "switch", "rdma" or "nf". `variables`: what the preflight checks and install.sh need to know of it."""

    name: str
    role: str
    address: str
    variables: Mapping[str, str]

    @property
    def text(self) -> bytes:
        """Assignments that a shell reads."""
        return "".join(f"{name}={shlex.quote(value)}\n" for name, value in self.variables.items()).encode()


def nf_host(server: NfServer) -> str:
    """How the NF gets its frames."""
    return "dpdk" if server.dpdk else "af_packet"


def machines(design: Design) -> tuple[Machine, ...]:
    """The switch, then the RDMA servers, then the NF servers: the order in which they are started."""
    lent = {region.name: region for region in regions(design.plan)}
    site = design.site
    return (
        _switch(design),
        *(_rdma(design, server, lent.get(server.name)) for server in site.rdma_servers),
        *(_nf(design, server) for server in site.nf_servers),
    )


def _switch(design: Design) -> Machine:
    site = design.site
    soft = site.soft
    ends = [site.controller.metrics, site.controller.listen]
    ports = ([str(site.control_port)] if soft else []) + [end.rpartition(":")[2] for end in ends if end]
    variables = {
        "ROLE": "switch",
        "ADDRESS": str(site.address),
        "UNITS": "polysome-switch.service polysome-controller.service",
        "UNIT": "polysome-controller.service",
        "LISTEN": " ".join(ports),
        "CERTIFICATES": "switch controller" if soft else "controller",
    }
    links = {switch_interface(port): mtu for port, mtu in _mtus(design).items()} if soft else {}
    if probes(design):
        own, mtu = site.cpu_interface or CPU_INTERFACE, site.largest_frame + MOST_SUFFIX - ETHERNET.size
        links |= {switch_interface(site.cpu_port): mtu, own: mtu} if soft else {own: mtu}
        variables |= {"CPU_PORT": str(site.cpu_port), "CPU_INTERFACE": own, "ICRC": site.icrc or SOFT_ICRC}
        variables["ICRC_PORTS"] = " ".join(str(server.port) for server in site.rdma_servers)
    if links:
        variables["LINKS"] = " ".join(f"{name}:{mtu}" for name, mtu in links.items())
    return Machine("switch", "switch", str(site.address), dict(sorted(variables.items())))


def switch_interface(port: int) -> str:
    """The network interface that is a soft switch's port."""
    return f"port{port}"


def _mtus(design: Design) -> dict[int, int]:
    """The least MTU of the link at each port of the switch."""
    site = design.site
    found = {port: design.plan.out_frame.value - ETHERNET.size for ports in site.traffic for port in ports}
    found |= {server.port: design.plan.nf_link.value - ETHERNET.size for server in site.nf_servers}
    found |= {server.port: _rdma_mtu(design, server) for server in site.rdma_servers}
    return dict(sorted(found.items()))


def _rdma_mtu(design: Design, server: RdmaServer) -> int:
    parking = parking_of(design.plan)
    return ROCE + (parking.path_mtu.value if parking is not None else max(server.nic.path_mtus_bytes))


def _rdma(design: Design, server: RdmaServer, region: Region | None) -> Machine:
    variables = _server(server.address, server.control_port, server.name, "polysome-agent.service")
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


def _nf(design: Design, server: NfServer) -> Machine:
    variables = _server(server.address, server.control_port, server.name, "polysome-nf.service")
    variables |= {"ROLE": "nf", "NF_HOST": nf_host(server), "CORES": str(server.core)}
    if nf_host(server) == "dpdk":
        variables |= {"DEVICE": str(server.device), "HUGE_PAGES": str(NF_HUGE_PAGES)}
    else:
        variables |= {"INTERFACE": str(server.device), **_told(server)}
        variables["LINKS"] = f"{server.device}:{design.plan.nf_link.value - ETHERNET.size}"
    return Machine(server.name, "nf", str(server.address), dict(sorted(variables.items())))


def _told(server: NfServer | RdmaServer) -> dict[str, str]:
    """The addresses of its interface, as far as the site says them: its part tells the ones that it has."""
    told = {} if server.mac is None else {"MAC": colons(server.mac)}
    return told | ({"IP": dots(server.ip)} if isinstance(server, RdmaServer) and server.ip is not None else {})


def _server(address: str | None, port: int, name: str, unit: str) -> dict[str, str]:
    return {"ADDRESS": str(address), "LISTEN": str(port), "CERTIFICATES": name, "UNIT": unit, "UNITS": unit}
