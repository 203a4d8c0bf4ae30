"""The end of `polysome compile --site`: a bundle on a dozen lines."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from polysome.backends.bundle.inputs import Inputs
from polysome.plan.model import Link, Plan

MOST = 4  # servers of a kind on lines of their own

Row = tuple[str, str, str]


def summary(inputs: Inputs, out: Path, files: int) -> str:
    """Machines, sizes, load of the links, and what to do next."""
    design = inputs.design
    rows = [_switch(inputs), *_few(_rdma(inputs)), *_few(_nf(inputs))]
    first, second = (max(len(row[n]) for row in rows) for n in (0, 1))
    lines = [
        f"wrote {files} files to {out}: {design.program.name} on {design.site.switch.name}",
        *(f"  {name.ljust(first)}  {address.ljust(second)}  {what}" for name, address, what in rows),
        *_planned(design.plan),
        "next:",
        *_columns(
            (f"polysome up {out}", "all of it on this machine, as root"),
            (f"{out}/install.sh", "on machines of their own: what they lack, and how to install"),
            (f"{out}/report.html", "every number with its formula"),
        ),
    ]
    return "\n".join(lines) + "\n"


def _switch(inputs: Inputs) -> Row:
    design = inputs.design
    store = design.plan.store
    if store is None:
        return "switch", str(design.site.address), f"{len(design.program.ports)} ports; all packets go whole to the NF"
    ways = f"{len(design.ways)} way{'' if len(design.ways) == 1 else 's'} of headers"
    return "switch", str(design.site.address), f"{ways} split, {store.in_short}"


def _rdma(inputs: Inputs) -> list[Row]:
    plan = inputs.design.plan
    lending = plan.store.machines if plan.store is not None else ()
    rows = []
    for server in inputs.design.site.rdma_servers:
        what = "lends nothing: no packet is parked"
        if plan.store is not None and server.name in lending:
            what = f"lends {plan.store.lent(server.name)}; {_load(plan, server.name)}"
        rows.append((server.name, str(server.address), what))
    return rows


def _nf(inputs: Inputs) -> list[Row]:
    plan = inputs.design.plan
    rows = []
    for server in inputs.design.site.nf_servers:
        load = "stands by" if server.name in plan.standby else f"1 core; {_load(plan, server.name)}"
        rows.append((server.name, str(server.address), load))
    return rows


def _load(plan: Plan, server: str) -> str:
    """Of its link, in the direction that is nearest to its limit."""
    found: list[Link] = [link for link in plan.links if link.server == server]
    link = max(found, key=lambda link: link.share)
    what = {"to": "to it", "from": "from it"}.get(link.direction, link.direction)
    return f"{link.load.text} {what}, {link.share // 10}.{link.share % 10}% of {link.capacity.text}"


def _few(rows: Sequence[Row]) -> list[Row]:
    """All, or the first ones and how many more there are."""
    if len(rows) <= MOST:
        return list(rows)
    return [*rows[: MOST - 1], ("…", "", f"and {len(rows) - MOST + 1} more")]


def _planned(plan: Plan) -> Iterable[str]:
    load = plan.traffic
    yield f"planned for {load.rate.text}, {load.packets.text} of {load.mean.text} B"
    store = plan.store
    if store is not None and plan.mix.whole.value:
        yield f"{plan.mix.whole.text} go whole to the NF, at worst"
    if store is not None:
        to_nf, back = (max(getattr(f, name) for f in plan.split) for name in ("to_nf", "from_nf"))
        fields, edits = (max(getattr(f, name) for f in plan.split) for name in ("fields", "edits"))
        yield (
            f"packets of {store.threshold.value + 1} to {store.longest.value} B are split: {fields} B of fields in "
            f"frames of {to_nf} B, {edits} B of edits in {back} B"
        )


def _columns(*rows: tuple[str, str]) -> Iterable[str]:
    first = max(len(name) for name, _ in rows)
    return (f"  {name.ljust(first)}  {what}" for name, what in rows)
