"""The machines of a site: what each of them has, needs and runs, as the scripts of a bundle read it."""

from __future__ import annotations

from polysome.backends.bundle.parts import Machine, parts_of, variables_of
from polysome.backends.controller.config import colons
from polysome.plan.design import Design
from polysome.plan.site import CPU_INTERFACE, NfServer
from polysome_protocol import ETHERNET, MOST_SUFFIX

NF_HUGE_PAGES = 512  # 1 GiB: what DPDK's pools of packets take, with room


def nf_host(server: NfServer) -> str:
    """How the NF gets its frames."""
    return "dpdk" if server.dpdk else "af_packet"


def machines(design: Design) -> tuple[Machine, ...]:
    """The switch, then those of the architecture, then the NF servers: the order in which they are started."""
    own = parts_of(design.plan.architecture)
    return (_switch(design), *own.machines(design), *(_nf(design, server) for server in design.site.nf_servers))


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
    through = parts_of(design.plan.architecture).by_cpu_port(design)
    if through is not None:
        own, mtu = site.cpu_interface or CPU_INTERFACE, site.largest_frame + MOST_SUFFIX - ETHERNET.size
        links |= {switch_interface(site.cpu_port): mtu, own: mtu} if soft else {own: mtu}
        variables |= {"CPU_PORT": str(site.cpu_port), "CPU_INTERFACE": own, **through}
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
    found |= parts_of(design.plan.architecture).mtus(design)
    return dict(sorted(found.items()))


def _nf(design: Design, server: NfServer) -> Machine:
    variables = variables_of(server.address, server.control_port, server.name, "polysome-nf.service")
    variables |= {"ROLE": "nf", "NF_HOST": nf_host(server), "CORES": str(server.core)}
    if nf_host(server) == "dpdk":
        variables |= {"DEVICE": str(server.device), "HUGE_PAGES": str(NF_HUGE_PAGES)}
    else:
        variables |= {"INTERFACE": str(server.device), **({} if server.mac is None else {"MAC": colons(server.mac)})}
        variables["LINKS"] = f"{server.device}:{design.plan.nf_link.value - ETHERNET.size}"
    return Machine(server.name, "nf", str(server.address), dict(sorted(variables.items())))
