"""The site file (DESIGN section 10), read: its tables are in `site_model`, what they default to in `site`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pydantic import ValidationError

from polysome.config.items import Item, Rejected, describe, read_source
from polysome.config.toml_text import read_toml
from polysome.plan import targets
from polysome.plan.architectures import named
from polysome.plan.numbers import rate
from polysome.plan.site import DPDK_FRAME, SOFT, BackOff, Controller, Machine, NfServer, RdmaServer, Site, host_of
from polysome.plan.site_errors import Path, place, tell
from polysome.plan.site_model import ControllerTable, NfTable, RdmaTable, SiteTable, site_table
from polysome.plan.site_values import Around
from polysome.syntax.diagnostics import Report, listed
from polysome.syntax.spans import Span

PARTS = ("authority", "controller", "operator", "switch")  # certificates of these names are made for each deployment


@dataclass(frozen=True)
class SiteFile:
    """A site file that is valid TOML; `params`: the spec's, as the command line would give them, `NAME=VALUE`.

    `places`: where each param stands.
    """

    path: str
    root: Item
    params: tuple[str, ...]
    places: Mapping[str, Span]


def open_site(path: str, report: Report) -> SiteFile:
    """Reads the file. ConfigFileError if it cannot be read; Rejected, and reported, if it is not valid TOML."""
    root = read_toml(read_source(path, report), report)
    params = root.value.get("params")
    given = {} if params is None else dict(_params(params, "", report))
    texts = tuple(f"{name}={value}" for name, (value, _) in given.items())
    return SiteFile(path, root, texts, {name: span for name, (_, span) in given.items()})


def _params(table: Item, scope: str, report: Report) -> Iterable[tuple[str, tuple[str, Span]]]:
    """Those of blocks stand in tables of their own, or have the block's name in front."""
    if not isinstance(table.value, dict):
        return  # told with the rest of the file
    for name, item in table.value.items():
        if isinstance(item.value, dict):
            yield from _params(item, f"{scope}{name}.", report)
        elif isinstance(item.value, (str, int, float)):
            value = str(item.value).lower() if isinstance(item.value, bool) else str(item.value)
            yield f"{scope}{name}", (value, item.span if item.name is None else item.name.to(item.span))
        else:
            why = "A param is written as after `--param`: numbers and `true` without quotes, all else in quotes."
            mend = 'Write for example `"10Mbps"`.'
            report.add("E1006", f"expected a value, found {describe(item)}", item.span, why=why, mend=mend)
            raise Rejected


def site_of(file: SiteFile, ports: Sequence[str], report: Report, architecture: str | None = None) -> Site:
    """The site for a spec with these logical ports; `architecture` goes before what the file says.

    Reports all that is wrong, and raises Rejected if anything is.
    """
    model = site_table(tuple(ports))
    try:
        read = model.model_validate(_plain(file.root), context=Around(architecture=architecture))
    except ValidationError as error:
        tell(error, model, file.root, report)
        raise Rejected from None
    site = replace(_site(file, read, len(ports), report), architecture=architecture or read.architecture)
    _check_twice(site, file.root, report)
    _check_ports(site, file.root, ports, read.switch.pipe, report)
    _check_rates(site, file.root, report)
    if report.errors:
        raise Rejected
    return _used(site)


def _used(site: Site) -> Site:
    """Without the machines that its architecture has no use for."""
    if named(site.architecture).least_servers:
        return site
    return replace(site, rdma_servers=(), idle=tuple(server.name for server in site.rdma_servers))


def _plain(item: Item) -> Any:
    """Without places."""
    if isinstance(item.value, dict):
        return {name: _plain(member) for name, member in item.value.items()}
    return [_plain(member) for member in item.value] if isinstance(item.value, list) else item.value


def _site(file: SiteFile, read: SiteTable, ports: int, report: Report) -> Site:
    chip, root = targets.switch(read.switch.model), file.root.value
    around = targets.server(host_of(chip))
    bound = getattr(read, "ports")  # noqa: B009, of the model that is made for the spec
    port_rate = read.switch.port_rate
    return Site(
        name=file.path,
        switch=chip,
        traffic=tuple(tuple(getattr(bound, f"port{n}")) for n in range(ports)),
        traffic_rate=read.switch.traffic_rate or port_rate or chip.traffic_rate_bps or chip.port_rate_bps,
        port_rate=port_rate or chip.port_rate_bps,
        mtu=read.switch.mtu,
        nf_servers=tuple(
            _nf(server, around, row.span) for server, row in zip(read.nf_servers, root["nf_servers"].value, strict=True)
        ),
        rdma_servers=tuple(
            _rdma(server, around, row.span)
            for server, row in zip(read.rdma_servers, _rows(root, "rdma_servers"), strict=True)
        ),
        hold=read.plan.hold,
        queue_pairs=read.plan.queue_pairs,
        whole=read.plan.whole,
        address=read.switch.address,
        control_port=read.switch.control_port,
        cpu_port_given=read.switch.cpu_port,
        cpu_interface=read.switch.cpu_interface,
        icrc=read.switch.icrc,
        nic_icrc=read.switch.nic_icrc,
        controller=_controller(read.controller),
        source=report.sources.get(file.path),
        span=root["switch"].span,
    )


def _rows(root: Mapping[str, Item], name: str) -> Sequence[Item]:
    """The tables of an array that may be left out."""
    found: Sequence[Item] = root[name].value if name in root else ()
    return found


def _controller(table: ControllerTable) -> Controller:
    values = dict(table)
    return Controller(**{**values, "back_off": BackOff(**dict(table.back_off))})


