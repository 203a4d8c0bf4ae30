"""What a site file may say (DESIGN section 10): a model for each table, validated by pydantic.

Values are strict: what stands in quotes is no number. `site_errors` tells what is wrong. Importing pydantic takes a
tenth of a second, so only who reads a site imports this.
"""

from __future__ import annotations

import re
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, create_model, model_validator

from polysome.plan import targets
from polysome.plan.architectures import named
from polysome.plan.site import MTU, PCI, BackOff, Controller, NfServer, RdmaServer, Site
from polysome.plan.site_values import (
    ArchitectureName,
    BitRate,
    Bytes,
    Core,
    DevicePort,
    DevicePorts,
    Duration,
    Endpoint,
    Interface,
    Ip,
    Label,
    Mac,
    Management,
    NfNic,
    RdmaNic,
    Setting,
    Share,
    SomeShare,
    TcpPort,
    around_of,
    target,
    told,
)
from polysome.plan.targets import RATE
from polysome.resources import architectures
from polysome.syntax.diagnostics import listed

LEAST_MTU, MOST_MTU = 576, 9578
MOST_NF_MTU = 65_000
LEAST_MEMORY, MOST_MEMORY = 2**20, 2**46
LEAST_RATE = 1_000_000
MICROSECOND, MILLISECOND, SECOND = 10**3, 10**6, 10**9


