"""What `polysome prove` prints: a table of what is proved, and the story of each packet that breaks something."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from polysome.captures.errors import CaptureError
from polysome.captures.write import PcapngWriter
from polysome.engines import ENGINES
from polysome.engines.options import RunOptions, Unsupported
from polysome.engines.record import Fate
from polysome.engines.trace import Arrival, Trace
from polysome.plan.design import Design
from polysome.prove.obligations import OBLIGATIONS, Obligation
from polysome.prove.result import Result, Status
from polysome.testing.spec import Spec
from polysome.testing.traffic.choices import Choices
from polysome.testing.traffic.values import EPOCH
from polysome.testing.traffic.world import World

MOST_STORIES = 3  # of an obligation; the rest breaks mostly for the same reason


def not_proved(found: Sequence[Result]) -> list[Result]:
    return [r for r in found if r.status != Status.proved]


def table(design: Design, found: Sequence[Result], seconds: float) -> str:
    """A line for each obligation."""
    ways = f"{len(design.ways)} way{'' if len(design.ways) == 1 else 's'} of headers"
    lines = [f"{design.program.name} on {design.site.name}, architecture {design.plan.architecture}, {ways} split"]
    first, second = max(len(o.promise) for o in OBLIGATIONS), max(len(o.about) for o in OBLIGATIONS)
    for obligation in OBLIGATIONS:
        of = [r for r in found if r.obligation == obligation.name]
        lines.append(
            f"  {obligation.name.ljust(8)}  {obligation.promise.ljust(first)}  "
            f"{len(of):6,} {obligation.about.ljust(second)}  {_said(of)}"
        )
    failed = not_proved(found)
    worst = "" if not failed else "NOT " if any(r.status == Status.refuted for r in failed) else "not (yet) "
    lines.append(f"{worst}proved, in {seconds:.1f} s")
    return "\n".join(lines) + "\n"


def _said(of: Sequence[Result]) -> str:
    counts = {status: sum(r.status == status for r in of) for status in Status}
    if counts[Status.refuted]:
        return f"BROKEN by {counts[Status.refuted]:,}"
    if counts[Status.undecided]:
        return f"{counts[Status.undecided]:,} undecided"
    return "proved" if of else "nothing to prove"


def as_json(design: Design, found: Sequence[Result], seconds: float) -> dict[str, Any]:
    """Every result; packets in hexadecimal."""
    return {
        "nf": design.program.name,
        "site": design.site.name,
        "proved": not not_proved(found),
        "seconds": round(seconds, 3),
        "results": [
            {
                "obligation": r.obligation,
                "subject": r.subject,
                "status": r.status.value,
                "why": r.why,
                "packet": None if r.packet is None else r.packet.hex(),
                "port": design.program.ports[r.port] if r.packet is not None else None,
            }
            for r in found
        ],
    }


@contextmanager
def progress(design: Design, quiet: bool) -> Iterator[Callable[[Result], Result]]:
    """On a terminal, what is being proved."""
    if quiet or not sys.stderr.isatty():
        yield lambda result: result
        return
    from rich.console import Console

    with Console(stderr=True).status(f"proving {design.program.name}") as status:

        def seen(result: Result) -> Result:
            status.update(f"proving {design.program.name}: {result.obligation}, {result.subject[-60:]}")
            return result

        yield seen


# ---------------------------------------------------------------- what breaks


def stories(spec: Spec, failed: Sequence[Result], out: Path) -> str:
    """What is wrong, with a packet: a capture of it, and what every engine does with it."""
    lines: list[str] = []
    for obligation in OBLIGATIONS:
        of = [r for r in failed if r.obligation == obligation.name]
        for n, result in enumerate(of[:MOST_STORIES], 1):
            lines += [
                "",
                *_story(spec, obligation, result, out / f"{spec.program.name}_{obligation.name}_{n}.pcapng"),
            ]
        if len(of) > MOST_STORIES:
            lines += ["", f"and {len(of) - MOST_STORIES:,} more of {obligation.name} (all with --json)"]
    return "\n".join(lines) + "\n"


def _story(spec: Spec, obligation: Obligation, result: Result, place: Path) -> list[str]:
    lines = [f"{obligation.name}: {obligation.promise}: {result.status.value.upper()}", f"  {result.subject}"]
    lines.append(f"  {result.why}")
    if result.packet is None:
        return lines
    port = spec.program.ports[result.port]
    lines.append(f"  packet of {len(result.packet)} bytes at {port}: {result.packet.hex()}")
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        with PcapngWriter(place, spec.program.ports) as file:
            file.write(result.port, EPOCH, result.packet)
        lines.append(f"  written to {place}")
    except (OSError, CaptureError) as error:
        lines.append(f"  {place} cannot be written: {error}")
    for name, engine in ENGINES.items():
        lines.append(f"  {name.ljust(6)}  {_replayed(spec, name, engine, result)}")
    return lines


def _replayed(spec: Spec, name: str, engine: Any, result: Result) -> str:
    assert result.packet is not None
    lacking = engine.missing()
    if lacking is not None:
        return f"not run: {lacking}"
    try:
        config = World(spec.program, Choices(b""), spec.config).config
        trace = Trace(config, (Arrival(result.port, EPOCH, result.packet),))
        record = engine.run(spec.program, trace, RunOptions())
        return f"stopped: {record.crash}" if record.crash is not None else _fate(spec, record.fates[0])
    except Unsupported as error:
        return f"not run: {error}"


def _fate(spec: Spec, fate: Fate) -> str:
    if fate.dropped:
        return f"dropped: {fate.reason}"
    if not fate.sent:
        return "lost or held"
    return "; ".join(f"sent to {spec.program.ports[copy.port]}: {copy.data.hex()}" for copy in fate.copies)
