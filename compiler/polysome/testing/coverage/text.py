"""Coverage for people and for programs: the lines of the spec with marks, and what was not reached."""

from __future__ import annotations

from typing import Any

from polysome.ir.program import Program
from polysome.testing.coverage.coverage import Coverage
from polysome.testing.coverage.points import Outcome, Point

COVERED, PARTLY, UNCOVERED, DEAD, NOTHING = "+", "~", "-", "x", " "
LEGEND = f"{COVERED} covered  {PARTLY} partly  {UNCOVERED} not covered  {DEAD} unreachable"
NEVER = {
    ("if", "true"): "is never true",
    ("if", "false"): "is never false",
    ("condition", "true"): "is never true",
    ("condition", "false"): "is never false",
    ("require", "holds"): "never holds",
    ("require", "fails"): "never fails",
    ("lookup", "found"): "never finds anything",
    ("lookup", "absent"): "always finds something",
    ("loop", "entered"): "is never entered",
    ("loop", "not entered"): "always has something to run over",
    ("handler", "runs"): "never runs",
    ("relevant", "not met"): "is met by every packet",
}
MOST = 60  # characters of the spec in a note


def report(coverage: Coverage) -> list[str]:
    """The spec's own file as it is, of other files the lines that run for it; notes below lines; a summary."""
    program = coverage.program
    by_line: dict[tuple[str, int], list[Outcome]] = {}
    for outcome in coverage.points.outcomes:
        by_line.setdefault(_line(program, outcome.point), []).append(outcome)
    places = sorted({*by_line, *coverage.points.lines})
    own = program.span.file
    lines = []
    for file in sorted({file for file, _ in places}, key=lambda f: (f != own, f)):
        lines += [file, *_file(coverage, file, [line for of, line in places if of == file], by_line), ""]
    return [*lines, LEGEND, *summary(coverage)]


def summary(coverage: Coverage) -> list[str]:
    """How many outcomes were reached, and a line for each that was not."""
    total, dead, missing = len(coverage.points.outcomes), coverage.dead, coverage.missing
    first = f"reached {len(coverage.reached)} of {total} branch outcomes"
    first += f"; {len(dead)} {'is' if len(dead) == 1 else 'are'} unreachable" if dead else ""
    first += f"; {len(missing)} not reached" if missing else ""
    notes = [f"  {_place(coverage, o)} {_note(coverage, o)}" for o in (*missing, *dead)]
    if missing and not coverage.proved:
        notes.append("  whether they can be reached was not examined: that needs z3 (pip install 'polysome[symbolic]')")
    return [first, *notes]


def as_json(coverage: Coverage) -> dict[str, Any]:
    """Totals, points with their outcomes, and how often statements ran by file and line."""
    program = coverage.program
    found = []
    for point in coverage.points.points:
        file, line = _line(program, point)
        outcomes = [o for o in coverage.points.outcomes if o.point is point]
        found.append(
            {
                "file": file,
                "line": line,
                "kind": point.kind,
                "text": _source(program, point),
                "outcomes": {
                    o.name: {"count": coverage.counts[o.number], "unreachable": coverage.unreachable.get(o.number)}
                    for o in outcomes
                },
            }
        )
    ran = [
        {"file": file, "line": line, "count": coverage.counts[n]} for (file, line), n in coverage.points.lines.items()
    ]
    return {
        "outcomes": len(coverage.points.outcomes),
        "reached": len(coverage.reached),
        "unreachable": len(coverage.dead),
        "complete": coverage.complete,
        "proved": coverage.proved,
        "points": found,
        "lines": ran,
    }


def _file(
    coverage: Coverage, file: str, with_code: list[int], by_line: dict[tuple[str, int], list[Outcome]]
) -> list[str]:
    source = coverage.program.sources[file]
    whole = file == coverage.program.span.file
    last = source.position(max(0, len(source.text) - 1))[0] if whole else 0
    found = []
    for number in range(1, last + 1) if whole else with_code:
        outcomes = by_line.get((file, number), [])
        mark = _mark(coverage, outcomes, coverage.points.lines.get((file, number)))
        found.append(f"{mark} {number:4} | {source.line(number)}".rstrip())
        if mark == PARTLY:
            found += [f"       | {' ' * 4}^ {_note(coverage, o)}" for o in outcomes if not coverage.counts[o.number]]
    return found


def _mark(coverage: Coverage, outcomes: list[Outcome], line: int | None) -> str:
    numbers = [o.number for o in outcomes] + ([] if line is None else [line])
    if not numbers:
        return NOTHING
    open_ = [n for n in numbers if n not in coverage.unreachable]
    if not open_:
        return DEAD
    reached = sum(coverage.counts[n] > 0 for n in open_)
    return UNCOVERED if not reached else COVERED if reached == len(numbers) else PARTLY


def _note(coverage: Coverage, outcome: Outcome) -> str:
    """What did not happen, and if it cannot, why."""
    point = outcome.point
    never = f"`{_source(coverage.program, point)}` {NEVER[point.kind, outcome.name]}"
    why = coverage.unreachable.get(outcome.number)
    if why is not None:
        return f"{never}: unreachable, {why}"
    return f"{never}: not reached{' (not proved unreachable)' if coverage.proved else ''}"


def _line(program: Program, point: Point) -> tuple[str, int]:
    return point.span.file, program.sources[point.span.file].position(point.span.start)[0]


def _place(coverage: Coverage, outcome: Outcome) -> str:
    return coverage.program.place(outcome.point.span)


def _source(program: Program, point: Point) -> str:
    """The point as the spec has it: its head, on one line."""
    text = " ".join(program.sources[point.span.file].text[point.span.start : point.span.end].split())
    head = text.split(" {")[0] if point.kind in ("if", "loop", "handler", "lookup") else text.split(" else ")[0]
    return head if len(head) <= MOST else head[: MOST - 1] + "…"
