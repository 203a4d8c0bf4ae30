"""What a bundle needs of a site, and a plan does not: where the machines are and by which devices they are reached."""

from __future__ import annotations

from polysome.config.items import Rejected
from polysome.plan.site import Machine, RdmaServer, Site
from polysome.syntax.diagnostics import Report, listed
from polysome.syntax.spans import Span

_EXAMPLES = {
    "address": '"192.0.2.11"',
    "interface": '"eth1"',
    "cpu_interface": '"enp4s0f0"',
    "icrc": '"what the vendor calls it"',
    "nic_icrc": '"what the vendor calls it"',
}
_DEVICES = "A plan does without, but each machine's part is told where the others are, and which device is its own."
_SETTINGS = (
    "No P4 program can append the ICRC that memory servers ask for. `icrc` names the setting of the switch's ports "
    "that does, `nic_icrc` that of the servers' NICs to accept any; the controller proves both by `cpu_interface`."
)


def complete(site: Site, report: Report) -> None:
    """Reports E1309 for every table of the site file that lacks something; Rejected if one does."""
    if site.source is not None:
        report.sources.setdefault(site.source.name, site.source)
    before = report.count
    _table("`[switch]`", [] if site.address else ["address"], "", site.span, report)
    if not site.soft and site.rdma_servers:
        settings = {"cpu_interface": site.cpu_interface, "icrc": site.icrc, "nic_icrc": site.nic_icrc}
        lacks = [name for name, value in settings.items() if value is None]
        _table("`[switch]`", lacks, "", site.span, report, why=_SETTINGS)
    for server in site.machines:
        nic = '"mlx5_0"' if isinstance(server, RdmaServer) else '"0000:3b:00.0"'
        _table(f"server `{server.name}`", _lacks(server), nic, server.span, report)
    if report.count > before:
        raise Rejected


def _lacks(server: Machine) -> list[str]:
    needed = {"address": server.address, "nic": server.device}
    if isinstance(server, RdmaServer):
        needed["interface"] = server.interface
    return [name for name, value in needed.items() if value is None]


def _table(title: str, lacks: list[str], nic: str, span: Span | None, report: Report, why: str = _DEVICES) -> None:
    if not lacks:
        return
    example = {**_EXAMPLES, "nic": nic}[lacks[0]]
    report.add(
        "E1309",
        f"{title} has no {listed(lacks)}, which a bundle needs",
        span,
        why=why,
        mend=f"Add {'it' if len(lacks) == 1 else 'them'}, for example `{lacks[0]} = {example}`.",
    )
