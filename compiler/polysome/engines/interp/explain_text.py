"""An explanation as lines of text, and as JSON."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Any

from polysome.analysis.summary import summary
from polysome.analysis.values_text import duration
from polysome.engines.interp.explain import Explanation, Step
from polysome.ir import program as ir

WIDTH = 100
GLUE = "\u00a0"  # a blank at which lines are not broken
_INDENT = "    "


def glued(said: str) -> str:
    """With `name = value` on one line, if it is wrapped; afterwards `GLUE` is to become a blank."""
    return said.replace(" = ", f"{GLUE}={GLUE}")


def step_lines(steps: Sequence[Step], width: int = WIDTH) -> list[str]:
    """`nat.nf:47  require …`, and below it what the statement saw and did."""
    places = max((len(s.place) for s in steps), default=0)
    lines = []
    for step in steps:
        lines += textwrap.wrap(
            f"{step.place:<{places}}  {step.source}",
            width,
            break_long_words=False,
            subsequent_indent=" " * (places + 4),
        )
        indent = " " * (places + 2) + "-> "
        said = "; ".join(glued(value) for value in step.values)
        below = " " * (places + 5)
        lines += textwrap.wrap(said, width, break_long_words=False, initial_indent=indent, subsequent_indent=below)
    return [line.replace(GLUE, " ") for line in lines]


def lines(program: ir.Program, found: Explanation, start: int) -> list[str]:
    """The whole explanation; `start`: when the first packet of the trace came."""
    since = "start" if found.at == start else f"+{duration(found.at - start)}"
    head = f"packet {found.number + 1}  {since}  {program.ports[found.port]}  {summary(found.data)}"
    steps = step_lines(found.steps) or ["(no statement runs: the packet lacks what the NF demands)"]
    every = [
        *textwrap.wrap(head, WIDTH, subsequent_indent=_INDENT),
        *textwrap.wrap(f"headers: {' / '.join(found.path) or 'none'}", WIDTH, subsequent_indent=_INDENT),
        "",
        *steps,
        "",
        *textwrap.wrap(glued(_verdict(program, found)), WIDTH, subsequent_indent=_INDENT, break_long_words=False),
        "(packets count from 1, as in packet analysers; `number` in a property counts from 0)",
    ]
    return [line.replace(GLUE, " ") for line in every]


def as_json(program: ir.Program, found: Explanation) -> dict[str, Any]:
    """The same for programs; `packet` counts from 1."""
    dropped = isinstance(found.verdict, str)
    return {
        "packet": found.number + 1,
        "port": program.ports[found.port],
        "time": found.at,
        "summary": summary(found.data),
        "data": found.data.hex(),
        "headers": list(found.path),
        "steps": [{"place": s.place, "source": s.source, "values": list(s.values)} for s in found.steps],
        "dropped": found.verdict if dropped else None,
        "ports": [] if dropped else [program.ports[port] for port in ports_of(found.verdict)],
        "changes": list(found.changes),
        "leaves": None if found.leaves is None else found.leaves.hex(),
    }


def ports_of(verdict: int | frozenset[int] | str) -> list[int]:
    match verdict:
        case str():
            return []
        case int():
            return [verdict]
        case _:
            return sorted(verdict)


def _verdict(program: ir.Program, found: Explanation) -> str:
    if isinstance(found.verdict, str):
        return f"dropped: {found.verdict}"
    ports = ", ".join(program.ports[port] for port in ports_of(found.verdict))
    if found.leaves is None or found.leaves == found.data:
        return f"sent to {ports}, unchanged"
    changes = ", ".join(found.changes) or "bytes that no header has"
    return f"sent to {ports} as {summary(found.leaves)}; changed: {changes}"
