"""What a controller says of its deployment, for a terminal: lines, and tables of rich."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from rich import box
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

WELL = {"up", "standby", "drained"}  # states of a part with which nothing is wrong
COLOURS = {"up": "green", "standby": "green", "drained": "yellow", "joining": "yellow"} | dict.fromkeys(
    ("down", "refused", "failing"), "red"
)
SEVERE = {"warning": "yellow", "error": "red"}


def healthy(status: Any) -> bool:
    """Is every part and every queue pair as it should be?"""
    return all(part.state in WELL for part in status.parts) and all(pair.state == "up" for pair in status.queue_pairs)


def short(value: float) -> str:
    """Three digits and a prefix: 12.3k."""
    for unit in ("", "k", "M", "G"):
        if abs(value) < 999.5:
            return f"{value:.0f}" if unit == "" else f"{value:.3g}{unit}"
        value /= 1000
    return f"{value:.3g}T"


def clock(nanoseconds: int) -> str:
    return datetime.fromtimestamp(nanoseconds / 1e9).strftime("%H:%M:%S")


def duration(nanoseconds: int) -> str:
    seconds = nanoseconds // 1_000_000_000
    if seconds < 120:
        return f"{seconds} s"
    return f"{seconds // 60} min" if seconds < 7200 else f"{seconds // 3600} h"


# ---------------------------------------------------------------- lines


def line(status: Any) -> str:
    """One line: what a log wants to know."""
    well = sum(part.state in WELL for part in status.parts)
    pairs = sum(pair.state == "up" for pair in status.queue_pairs)
    arrived = ", ".join(f"{link.name} {short(link.in_rate)}/{short(link.out_rate)}" for link in status.links)
    lost = sum(drop.value for drop in status.drops)
    return (
        f"parts {well}/{len(status.parts)} up, active {status.active or 'none'}, queue pairs {pairs}/"
        f"{len(status.queue_pairs)} up; packets/s in/out: {arrived or 'no links'}; drops {short(lost)}"
    )


def text_of(status: Any, where: str) -> str:
    """`polysome status`."""
    console = Console(width=110, no_color=True, highlight=False)
    with console.capture() as capture:
        console.print(_head(status, where))
        console.print(Group(*_blocks(status)))
    return "\n".join(row.rstrip() for row in capture.get().splitlines()) + "\n"


def view(status: Any, where: str, notes: Sequence[str] = ()) -> RenderableType:
    """The whole picture; `notes`: what the one who shows it knows besides, the latest last."""
    return Group(_head(status, where), *_blocks(status), *(Text(note) for note in notes))


def _head(status: Any, where: str) -> Text:
    state = ("healthy", "green") if healthy(status) else ("not healthy", "red")
    about = f"; active NF server {status.active or 'none'}; config {status.version[:12] or 'none'}; "
    return Text.assemble(f"{status.nf} at {where}: ", state, about, f"controller up {duration(status.uptime)}")


def _blocks(status: Any) -> list[RenderableType]:
    blocks: list[RenderableType] = [_parts(status.parts), _links(status.links)]
    if status.servers:
        blocks.append(_servers(status))
    if status.probes:
        blocks.append(_probes(status.probes))
    if status.drops:
        blocks.append(_counters("drops", status.drops))
    if any(event.value for event in status.events):
        blocks.append(_counters("switch events", status.events))
    if any(certificate.trouble for certificate in status.certificates):
        blocks.append(_certificates(status.certificates))
    blocks += [Text(""), *_happened(status.happened)]
    return blocks


# ---------------------------------------------------------------- tables


def _table(*columns: str, right: Iterable[str] = ()) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for column in columns:
        table.add_column(column, justify="right" if column in right else "left")
    return table


def _parts(parts: Sequence[Any]) -> Table:
    table = _table("part", "role", "state", "since", "why")
    for part in parts:
        state = Text(part.state, COLOURS.get(part.state, ""))
        table.add_row(part.name, part.role, state, clock(part.since) if part.since else "", part.detail)
    return table


def _links(links: Sequence[Any]) -> Table:
    numbers = ("packets/s in", "out", "bit/s in", "out ", "packets in", "out  ", "lost")
    table = _table("link", "port", "state", *numbers, right=("port", *numbers))
    for link in links:
        state = Text("up", "green") if link.up else Text("down", "red")
        rates = (link.in_rate, link.out_rate, link.in_bps, link.out_bps)
        totals = (link.frames_in, link.frames_out, link.dropped)
        table.add_row(link.name, str(link.port), state, *map(short, rates), *map(short, totals))
    return table


def _servers(status: Any) -> Table:
    numbers = ("buckets", "own", "payload bit/s", "own bit/s", "allowed bit/s", "queue pairs up", "restores")
    table = _table("server", *numbers, right=numbers)
    for server in status.servers:
        pairs = [pair for pair in status.queue_pairs if pair.server == server.name]
        up = f"{sum(pair.state == 'up' for pair in pairs)}/{len(pairs)}"
        loads = map(short, (server.payload, server.own, server.allowed))
        restores = str(sum(pair.restores for pair in pairs))
        table.add_row(server.name, str(server.buckets), str(server.own_buckets), *loads, up, restores)
    return table


def _probes(probes: Sequence[Any]) -> Table:
    """What goes through each NF server once a second, by all queue pairs."""
    numbers = ("queue pairs", "sent", "back", "slowest of the last")
    table = _table("probes through", *numbers, right=numbers)
    for nf in dict.fromkeys(count.nf for count in probes):
        own = [count for count in probes if count.nf == nf]
        sent, back = sum(count.sent for count in own), sum(count.back for count in own)
        table.add_row(nf, str(len(own)), str(sent), str(back), f"{max(count.took for count in own) / 1e6:.3g} ms")
    return table


def _counters(head: str, counters: Sequence[Any]) -> Table:
    table = _table(head, "count", right=("count",))
    for counter in sorted(counters, key=lambda counter: -counter.value):
        if counter.value:
            table.add_row(counter.name, short(counter.value))
    return table


def _certificates(certificates: Sequence[Any]) -> Table:
    """Those of which something must be known."""
    table = _table("certificate", "serial", "what is wrong")
    for one in certificates:
        if one.trouble:
            table.add_row(one.name, one.serial[-16:], Text(one.trouble, "yellow"))
    return table


def _happened(events: Sequence[Any]) -> list[Text]:
    return [
        Text.assemble(f"{clock(event.time)} ", (event.severity, SEVERE.get(event.severity, "")), f" {event.part}: ")
        + Text(event.text)
        for event in events[-8:]
    ]
