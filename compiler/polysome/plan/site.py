"""The site: where an NF runs, and what is planned for where no site file is given.

What a site file may leave out has its default here; what is known of a model is in `targets`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from polysome.plan import targets
from polysome.plan.targets import Nic, Switch
from polysome.syntax.spans import Source, Span

PCI = r"[0-9a-f]{4}:[0-9a-f]{2}:[0-1][0-9a-f]\.[0-7]"
DPDK_FRAME = 14 + 1600  # bytes; fields_dpdk.hpp has the MTU
MTU = 1500  # bytes of a network packet, where a site says nothing
SOFT = "soft"  # the `nic` of a server whose RDMA requests a program answers
SOFT_SWITCHES = ("software", "linux")  # models that are a program
SOFT_ICRC = "append_icrc"  # of their ports (control.proto)
CPU_INTERFACE = "polysome-cpu"  # of the machine of such a switch, where the site names none


@dataclass(frozen=True)
class Machine:
    """A server on a port of the switch.

    `mac` None: it tells when it joins. `address`: of its management port, `control_port`: where its part answers there.
    `device`: what the site calls `nic`. What a plan does not need is None if the site does not say it
    (`site_file.complete`). `span`: its table in the site file.
    """

    name: str
    port: int
    nic: Nic
    mac: int | None = field(default=None, kw_only=True)
    address: str | None = field(default=None, kw_only=True)
    control_port: int = field(kw_only=True)
    device: str | None = field(default=None, kw_only=True)
    span: Span | None = field(default=None, kw_only=True)


@dataclass(frozen=True)
class NfServer(Machine):
    """Runs the NF, on one core. `latency`: ns, the longest stay in it, the schedule aside; `largest_frame`: of its link
    and of what its program takes, bytes.

    `device`: a PCI address, or the interface itself.
    """

    latency: int
    largest_frame: int
    core: int = 0
    control_port: int = field(default=50061, kw_only=True)

    @property
    def dpdk(self) -> bool:
        """A PCI address means DPDK."""
        return re.fullmatch(PCI, self.device or "") is not None


@dataclass(frozen=True)
class RdmaServer(Machine):
    """Lends memory, in bytes; `spare`: bit/s of its link each way, None for all. `ip` None: it tells when it joins.

    `device`: an RDMA device, or `SOFT`; `interface`: the network interface of its port. `link_rate`: bit/s, None as
    NIC and switch port allow.
    """

    memory: int
    spare: int | None = None
    ip: int | None = None
    numa: int = 0
    link_rate: int | None = None
    huge_pages: bool = True
    interface: str | None = None
    control_port: int = field(default=50051, kw_only=True)


@dataclass(frozen=True)
class BackOff:
    """When buckets of a busy server move, in shares of 1; `control.proto` says what each is."""

    high: float = 0.95
    low: float = 0.8
    step: float = 0.1
    headroom: float = 0.9


@dataclass(frozen=True)
class Controller:
    """`metrics`, `listen`: "ADDRESS:PORT" for Prometheus, which anybody who reaches it may read, and for operators, or
    None. Times between polls, ns."""

    metrics: str = "127.0.0.1:9464"
    listen: str | None = None
    poll: int = 100_000_000
    queue_pair_poll: int = 10_000_000
    health: int = 500_000_000
    probe: int = 1_000_000_000
    back_off: BackOff = BackOff()


@dataclass(frozen=True)
class Site:
    """`traffic`: the device ports of each logical port of the spec. Rates bit/s, sizes bytes, `hold` ns or None.

    `address` and `control_port` are of the switch's management port. `queue_pairs`: of each RDMA server, None: as the
    load takes. `whole`: the share of packets that go whole, of 1; None: not known. `cpu_interface`: of the switch's
    machine, at its port `cpu_port`. `icrc`, `nic_icrc`: what has the switch append ICRC, and the NICs accept any, as
    the site calls it. `architecture`: by name; `idle`: servers of the file that it has no use for. `span`: the table
    `[switch]` of the site file.
    """

    name: str
    switch: Switch
    traffic: tuple[tuple[int, ...], ...]
    traffic_rate: int
    port_rate: int
    mtu: int
    nf_servers: tuple[NfServer, ...]
    rdma_servers: tuple[RdmaServer, ...]
    hold: int | None = None
    queue_pairs: int | None = None
    whole: float | None = None
    address: str | None = None
    control_port: int = 50052
    cpu_port_given: int | None = None
    cpu_interface: str | None = None
    icrc: str | None = None
    nic_icrc: str | None = None
    controller: Controller = Controller()
    architecture: str = "ribosome"
    idle: tuple[str, ...] = ()
    source: Source | None = field(default=None, compare=False)
    span: Span | None = field(default=None, compare=False)

    @property
    def largest_frame(self) -> int:
        """Without FCS, with two VLAN tags."""
        return 14 + 2 * 4 + self.mtu

    @property
    def machines(self) -> tuple[Machine, ...]:
        """All servers on ports of the switch."""
        return (*self.nf_servers, *self.rdma_servers)

    @property
    def pipe(self) -> int:
        return self.nf_servers[0].port // self.switch.ports_per_pipe

    @property
    def soft(self) -> bool:
        """Is the switch a program?"""
        return self.switch.name in SOFT_SWITCHES

    @property
    def recirculation_port(self) -> int:
        return self.pipe * self.switch.ports_per_pipe + self.switch.recirculation_port

    @property
    def generator_port(self) -> int:
        return self.pipe * self.switch.ports_per_pipe + self.switch.generator_port

    @property
    def cpu_port(self) -> int:
        """The port of the switch where its controller's interface is."""
        if self.cpu_port_given is not None:
            return self.cpu_port_given
        return self.pipe * self.switch.ports_per_pipe + self.switch.cpu_port

    def rate_to(self, server: Machine) -> int:
        """Of the link between switch and server."""
        link = server.link_rate if isinstance(server, RdmaServer) else None
        return min(self.port_rate, server.nic.rate_bps, link or self.port_rate)


