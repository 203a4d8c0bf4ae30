"""What `polysome check --cost` found out, as text for a terminal of 100 columns."""

from __future__ import annotations

import textwrap
from collections import Counter
from itertools import groupby
from typing import Any

Data = dict[str, Any]
WIDTH = 100
_CYCLES = ("parse", "keys", "decide", "apply", "rest", "all")
_COLUMN = 7  # of a number
_LABEL = WIDTH - (len(_CYCLES) + 2) * _COLUMN

_NOTES = """\
cycles: {model}, a packet's share when {together} of its path come in a row. The instructions are those that the \
built code (clang++ -O3 -march=native) executes for one packet. They serve to compare paths: another processor takes \
other times. keys: keys and hashes of lookups, and prefetches; rest: clock, counters, schedule.
lines: distinct cache lines (64 B) of state and config that the handler touches; ahead: those of them that a batch \
fetches before the handler runs. Lines that all packets share are counted too, but for what keys are read from.
not modelled: cache misses (that is what lines are for), mispredicted branches, waiting for instructions or for what \
another packet stored, entries that expire, receiving and sending. Config tables had a few rows."""


def text_of(cost: Data) -> str:
    """The paths by handler, each with its cycles and lines; then what the numbers mean."""
    groups = groupby(cost["paths"], lambda path: (path["handler"], path["file"], path["line"]))
    blocks = ["\n".join(_handler(name, line, list(paths))) for (name, _, line), paths in groups]
    if not blocks:
        blocks.append("cost: no generated packet took a path through a handler")
    if cost["missed"]:
        missed = ", ".join(dict.fromkeys(one["outcome"] for one in cost["missed"]))
        blocks.append(_wrapped(f"on no path, since no generated packet went there: {missed}"))
    model = f"by llvm-mca {cost['processor']['llvm']} for {cost['processor']['model']}"
    if not cost["processor"]["own"]:
        model += ", since it does not know this processor"
    notes = _NOTES.format(model=model, together=cost["together"]).split("\n")
    return "\n\n".join([*blocks, "\n".join(_wrapped(note) for note in notes)]) + "\n"


def _handler(name: str, line: int, paths: list[Data]) -> list[str]:
    seen: Counter[tuple[str, ...]] = Counter()
    for path in paths:
        seen[tuple(path["headers"])] += path["packets"]
    usual = list(seen.most_common(1)[0][0])
    columns = "".join(f"{column:>{_COLUMN}}" for column in (*_CYCLES, "lines", "ahead"))
    title, *more = textwrap.wrap(f"cost {name} (line {line})", _LABEL, subsequent_indent="  ")
    lines = [f"{title:<{_LABEL}}{columns}", *more, f"  for {_headers(usual)}, if nothing else is said"]
    for path in paths:
        lines += _path(path, usual)
    return lines


def _path(path: Data, usual: list[str]) -> list[str]:
    first, *more = textwrap.wrap(path["label"], _LABEL - 3, break_on_hyphens=False)
    numbers = [*(round(path["cycles"][column]) for column in _CYCLES), path["lines"]["state"], path["lines"]["ahead"]]
    lines = [
        f"  {first:<{_LABEL - 2}}" + "".join(f"{n:>{_COLUMN}}" for n in numbers),
        *(f"    {rest}" for rest in more),
    ]
    about = []
    if path["headers"] != usual:
        about.append(f"for {_headers(path['headers'])}")
    if path["small"]:
        about.append("with room for a few entries")
    if path["in_libraries"]:
        about.append(f"{path['in_libraries']} instructions in libraries, such as allocations")
    if path["unknown"]:
        about.append(f"without {path['unknown']} instructions that the model does not have")
    if places := _places(path):
        about.append(f"lines not ahead: {places}")
    return [*lines, *textwrap.wrap("; ".join(about), WIDTH, initial_indent="    ", subsequent_indent="      ")]


def _headers(names: list[str]) -> str:
    return "/".join(names) or "no header"


def _places(path: Data) -> str:
    """`15 in line 86, 6 in line 87, 1 elsewhere`: what the handler waits for, by line of the spec."""
    counts: Counter[str] = Counter()
    for place in path["lines"]["places"]:
        own = place["file"] == path["file"].rsplit("/", 1)[-1]
        where = f"in line {place['line']}" if own else f"in {place['file']}:{place['line']}"
        where = where if place["file"] else "elsewhere"
        counts[where] += place["lines"] - place["ahead"]
    return ", ".join(f"{count} {where}" for where, count in counts.items() if count)


def _wrapped(text: str) -> str:
    return "\n".join(textwrap.wrap(text, WIDTH, subsequent_indent="  ", break_on_hyphens=False))
