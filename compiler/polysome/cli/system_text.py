"""The report of a run of the system, for people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from polysome.backends.system.report import Summary

Row = tuple[str, ...]


def lines(summary: Summary) -> Iterator[str]:
    """A table each of the links' frames, the NICs and the switch."""
    servers, pairs = summary.servers, summary.queue_pairs
    around = f"{servers} RDMA server{'s' * (servers != 1)}, {pairs} queue pair{'s' * (pairs != 1)}"
    yield f"system: {around}, seed {summary.seed}"
    yield from _table(("link", "frames", "number", "bytes", "each", "trouble"), _links(summary))
    yield from _table(("RDMA server", "counted", "number"), _servers(summary))
    yield from _table(("switch", "number"), [(_words(name), f"{n:,}") for name, n in summary.events.items()])
    rows = [
        ("packets overtaken", f"{summary.overtakings:,}"),
        ("queue pairs taken down", f"{summary.counters['queue pairs taken down']:,}"),
        ("queue pairs restored", f"{summary.restores:,}"),
    ]
    yield from _table(("", "number"), rows)


def _links(summary: Summary) -> Iterator[Row]:
    for link in summary.links():
        name, _, way = link.partition(" ")
        shown = f"{name}, {'from the switch' if way == 'out' else 'to it'}"
        trouble = _trouble(summary.troubles(link))
        for frames in summary.frames(link):
            yield shown, frames.kind, f"{frames.frames:,}", f"{frames.bytes:,}", f"{frames.each:.1f} B", trouble
            shown = trouble = ""


def _trouble(found: Mapping[str, int]) -> str:
    return ", ".join(f"{n:,} {what}" for what, n in found.items())


def _servers(summary: Summary) -> Iterator[Row]:
    for number in range(summary.servers):
        shown = f"server{number}"
        for name, n in summary.server(number).items():
            yield shown, name, f"{n:,}"
            shown = ""


def _words(name: str) -> str:
    return name.replace("_", " ")


def _table(head: Row, body: Iterator[Row] | Sequence[Row]) -> Iterator[str]:
    """Columns as wide as they must be: numbers to the right, words to the left."""
    rows = [head, *body]
    if len(rows) == 1:
        return
    widths = [max(len(row[i]) for row in rows) for i in range(len(head))]
    right = [all(row[i][:1].isdigit() or not row[i] for row in rows[1:]) and i > 0 for i in range(len(head))]
    yield ""
    for row in rows:
        cells = [cell.rjust(w) if r else cell.ljust(w) for cell, w, r in zip(row, widths, right, strict=True)]
        yield ("  " + "  ".join(cells)).rstrip()
