"""The site file (DESIGN section 10), as far as a plan needs it.

[switch]   model, pipe, port_rate, mtu, names = { "1/0" = 0 }
[ports]    each logical port of the spec: a device port, a name of it, or several
[[nf_servers]]    name, switch_port, model, cores, mac, address, nic, mtu
[[rdma_servers]]  name, switch_port, id, model, memory, spare_bandwidth, mac, ip, address, nic, numa
[plan]     hold, where the schedule has no bound of its own
[params], [config] belong to the spec and are read with it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from polysome.config.items import Item, Rejected, read_source
from polysome.config.toml_text import read_toml
from polysome.ir import types as t
from polysome.plan import targets
from polysome.plan.records import Read, Table, many, of_type, ranged, refuse, rows, text, whole
from polysome.plan.site import MTU, Machine, NfServer, RdmaServer, Site, host_of
from polysome.plan.targets import RATE, Switch
from polysome.syntax.diagnostics import Report, one_of
from polysome.syntax.spans import Span

LEAST_MTU, MOST_MTU = 576, 9578
MOST_IDS = 64
MOST_MEMORY = 2**46


@dataclass(frozen=True)
class SiteFile:
    """A site file that is valid TOML; `params`: the spec's, as the command line would give them, `NAME=VALUE`."""

    path: str
    root: Item
    params: tuple[str, ...]


def open_site(path: str, report: Report) -> SiteFile:
    """Reads the file. ConfigFileError if it cannot be read; Rejected, and reported, if it is not valid TOML."""
    root = read_toml(read_source(path, report), report)
    params = root.value.get("params")
    given: dict[str, Item] = params.value if params is not None and isinstance(params.value, dict) else {}
    return SiteFile(path, root, tuple(f"{name}={_written(item.value)}" for name, item in given.items()))


