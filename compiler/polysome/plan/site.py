"""The site: where an NF runs, as far as a plan needs it, and what is planned for where no site file is given."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from polysome.plan import targets
from polysome.plan.targets import Nic, Switch
from polysome.syntax.spans import Source, Span

MTU = 1500  # bytes of a network packet, where a site says nothing


@dataclass(frozen=True)
class Machine:
    """A server on a port of the switch. `mac` None: it tells when it joins; `span`: its table in the site file."""

    name: str
    port: int
    nic: Nic
    mac: int | None = field(default=None, kw_only=True)
    span: Span | None = field(default=None, kw_only=True)


@dataclass(frozen=True)
class NfServer(Machine):
    """Runs the NF. `latency`: ns, the longest stay in it, the schedule aside; `largest_frame`: of its link, bytes."""

    cores: tuple[int, ...]
    latency: int
    largest_frame: int


@dataclass(frozen=True)
class RdmaServer(Machine):
    """Lends memory, in bytes; `spare`: bit/s of its link each way, None for all. `ip` None: it tells when it joins."""

    id: int
    memory: int
    spare: int | None = None
    ip: int | None = None


@dataclass(frozen=True)
class Site:
    """`traffic`: the device ports of each logical port of the spec. Rates bit/s, sizes bytes, `hold` ns or None."""

    name: str
    switch: Switch
    traffic: tuple[tuple[int, ...], ...]
    traffic_rate: int
    port_rate: int
    mtu: int
    nf_servers: tuple[NfServer, ...]
    rdma_servers: tuple[RdmaServer, ...]
    hold: int | None = None
    source: Source | None = field(default=None, compare=False)

    @property
    def largest_frame(self) -> int:
        """Without FCS, with two VLAN tags."""
        return 14 + 2 * 4 + self.mtu

    @property
    def pipe(self) -> int:
        return self.nf_servers[0].port // self.switch.ports_per_pipe

    def rate_to(self, server: Machine) -> int:
        """Of the link between switch and server."""
        return min(self.port_rate, server.nic.rate_bps)


def default_site(ports: Sequence[str], switch: str = "software", rdma_servers: int = 2, nf_servers: int = 1) -> Site:
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
            NfServer(
                f"nf{i}",
                nf_first + i * lanes,
                nic,
                tuple(range(around.cores)),
                around.latency_ns,
                nic.largest_frame_bytes,
            )
            for i in range(nf_servers)
        ),
        rdma_servers=tuple(
            RdmaServer(f"memory{i}", server_first + i * lanes, nic, i, around.memory_bytes) for i in range(rdma_servers)
        ),
    )


def host_of(chip: Switch) -> str:
    """The target of the servers, where a site names none."""
    return "software" if chip.name == "software" else "connectx5"