def _nf(table: NfTable, around: targets.Server, span: Span) -> NfServer:
    nic = targets.nic(table.model or around.name)
    server = NfServer(
        table.name,
        table.switch_port,
        nic,
        around.latency_ns if table.latency is None else table.latency,
        nic.largest_frame_bytes if table.mtu is None else min(nic.largest_frame_bytes, 14 + table.mtu),
        core=0 if table.cores is None else table.cores[0],
        mac=table.mac,
        address=table.address,
        control_port=table.control_port,
        device=table.nic,
        span=span,
    )
    return replace(server, largest_frame=min(server.largest_frame, DPDK_FRAME)) if server.dpdk else server


def _rdma(table: RdmaTable, around: targets.Server, span: Span) -> RdmaServer:
    return RdmaServer(
        table.name,
        table.switch_port,
        targets.nic(table.model or around.name),
        table.memory,
        spare=table.spare_bandwidth,
        ip=table.ip,
        numa=table.numa,
        link_rate=table.link_rate,
        huge_pages=table.nic != SOFT if table.huge_pages is None else table.huge_pages,
        interface=table.interface,
        mac=table.mac,
        address=table.address,
        control_port=table.control_port,
        device=table.nic,
        span=span,
    )


# ---------------------------------------------------------------- what must hold between tables


def _check_twice(site: Site, root: Item, report: Report) -> None:
    """E1301: machines that could not be told apart."""
    nf: list[tuple[Path, NfServer]] = [(("nf_servers", n), s) for n, s in enumerate(site.nf_servers)]
    rdma: list[tuple[Path, RdmaServer]] = [(("rdma_servers", n), s) for n, s in enumerate(site.rdma_servers)]
    every: list[tuple[Path, Machine]] = [*nf, *rdma]
    for path, server in every:
        if server.name in PARTS:
            why = f"Each deployment has parts named {listed(PARTS)}, with certificates of these names."
            message = f"a server cannot be named `{server.name}`"
            report.add("E1301", message, place(root, (*path, "name")), why=why, mend="Give it another name.")

    def distinct(what: str, field: str, values: Iterable[tuple[Path, Any, str]]) -> None:
        _distinct(what, [(value, shown, place(root, (*path, field))) for path, value, shown in values], report)

    distinct("name", "name", [(p, s.name, f"`{s.name}`") for p, s in every])
    distinct("MAC address", "mac", [(p, s.mac, s.mac.to_bytes(6, "big").hex(":")) for p, s in every if s.mac])
    distinct("IP address", "ip", [(p, s.ip, ".".join(map(str, s.ip.to_bytes(4, "big")))) for p, s in rdma if s.ip])
    managed: list[tuple[Path, str | None]] = [(("switch",), site.address), *((p, s.address) for p, s in every)]
    distinct("address", "address", [(p, address, address) for p, address in managed if address is not None])


def _distinct(what: str, values: Iterable[tuple[Any, str, Span]], report: Report) -> None:
    first: dict[Any, Span] = {}
    for value, shown, span in values:
        if value not in first:
            first[value] = span
            continue
        report.add(
            "E1301",
            f"two {'machines' if what == 'address' else 'servers'} have the {what} {shown}",
            span,
            also=[(first[value], "the first one")],
            why="The switch and the controller could not tell them apart.",
            mend=f"Give each a{'n' if what[0] in 'aiI' else ''} {what} of its own.",
        )


def _check_ports(site: Site, root: Item, ports: Sequence[str], pipe: int | None, report: Report) -> None:
    """E1302: a port for two things; E1304: registers are per pipe, so all ports must be in one (rule 11)."""
    used: dict[int, tuple[str, Span]] = {}
    home: tuple[int, str, Span] | None = None if pipe is None else (pipe, "", place(root, ("switch", "pipe")))
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
        for port, where in zip(ports, places, strict=True):
            yield port, f"`{name}`", where.span
    if site.cpu_port_given is not None:
        yield site.cpu_port_given, "the controller", place(root, ("switch", "cpu_port"))
    groups: list[tuple[str, Sequence[Machine]]] = [("nf_servers", site.nf_servers), ("rdma_servers", site.rdma_servers)]
    for part, servers in groups:
        for n, server in enumerate(servers):
            yield server.port, f"server `{server.name}`", place(root, (part, n, "switch_port"))


def _check_rates(site: Site, root: Item, report: Report) -> None:
    """E1310: a port that cannot be set up to run so fast."""
    speeds = site.switch.port_speeds_bps
    ports: list[tuple[str, int, Path, str]] = [("traffic ports", site.traffic_rate, ("switch",), "traffic_rate")]
    ports += [
        (f"the port of `{s.name}`", site.rate_to(s), ("nf_servers", n), "") for n, s in enumerate(site.nf_servers)
    ]
    ports += [
        (f"the port of `{s.name}`", site.rate_to(s), ("rdma_servers", n), "link_rate")
        for n, s in enumerate(site.rdma_servers)
    ]
    for what, found, table, member in ports:
        if 0 not in speeds and found not in speeds:
            known = ", ".join(map(rate, speeds))
            report.add(
                "E1310",
                f"{what} would run at {rate(found)}, which is no speed of a port of `{site.switch.name}`",
                place(root, (*table, member)) if member else place(root, table),
                why=f"The controller sets the speed of each port, and these ports have {known}.",
                mend="Give the ports one of these rates; a lower load is said with `traffic { rate … }` in the spec.",
            )
            return