def default_site(
    ports: Sequence[str],
    switch: str = "software",
    rdma_servers: int = 2,
    nf_servers: int = 1,
    architecture: str = Site.architecture,
) -> Site:
    """What is planned for if no site is given: the spec's ports on the first ports of pipe 0, then NF, then memory."""
    chip = targets.switch(switch)
    host = host_of(chip)
    nic, around = targets.nic(host), targets.server(host)
    room = chip.last_port - chip.first_port + 1
    lanes = chip.lanes_per_port  # fewer for each port, which are slower then, if there is no room
    while lanes > 1 and (len(ports) + nf_servers + rdma_servers) * lanes > room:
        lanes //= 2
    nf_first = chip.nf_port or chip.first_port + len(ports) * lanes
    server_first = chip.server_port or nf_first + nf_servers * lanes
    rate = chip.port_rate_bps * lanes // chip.lanes_per_port
    return Site(
        name=f"the default {switch} site",
        switch=chip,
        traffic=tuple((chip.first_port + i * lanes,) for i in range(len(ports))),
        traffic_rate=chip.traffic_rate_bps or rate,
        port_rate=rate,
        mtu=MTU,
        nf_servers=tuple(
            NfServer(f"nf{i}", nf_first + i * lanes, nic, around.latency_ns, nic.largest_frame_bytes)
            for i in range(nf_servers)
        ),
        rdma_servers=tuple(
            RdmaServer(f"memory{i}", server_first + i * lanes, nic, around.memory_bytes) for i in range(rdma_servers)
        ),
        architecture=architecture,
    )


def host_of(chip: Switch) -> str:
    """The target of the servers, where a site names none."""
    return chip.name if chip.name in targets.known("nic") else "connectx5"
