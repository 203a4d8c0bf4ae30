"""The values of report.html: what was planned, as tables and bars."""

from __future__ import annotations

from typing import Any

from polysome.backends.bundle.inputs import Inputs
from polysome.backends.bundle.parts import parts_of
from polysome.plan.groups import sizes, traffic_rows
from polysome.plan.model import Link


def report_values(inputs: Inputs) -> dict[str, Any]:
    """What the template needs beside what all templates know."""
    design = inputs.design
    plan, own = design.plan, parts_of(design.plan.architecture)
    split = [f for f in dict.fromkeys(plan.frames) if f.number is not None]
    whole = [f for f in dict.fromkeys(plan.frames) if f.number is None]
    return {
        "doc": design.program.doc.strip().split("\n")[0],
        "plan": plan,
        "split": split,
        "whole": whole,
        "bound": list(zip(design.program.ports, design.site.traffic, strict=True)),
        "relevant": inputs.about["relevant"],
        "written": inputs.about["written"],
        "params": inputs.about["params"],
        "config": {name: len(rows) for name, rows in inputs.rows.items()},
        "sizes": sizes(plan),
        "shared": traffic_rows(plan),
        "servers": [
            ("cores in use", plan.cores),
            ("longest frame to the NF", plan.nf_link),
            ("longest frame that leaves", plan.out_frame),
            *([("whole packets that find no queue pair", plan.whole_rate)] if plan.whole_rate is not None else []),
        ],
        "cards": list(own.cards(design)),
        "links": [_bar(link) for link in plan.links],
        "site": design.site,
        "rows": list(own.rows(design)),
    }


def _bar(link: Link) -> dict[str, Any]:
    """`width`: of the bar, percent; `level`: how close to the limit."""
    share = link.share
    level = "full" if share > 1000 else "high" if share > 800 else "fine"
    return {
        "name": link.name,
        "direction": link.direction,
        "load": link.load,
        "capacity": link.capacity,
        "share": f"{share // 10}.{share % 10}",
        "width": min(share, 1000) / 10,
        "level": level,
    }
