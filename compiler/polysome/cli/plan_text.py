"""A plan as text for a terminal of 100 columns: every number with its formula."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence

from polysome.cli.findings_text import WIDTH, table
from polysome.plan.groups import sizes, traffic_rows
from polysome.plan.model import Frames, Link, Plan
from polysome.plan.numbers import Number

Row = tuple[str, Number]
MOST_WHOLE = 12  # kinds of packets that go whole; more would push the rest off the screen


def text_of(plan: Plan) -> str:
    """The plan, section by section."""
    head = f"{plan.nf} on {plan.site}, architecture {plan.architecture}" + (
        ", all headers carried" if plan.carry == "headers" else ""
    )
    blocks = [
        [head],
        _traffic(plan),
        _frames(plan),
        _asked(plan),
        _whole(plan),
        _sizes(plan),
        _servers(plan),
        _links(plan),
        _notes(plan),
    ]
    return "\n\n".join("\n".join(block) for block in blocks if block) + "\n"


def _numbers(head: str, rows: Sequence[Row]) -> list[str]:
    """Name, value, and the formula wrapped beside it, with the places that its inputs come from."""
    first = max(len(name) for name, _ in rows)
    second = max(len(_value(n)) for _, n in rows)
    lines = [head]
    for name, number in rows:
        lead = f"  {name.ljust(first)}  {_value(number).rjust(second)}  "
        sources = f" ({', '.join(number.sources)})" if number.sources else ""
        lines += textwrap.wrap(
            lead + number.formula + sources, WIDTH, subsequent_indent=" " * len(lead), break_on_hyphens=False
        )
    return lines


def _value(number: Number) -> str:
    return f"{number.text} B" if number.unit == "B" else number.text


# ---------------------------------------------------------------- packets


def _traffic(plan: Plan) -> list[str]:
    return _numbers("planned for", traffic_rows(plan))


def _frames(plan: Plan) -> list[str]:
    rows = []
    for f in _alike(plan.split):
        mirrored = f"{f.mirror_length} B mirrored"
        frames = f"{f.to_nf} + {f.from_nf} B"
        rows.append([f.headers, str(f.number), f"{f.fields} B", f"{f.edits} B", frames, mirrored])
    return table(["packets that are split", "class", "fields", "edits", "NF link", ""], rows, (1, 2, 3))


def _asked(plan: Plan) -> list[str]:
    """What is asked of packets, and of which if not of all that have the field."""
    ways = _alike(plan.split)
    asked = {a: [f.headers for f in ways if a in f.asked] for f in ways for a in f.asked}
    if not asked:
        return []
    first = max(len(a.what) for a in asked)
    lines = ["they are split only if"]
    for a, of in sorted(asked.items(), key=lambda item: item[0].what):
        other = any(b.what.split()[0] == a.what.split()[0] for b in asked if b != a)
        lead, only = f"  {a.what.ljust(first)}  ", f" ({', '.join(of)})" if other else ""
        lines += textwrap.wrap(lead + a.why + only, WIDTH, subsequent_indent=" " * len(lead), break_on_hyphens=False)
    return lines


def _alike(frames: Iterable[Frames]) -> list[Frames]:
    return list(dict.fromkeys(frames))


def _whole(plan: Plan) -> list[str]:
    """By the reason; the packets below it."""
    frames = _alike(f for f in plan.frames if f.number is None)
    same: dict[str, list[str]] = {}
    for f in frames[:MOST_WHOLE]:
        same.setdefault(f"{f.why}, {f.place}" if f.place else f.why, []).append(f.headers)
    lines = []
    for why, headers in same.items():
        lines += textwrap.wrap(f"  {why}:", WIDTH, subsequent_indent="  ", break_on_hyphens=False)
        for one in headers:
            lines += textwrap.wrap(f"    {one}", WIDTH, subsequent_indent="      ", break_on_hyphens=False)
    more = len(frames) - MOST_WHOLE
    lines += [f"  and {more} more (all with --json)"] if more > 0 else []
    return ["packets that go whole", *lines] if lines else []


# ---------------------------------------------------------------- numbers


def _sizes(plan: Plan) -> list[str]:
    shown = ["\n".join(_numbers(title, rows)) for title, rows in sizes(plan)]
    return "\n\n".join(shown).split("\n")


def _servers(plan: Plan) -> list[str]:
    by = f"; {', '.join(plan.standby)} {'stands' if len(plan.standby) == 1 else 'stand'} by" if plan.standby else ""
    rows = [("cores in use", plan.cores), ("longest frame", plan.nf_link)]
    rows += [("whole fallback", plan.whole_rate)] if plan.whole_rate is not None else []
    leaves = _numbers("traffic ports", [("longest frame", plan.out_frame)])
    return [*_numbers(f"NF server {plan.nf_server}{by}", rows), "", *leaves]


def _links(plan: Plan) -> list[str]:
    """Links with equal loads once."""
    same: dict[tuple[str, int, int], list[Link]] = {}
    for link in plan.links:
        same.setdefault((link.direction, link.load.value, link.capacity.value), []).append(link)
    lines = ["predicted load"]
    rows = [(_name(links), links[0]) for links in same.values()]
    first = max(len(name) for name, _ in rows)
    second = max(len(link.load.text) for _, link in rows)
    third = max(len(link.capacity.text) for _, link in rows)
    for name, link in rows:
        share = f"{link.share // 10}.{link.share % 10}%"
        lead = f"  {name.ljust(first)}  {link.load.text.rjust(second)} of {link.capacity.text.rjust(third)}"
        lines.append(f"{lead}  {share.rjust(6)}")
        lines += textwrap.wrap(f"    {link.load.formula}", WIDTH, subsequent_indent="    ", break_on_hyphens=False)
    return lines


def _name(links: Sequence[Link]) -> str:
    """`RDMA servers memory0 to memory2, goodput`."""
    names = list(dict.fromkeys(link.name for link in links))
    if len(names) == 1:
        return f"{names[0]}, {links[0].direction}"
    kind = names[0].rpartition(" ")[0]
    alike = [n.removeprefix(kind).strip() for n in names]
    return f"{kind}s {alike[0]} to {alike[-1]}, {links[0].direction}"


def _notes(plan: Plan) -> list[str]:
    lines = [textwrap.wrap(f"note: {note}", WIDTH, subsequent_indent="  ") for note in plan.notes]
    return [line for wrapped in lines for line in wrapped]