class Table(BaseModel):
    """No member but these, and no value of another form."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class SwitchTable(Table):
    model: Annotated[str, target("switch", "switch")] = Field(examples=["tofino"])
    address: Management | None = Field(default=Site.address, examples=["192.0.2.1"])
    control_port: TcpPort = Field(default=Site.control_port, examples=[Site.control_port])
    pipe: int | None = Field(default=None, ge=0, le=63, examples=[0])
    names: dict[str, Annotated[int, Field(ge=0, le=511)]] = Field(default={}, examples=[{"1/0": 128}])
    port_rate: BitRate | None = Field(default=None, ge=LEAST_RATE, le=RATE, examples=["100Gbps"])
    traffic_rate: BitRate | None = Field(default=None, ge=LEAST_RATE, le=RATE, examples=["10Gbps"])
    mtu: Bytes = Field(default=MTU, ge=LEAST_MTU, le=MOST_MTU, examples=["1500B"])
    cpu_port: int | None = Field(default=None, ge=0, le=511, examples=[64])
    cpu_interface: Interface | None = Field(default=None, examples=["enp4s0f0"])
    icrc: Setting | None = Field(default=None, examples=["what the vendor calls it"])
    nic_icrc: Setting | None = Field(default=None, examples=["what the vendor calls it"])

    @model_validator(mode="after")
    def _known(self, info: ValidationInfo) -> Self:
        rate = self.port_rate or targets.switch(self.model).port_rate_bps
        if self.traffic_rate is not None and self.traffic_rate > rate:
            why = "Traffic ports are ports of the switch, and none is faster than `port_rate`, or as the model has it."
            message = "traffic ports faster than the switch's ports"
            raise told("E1308", message, why, "Give a lower `traffic_rate`, or a higher `port_rate`.", "traffic_rate")
        around = around_of(info)
        around.chip, around.names = targets.switch(self.model), self.names
        return self


class ServerTable(Table):
    name: Label = Field(examples=["server1"])
    switch_port: DevicePort = Field(examples=[8])
    model: Annotated[str, target("nic", "NIC")] | None = Field(default=None, examples=["connectx5"])
    address: Management | None = Field(default=None, examples=["192.0.2.11"])
    mac: Mac | None = Field(default=None, examples=["02:00:00:00:00:11"])


class NfTable(ServerTable):
    control_port: TcpPort = Field(default=NfServer.control_port, examples=[NfServer.control_port])
    nic: NfNic | None = Field(default=None, examples=["0000:3b:00.0"])
    cores: list[Core] | None = Field(default=None, min_length=1, examples=[[2]])
    latency: Duration | None = Field(default=None, ge=MICROSECOND, le=10 * SECOND, examples=["1ms"])
    mtu: Bytes | None = Field(default=None, ge=LEAST_MTU, le=MOST_NF_MTU, examples=["9000B"])

    @model_validator(mode="after")
    def _one_core(self) -> Self:
        cores = self.cores or []
        if len(cores) > 1:
            why = "The NF's program runs on one core, with DPDK too; the others would do nothing."
            message = f"an NF server cannot use {len(cores)} cores"
            raise told("E1310", message, why, f"Write `cores = [{cores[0]}]`.", "cores")
        return self

    @model_validator(mode="after")
    def _mac_is_seen(self) -> Self:
        if self.mac is not None and re.fullmatch(PCI, self.nic or ""):
            why = "The NF tells the switch its address, and where there is no network interface none can be checked."
            raise told("E1310", "a MAC address for a NIC that DPDK takes", why, "Remove the line.", "mac")
        return self


class RdmaTable(ServerTable):
    interface: Interface | None = Field(default=None, examples=["eth1"])
    control_port: TcpPort = Field(default=RdmaServer.control_port, examples=[RdmaServer.control_port])
    nic: RdmaNic | None = Field(default=None, examples=["mlx5_0"])
    numa: int = Field(default=RdmaServer.numa, ge=0, le=63, examples=[0])
    memory: Bytes = Field(ge=LEAST_MEMORY, le=MOST_MEMORY, examples=["16GiB"])
    spare_bandwidth: BitRate | None = Field(default=RdmaServer.spare, ge=LEAST_RATE, le=RATE, examples=["40Gbps"])
    link_rate: BitRate | None = Field(default=RdmaServer.link_rate, ge=LEAST_RATE, le=RATE, examples=["25Gbps"])
    huge_pages: bool | None = Field(default=None, examples=[True])
    ip: Ip | None = Field(default=RdmaServer.ip, examples=["198.18.0.21"])


class BackOffTable(Table):
    high: Share = Field(default=BackOff.high, examples=[BackOff.high])
    low: Share = Field(default=BackOff.low, examples=[BackOff.low])
    step: SomeShare = Field(default=BackOff.step, examples=[BackOff.step])
    headroom: SomeShare = Field(default=BackOff.headroom, examples=[BackOff.headroom])

    @model_validator(mode="after")
    def _apart(self) -> Self:
        if self.low >= self.high:
            why = "Above `high` buckets go, below `low` they come back; between them none moves, or all would swing."
            message = f"`low` is {self.low}, not below `high`, {self.high}"
            mend = f"Give for example `low = {BackOff.low}` and `high = {BackOff.high}`."
            raise told("E1308", message, why, mend, "low" if "low" in self.model_fields_set else "high")
        return self


class ControllerTable(Table):
    metrics: Endpoint = Field(default=Controller.metrics, examples=[Controller.metrics])
    listen: Endpoint | None = Field(default=Controller.listen, examples=["192.0.2.1:50070"])
    poll: Duration = Field(default=Controller.poll, ge=10 * MILLISECOND, le=60 * SECOND, examples=["100ms"])
    queue_pair_poll: Duration = Field(
        default=Controller.queue_pair_poll, ge=MILLISECOND, le=10 * SECOND, examples=["10ms"]
    )
    health: Duration = Field(default=Controller.health, ge=10 * MILLISECOND, le=60 * SECOND, examples=["500ms"])
    probe: Duration = Field(default=Controller.probe, ge=100 * MILLISECOND, le=3600 * SECOND, examples=["1s"])
    back_off: BackOffTable = BackOffTable()

    @model_validator(mode="after")
    def _two_ports(self) -> Self:
        if self.listen is not None:
            (here, port), (there, other) = self.metrics.split(":"), self.listen.split(":")
            if port == other and (here == there or "0.0.0.0" in (here, there)):
                why = "Only one of them can listen on a port."
                raise told("E1308", f"`metrics` and `listen` share port {port}", why, "Give another port.", "listen")
        return self


class PlanTable(Table):
    hold: Duration | None = Field(default=Site.hold, ge=1, le=3600 * SECOND, examples=["200ms"])
    queue_pairs: int | None = Field(default=Site.queue_pairs, ge=1, le=4096, examples=[4])
    whole: Share | None = Field(default=Site.whole, examples=[0.1])

    @model_validator(mode="after")
    def _power_of_two(self) -> Self:
        count = self.queue_pairs
        if count is not None and count & (count - 1):
            least = 1 << count.bit_length() - 1
            why = "A packet's queue pair is some bits of a hash, so each server has a power of two."
            mend = f"Write `queue_pairs = {least}` or `queue_pairs = {2 * least}`."
            raise told("E1308", f"{count} queue pairs are no power of two", why, mend, "queue_pairs")
        return self


class SiteTable(Table):
    """All of a file but `ports`, whose names are the spec's (`site_table`)."""

    architecture: ArchitectureName = Field(default=Site.architecture, examples=["whole"])
    switch: SwitchTable
    nf_servers: list[NfTable] = Field(min_length=1)
    rdma_servers: list[RdmaTable] = []
    controller: ControllerTable = ControllerTable()
    plan: PlanTable = PlanTable()
    params: dict[str, Any] = {}
    config: dict[str, Any] = {}

    @model_validator(mode="after")
    def _enough_servers(self, info: ValidationInfo) -> Self:
        chosen = named(around_of(info).architecture or self.architecture)
        if len(self.rdma_servers) < chosen.least_servers:
            why = f"With the architecture `{chosen.name}`, {chosen.about}."
            without = listed(f'`architecture = "{n}"`' for n in architectures() if not named(n).least_servers)
            mend = f"Write `[[rdma_servers]]`, and below it its members; {without} needs none."
            raise told("E1008", "`[[rdma_servers]]` is missing", why, mend)
        return self


def site_table(ports: tuple[str, ...]) -> type[SiteTable]:
    """The model of site files for specs with these logical ports."""
    members: dict[str, Any] = {f"port{n}": (DevicePorts, Field(alias=name)) for n, name in enumerate(ports)}
    bound = create_model("PortsTable", __base__=Table, **members)
    return create_model("SiteTable", __base__=SiteTable, ports=(bound, ...))