def _written(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def site_of(file: SiteFile, ports: Sequence[str], report: Report) -> Site:
    """The site for a spec with these logical ports. Reports all that is wrong, and raises Rejected if anything is."""
    root = Table(file.root, "A site file", report)
    anything: Read[None] = lambda item, report: None  # noqa: E731
    root.take("params", anything, None)
    root.take("config", anything, None)
    hold = root.take("plan", _plan, None)
    model = root.take("switch", _switch)
    if root.failed or root.missing:
        root.known += ["ports", "nf_servers", "rdma_servers"]
        root.done()
    chip, pipe, names, port_rate, mtu = model
    port = _port(chip, names)
    traffic = root.take("ports", lambda item, report: _bindings(item, ports, port, report))
    around = targets.server(host_of(chip))
    nf = root.take("nf_servers", lambda i, r: _servers(i, "nf_servers", lambda row, n: _nf(row, port, around, r), r))
    rdma = root.take(
        "rdma_servers", lambda i, r: _servers(i, "rdma_servers", lambda row, n: _rdma(row, n, port, around, r), r)
    )
    root.done()
    site = Site(
        name=file.path,
        switch=chip,
        traffic=traffic,
        traffic_rate=port_rate or chip.traffic_rate_bps or chip.port_rate_bps,
        port_rate=port_rate or chip.port_rate_bps,
        mtu=mtu,
        nf_servers=tuple(nf),
        rdma_servers=tuple(rdma),
        hold=hold,
        source=report.sources.get(file.path),
    )
    _check_twice(site, report)
    _check_ports(site, file.root, ports, pipe, report)
    if report.errors:
        raise Rejected
    return site


SwitchPart = tuple[Switch, "int | None", dict[str, int], "int | None", int]


def _plan(item: Item, report: Report) -> int | None:
    table = Table(item, "`[plan]`", report)
    hold = table.take("hold", of_type(t.Quantity("duration"), "200ms"), None)
    table.done()
    return hold


def _switch(item: Item, report: Report) -> SwitchPart:
    table = Table(item, "`[switch]`", report)
    chip = table.take("model", _target("switch", targets.switch))
    table.take("address", text, "")
    pipe = table.take("pipe", whole(0, 63), None)
    none: dict[str, int] = {}
    names = table.take("names", _names, none)
    rate = table.take("port_rate", ranged(of_type(t.Quantity("bitrate"), "100Gbps"), 1_000_000, RATE), None)
    mtu = table.take("mtu", ranged(of_type(t.Quantity("bytes"), "1500B"), LEAST_MTU, MOST_MTU), MTU)
    table.done()
    return chip, pipe, names, rate, mtu


def _target(part: str, find: Callable[[str], Any]) -> Read[Any]:
    def read(item: Item, report: Report) -> Any:
        name = text(item, report)
        try:
            return find(name)
        except KeyError:
            what = "switch" if part == "switch" else "NIC"
            return refuse(
                "E1305",
                f"there is no {what} model `{name}`",
                item.span,
                report,
                why="A model is a folder of `targets` that holds what is known of the hardware.",
                mend=one_of(name, targets.known(part)),
            )

    return read


def _names(item: Item, report: Report) -> dict[str, int]:
    table = Table(item, "`names`", report)
    found = {name: table.take(name, whole(0, 511)) for name in item.value}
    table.done()
    return found


def _port(chip: Switch, names: dict[str, int]) -> Read[int]:
    """A device port of the switch, by number or by name: E1303 if there is no such port."""

    def read(item: Item, report: Report) -> int:
        value = item.value
        if isinstance(value, str):
            if value not in names:
                refuse(
                    "E1303",
                    f"the switch has no port named `{value}`",
                    item.span,
                    report,
                    why="A port is a device port's number, or a name that `names` of `[switch]` gives one.",
                    mend=one_of(value, names) if names else f'Write `names = {{ "{value}" = 0 }}` with its number.',
                )
            value = names[value]
        number = whole(0, 511)(replace(item, value=value), report)
        pipe, at = divmod(number, chip.ports_per_pipe)
        if pipe < chip.pipes and chip.first_port <= at <= chip.last_port:
            return number
        return int(
            refuse(
                "E1303",
                f"`{chip.name}` has no front-panel port {number}",
                item.span,
                report,
                why=f"Its device ports are {chip.first_port} to {chip.last_port} in pipe 0, {chip.ports_per_pipe} more "
                f"in each further one of {chip.pipes}.",
                mend="Give a device port of the pipe where the others are.",
            )
        )

    return read


def _bindings(item: Item, ports: Sequence[str], port: Read[int], report: Report) -> tuple[tuple[int, ...], ...]:
    table = Table(item, "`[ports]`", report)
    found = [table.take(name, many(port, "ports")) for name in ports]
    table.done()
    return tuple(found)


def _servers(item: Item, name: str, read: Callable[[Item, int], Any], report: Report) -> list[Any]:
    """Every row, so that each can report."""
    found, failed = [], False
    for number, row in enumerate(rows(item, report, name)):
        try:
            found.append(read(row, number))
        except Rejected:
            failed = True
    if failed:
        raise Rejected
    return found


def _nf(row: Item, port: Read[int], around: targets.Server, report: Report) -> NfServer:
    table = Table(row, "`[[nf_servers]]`", report)
    name = table.take("name", text)
    at = table.take("switch_port", port)
    nic = table.take("model", _target("nic", targets.nic), targets.nic(around.name))
    table.take("nic", text, "")
    table.take("address", text, "")
    cores = table.take("cores", many(whole(0, 1023), "cores"), tuple(range(around.cores)))
    latency = table.take("latency", of_type(t.Quantity("duration"), "1ms"), around.latency_ns)
    mtu = table.take("mtu", ranged(of_type(t.Quantity("bytes"), "9000B"), LEAST_MTU, 65_000), None)
    mac = table.take("mac", of_type(t.Address("mac", 48), "02:00:00:00:00:11"), None)
    table.done()
    frame = nic.largest_frame_bytes if mtu is None else min(nic.largest_frame_bytes, 14 + mtu)
    return NfServer(name, at, nic, cores, latency, frame, mac=mac, span=row.span)


def _rdma(row: Item, number: int, port: Read[int], around: targets.Server, report: Report) -> RdmaServer:
    table = Table(row, "`[[rdma_servers]]`", report)
    name = table.take("name", text)
    at = table.take("switch_port", port)
    id = table.take("id", whole(0, MOST_IDS - 1), number)
    nic = table.take("model", _target("nic", targets.nic), targets.nic(around.name))
    table.take("nic", text, "")
    table.take("address", text, "")
    table.take("numa", whole(0, 63), 0)
    memory = table.take("memory", ranged(of_type(t.Quantity("bytes"), "16GiB"), 2**20, MOST_MEMORY))
    spare = table.take("spare_bandwidth", ranged(of_type(t.Quantity("bitrate"), "40Gbps"), 1, RATE), None)
    mac = table.take("mac", of_type(t.Address("mac", 48), "02:00:00:00:00:21"), None)
    ip = table.take("ip", of_type(t.Address("ipv4", 32), "192.0.2.21"), None)
    table.done()
    return RdmaServer(name, at, nic, id, memory, spare, ip, mac=mac, span=row.span)


# ---------------------------------------------------------------- what must hold between tables


def _check_twice(site: Site, report: Report) -> None:
    """E1301: servers that could not be told apart."""
    every: list[Machine] = [*site.nf_servers, *site.rdma_servers]
    _distinct("name", [(s.name, f"`{s.name}`", s.span) for s in every], report)
    _distinct("id", [(s.id, str(s.id), s.span) for s in site.rdma_servers], report)
    macs = [(s.mac, ":".join(f"{s.mac:012x}"[i : i + 2] for i in range(0, 12, 2)), s.span) for s in every if s.mac]
    _distinct("MAC address", macs, report)
    ips = [(s.ip, ".".join(str(s.ip >> n & 255) for n in (24, 16, 8, 0)), s.span) for s in site.rdma_servers if s.ip]
    _distinct("IP address", ips, report)


def _distinct(what: str, values: Iterable[tuple[Any, str, Span | None]], report: Report) -> None:
    first: dict[Any, Span | None] = {}
    for value, shown, span in values:
        if value not in first:
            first[value] = span
            continue
        earlier = first[value]
        report.add(
            "E1301",
            f"two servers have the {what} {shown}",
            span,
            also=[(earlier, "the first one")] if earlier else [],
            why="The switch and the controller could not tell them apart.",
            mend=f"Give each a{'n' if what[0] in 'iI' else ''} {what} of its own.",
        )


def _check_ports(site: Site, root: Item, ports: Sequence[str], pipe: int | None, report: Report) -> None:
    """E1302: a port for two things; E1304: registers are per pipe, so all ports must be in one (rule 11)."""
    used: dict[int, tuple[str, Span]] = {}
    home: tuple[int, str, Span] | None = None if pipe is None else (pipe, "", root.value["switch"].span)
    for port, what, span in _uses(site, root, ports):
        if port in used:
            report.add(
                "E1302",
                f"port {port} is used twice: for {used[port][0]} and for {what}",
                span,
                also=[(used[port][1], "first used here")],
                why="A port has one role, by which the switch knows what its frames are.",
                mend="Use another port.",
            )
            continue
        used[port] = (what, span)
        here = port // site.switch.ports_per_pipe
        if home is None:
            home = (here, what, span)
        elif here != home[0]:
            report.add(
                "E1304",
                f"port {port} for {what} is in pipe {here}, {home[1] or 'the others'} in pipe {home[0]}",
                span,
                also=[(home[2], f"pipe {home[0]}")],
                why="Registers exist once per pipe, so what is parked through one cannot be merged in another.",
                mend=f"Use a port of pipe {home[0]}.",
            )


def _uses(site: Site, root: Item, names: Sequence[str]) -> Iterable[tuple[int, str, Span]]:
    """Every port, what for, and where that stands."""
    bound = root.value["ports"].value
    for name, ports in zip(names, site.traffic, strict=True):
        item = bound[name]
        places = item.value if isinstance(item.value, list) else [item]
        for port, place in zip(ports, places, strict=True):
            yield port, f"`{name}`", place.span
    groups: list[tuple[str, Sequence[Machine]]] = [("nf_servers", site.nf_servers), ("rdma_servers", site.rdma_servers)]
    for part, servers in groups:
        for row, server in zip(root.value[part].value, servers, strict=True):
            yield server.port, f"server `{server.name}`", row.value["switch_port"].span
