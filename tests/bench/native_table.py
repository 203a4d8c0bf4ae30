"""The table that the native bench prints: Markdown, a line per row, and what is said below it."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from typing import Any

Row = Mapping[str, Any]

SPEEDS = ("generated", "fields", "equal", "approximate", "limit", "source")
RATIOS = (("generated", "equal"), ("fields", "generated"), ("generated", "limit"))
SLOW = ("generated", "fields", "equal")  # columns whose slowest batches are shown, and instructions
BESIDE = (("generated", "fastclick"), ("fields", "fastclick"))


def header(fastclick: bool) -> str:
    """The table's two lines above the first row."""
    speeds = [*SPEEDS, *(["fastclick"] if fastclick else [])]
    ratios = [f"{above} / {below}" for above, below in (*RATIOS, *(BESIDE if fastclick else ()))]
    names = ["nf", "flows", "traffic", *speeds, *ratios, "p99 cycles", "instructions", "bytes per flow"]
    return f"| {' | '.join(names)} |\n|{'---|' * 3}{'---:|' * (len(names) - 3)}"


def speed(row: Row, column: str) -> str:
    """Mpps, and half of what lies between the lowest and the highest of the repetitions."""
    if f"{column}_mpps" not in row:
        return "–"
    text = f"{row[f'{column}_mpps']:.2f}"
    if f"{column}_mpps_spread" in row:
        low, high = row[f"{column}_mpps_spread"]
        text += f" ±{(high - low) / 2:.2f}"
    return text


def ratio(row: Row, above: str, below: str) -> str:
    found = quotient(row, above, below)
    return "–" if found is None else f"{found:.2f}"


def quotient(row: Row, above: str, below: str) -> float | None:
    above_mpps, below_mpps = row.get(f"{above}_mpps"), row.get(f"{below}_mpps")
    return above_mpps / below_mpps if above_mpps and below_mpps else None


def listed(row: Row, columns: Sequence[str], member: str) -> str:
    found = [f"{row[f'{c}_{member}']:.0f}" if f"{c}_{member}" in row else "–" for c in columns]
    return "–" if set(found) == {"–"} else ", ".join(found)


def shown(row: Row, fastclick: bool) -> str:
    """A line of the table; what was not measured is a dash."""
    cells = [str(row["nf"]), f"{row['flows']:,}".replace(",", " "), str(row["traffic"])]
    cells += [speed(row, column) for column in (*SPEEDS, *(["fastclick"] if fastclick else []))]
    cells += [ratio(row, *names) for names in (*RATIOS, *(BESIDE if fastclick else ()))]
    cells.append(listed(row, SLOW, "p99"))
    cells.append(listed(row, SLOW, "instructions"))
    cells.append(listed(row, ("generated", "equal"), "resident_per_flow"))
    return f"| {' | '.join(cells)} |"


def closing(rows: Sequence[Row]) -> str:
    """What is said below the table."""
    lines = [
        "",
        f"Million packets per second ± half the spread. p99 (cycles per packet of a batch that 99 of 100 are faster "
        f"than) and instructions per packet are of {', '.join(SLOW)}; bytes per flow of generated and equal. "
        "All but limit include the copying of the packet, which is `source`.",
    ]
    if by := next((row["instructions_by"] for row in rows if "instructions_by" in row), None):
        lines.append(f"Instructions are counted by {by}.")
    least = min((row["large_pages"] for row in rows if "large_pages" in row), default=1)
    all_large = "all tables lie in large pages" if least > 0.99 else f"only {least:.0%} of a row's tables do"
    lines.append(f"Large pages: {all_large}.")
    for row in rows:
        if row.get("sent", 1) < 0.5:
            lines.append(f"{row['nf']}, {row['flows']} flows: {row['sent']:.0%} of the packets leave.")
    lines += ["", "| nf | generated / equal, median over its rows |", "|---|---:|"]
    for name in dict.fromkeys(row["nf"] for row in rows):
        found = [quotient(row, "generated", "equal") for row in rows if row["nf"] == name]
        known = [each for each in found if each is not None]
        if known:
            lines.append(f"| {name} | {statistics.median(known):.2f} |")
    return "\n".join(lines)
