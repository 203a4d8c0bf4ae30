"""How much of a program some runs reached, for people and for programs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from polysome.p4.points import ACTION, CONDITION, STATE, TABLE, Outcome, Point, Points
from polysome.syntax.spans import Source, Span


@dataclass(frozen=True)
class Coverage:
    """`counts[n]`: how often outcome n of the points happened. `text`: the program's."""

    points: Points
    text: str
    counts: tuple[int, ...]

    def __add__(self, counts: Iterable[int]) -> Coverage:
        """With the counts of one more run of the program."""
        return replace(self, counts=tuple(a + b for a, b in zip(self.counts, counts, strict=True)))

    @property
    def missing(self) -> tuple[Outcome, ...]:
        return tuple(o for o in self.points.outcomes if not self.counts[o.number])

    @property
    def reached(self) -> int:
        """Outcomes that happened."""
        return len(self.points.outcomes) - len(self.missing)

    # ------------------------------------------------------------ names

    @cached_property
    def titles(self) -> tuple[str, ...]:
        """What each outcome is called: its point and what happens there, as the text has it; each name once."""
        seen: dict[str, int] = {}
        found = []
        for outcome in self.points.outcomes:
            title = f"{self._point(outcome.point)}: {self._what(outcome)}"
            seen[title] = seen.get(title, 0) + 1
            found.append(title if seen[title] == 1 else f"{title} ({seen[title]})")
        return tuple(found)

    def _point(self, point: Point) -> str:
        within = f", {ACTION} {point.name}" if point.kind == CONDITION and point.name else ""
        name = f"({self._words(point.spans[0])})" if point.kind == CONDITION else point.name
        return f"{point.block}{within}, {point.kind} {name}"

    def _what(self, outcome: Outcome) -> str:
        """A transition as it is written; of all others their name."""
        written = outcome.point.kind == STATE and outcome.span != outcome.point.span
        return self._words(outcome.span).rstrip(";") if written else outcome.name

    def _words(self, span: Span) -> str:
        return " ".join(self.text[span.start : span.end].split())

    def code(self, point: Point) -> str:
        """The text of a point with what hangs on it: a condition's branches, a table's keys, entries and actions."""
        if point.kind != TABLE:
            return self._words(point.span)
        program = self.points.program
        table = program.tables[point.name]
        spans = [k.span for k in table.keys] + [program.actions[a].span for a in table.actions]
        return f"{' '.join(self._words(s) for s in spans)} {table.entries} {table.default}"

    # ------------------------------------------------------------ reports

    def lines(self) -> list[str]:
        """A summary, and a line for each outcome that never happened, in the order of the text."""
        source = Source("", self.text)
        total, blocks = len(self.points.outcomes), dict.fromkeys(o.point.block for o in self.points.outcomes)
        found = [
            f"reached {self.reached} of {total} outcomes in the switch's program, {100 * self.reached / total:.1f} %"
        ]
        for block in blocks:
            inside = [o for o in self.points.outcomes if o.point.block == block]
            reached = sum(self.counts[o.number] > 0 for o in inside)
            found.append(f"  {block:<16}  {reached} of {len(inside)}")
        if self.missing:
            found.append("not reached, by line of the program:")
        return found + [f"  {source.position(o.span.start)[0]:>5}  {self.titles[o.number]}" for o in self.missing]

    def to_json(self) -> dict[str, Any]:
        """Totals, every outcome with its line and count, and the program that the lines are of."""
        source = Source("", self.text)
        return {
            "outcomes": len(self.points.outcomes),
            "reached": self.reached,
            "points": [
                {
                    "line": source.position(o.span.start)[0],
                    "block": o.point.block,
                    "kind": o.point.kind,
                    "what": self.titles[o.number],
                    "count": self.counts[o.number],
                }
                for o in self.points.outcomes
            ],
            "p4": self.text,
        }
