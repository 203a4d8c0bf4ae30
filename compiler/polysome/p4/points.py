"""What a run of a program can reach: its points, each with its outcomes, numbered.

A point is
- a parser's state. Outcomes: each transition; that no case matches, where that can be; and in ingress, whose frames
  come from outside, that the frame ends within the state;
- a table that is applied. Outcomes: each action by an entry, and the default action. An action that is the constant
  default is not counted by an entry, unless one of the program's own entries has it;
- a condition of an `if` in a control, an action, a deparser or a register action. Outcomes: true, false;
- a register action that is executed. Its outcome: it runs.

Points are found by where they stand in the text: what is written once and put in several places is one point.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from polysome.p4 import program as pr
from polysome.p4.types import width
from polysome.p4.walk import expressions, statements, tables_of
from polysome.syntax.spans import Span

STATE, TABLE, CONDITION, ACTION = "state", "table", "if", "register action"
NO_MATCH, ENDS = "no case matches", "the frame ends"


@dataclass(frozen=True, slots=True)
class Point:
    """`name`: of the state, the table or the register action, in full; "" of a condition in a control.

    `spans`: where its outcomes stand. `first` is the number of the first one.
    """

    block: str  # "ingress parser", "ingress", "ingress deparser", and the same of egress
    kind: str
    name: str
    span: Span
    outcomes: tuple[str, ...]  # of a transition the state that it leads to
    spans: tuple[Span, ...]
    first: int = 0


@dataclass(frozen=True, slots=True)
class Outcome:
    point: Point
    number: int

    @property
    def name(self) -> str:
        return self.point.outcomes[self.number - self.point.first]

    @property
    def span(self) -> Span:
        return self.point.spans[self.number - self.point.first]


class Points:
    """All points of a program, in the order of its text."""

    def __init__(self, program: pr.Program) -> None:
        self.program = program
        self.outcomes: list[Outcome] = []
        self._at: dict[tuple[str, Span], Point] = {}
        for found in sorted(_found(program), key=lambda p: (p.span.start, p.kind)):
            if (found.kind, found.span) not in self._at:
                point = replace(found, first=len(self.outcomes))
                self._at[found.kind, found.span] = point
                self.outcomes += [Outcome(point, point.first + i) for i in range(len(point.outcomes))]
        self.points = tuple(self._at.values())

    def transition(self, s: pr.State, case: int) -> int:
        """The number of a state's transition; of its other outcomes, see `other`."""
        return self._at[STATE, s.span].first + case

    def other(self, s: pr.State, name: str) -> int | None:
        """The number of NO_MATCH or ENDS; None if it cannot be in this state."""
        point = self._at[STATE, s.span]
        others = point.outcomes[len(s.cases) :]
        return point.first + len(s.cases) + others.index(name) if name in others else None

    def by_entry(self, t: pr.Table, action: str) -> int | None:
        """None if an entry never has the action."""
        point, name = self._at[TABLE, t.span], _by_entry(action)
        return point.first + point.outcomes.index(name) if name in point.outcomes else None

    def by_default(self, t: pr.Table) -> int:
        point = self._at[TABLE, t.span]
        return point.first + len(point.outcomes) - 1

    def condition(self, s: pr.If) -> int:
        """The number of `true`; that of `false` follows it."""
        return self._at[CONDITION, s.span].first

    def runs(self, a: pr.RegisterAction) -> int:
        return self._at[ACTION, a.span].first


def _found(program: pr.Program) -> Iterator[Point]:
    for g in (program.ingress, program.egress):
        seen = _seen_before(g.parser)
        for state in g.parser.states:
            yield _state(f"{g.name} parser", state, seen[state.name])
        yield from _in_control(program, g.name, g.control)
        yield from _in_control(program, f"{g.name} deparser", g.deparser)


def _point(block: str, kind: str, name: str, span: Span, outcomes: list[tuple[str, Span]]) -> Point:
    """Without its number."""
    names, spans = zip(*outcomes, strict=True)
    return Point(block, kind, name, span, names, spans)


def _state(block: str, s: pr.State, seen: int) -> Point:
    outcomes = [(case.state, case.span) for case in s.cases]
    if s.values and not _exhaustive(s):
        outcomes.append((NO_MATCH, s.span))
    if block == "ingress parser" and _needs(s) > seen:
        outcomes.append((ENDS, s.span))
    return _point(block, STATE, s.name, s.span, outcomes)


def _exhaustive(s: pr.State) -> bool:
    """Does a case match whatever the values are?"""
    cubes = []
    for case in s.cases:
        value = mask = 0
        for key, (v, m) in zip(s.values, case.keys, strict=True):
            bits = width(key.type)
            value, mask = value << bits | v, mask << bits | m
        cubes.append((value, mask))
    return _cover(cubes)


def _cover(cubes: list[tuple[int, int]]) -> bool:
    """Is every number in one of them, each a value of the bits in its mask?"""
    asked = max((mask for _, mask in cubes), default=0)
    if not asked or any(mask == 0 for _, mask in cubes):
        return bool(cubes)
    bit = 1 << asked.bit_length() - 1
    halves = (
        [(v & ~bit, m & ~bit) for v, m in cubes if not m & bit or bool(v & bit) == side] for side in (False, True)
    )
    return all(map(_cover, halves))


def _needs(s: pr.State) -> int:
    """Bits of the frame that the state takes or looks at, from where it begins."""
    at = most = 0
    for b in s.body:
        for e in pr.reads(b):
            most = max(most, at + _ahead(e))
        match b:
            case pr.Extract():
                at += width(b.header.type)
            case pr.Advance():
                at += b.bits
            case _:
                pass
    return max(at, most, *(at + _ahead(e) for e in s.values), 0)


def _ahead(e: pr.Expr) -> int:
    return max((width(part.type) for part in pr.subexpressions(e) if isinstance(part, pr.Lookahead)), default=0)


def _seen_before(parser: pr.Parser) -> dict[str, int]:
    """Of each state, bits behind its begin that all states before it looked at when they chose: they are there."""
    seen: dict[str, int] = {"start": 0}
    for before in parser.states:
        looked = max(map(_ahead, before.values), default=0)
        for case in before.cases:
            seen[case.state] = min(seen.get(case.state, looked), looked)
    return {state.name: seen.get(state.name, 0) for state in parser.states}


def _in_control(program: pr.Program, block: str, body: tuple[pr.Stmt, ...]) -> Iterator[Point]:
    for s in statements(program, body):
        if isinstance(s, pr.If):
            yield _condition(block, "", s)
        for name in tables_of(s):
            yield _table(block, program.tables[name])
        for e in expressions(program, s):
            if isinstance(e, pr.Execute):
                action = program.register_actions[e.action]
                yield _point(block, ACTION, action.name, action.span, [("runs", action.span)])
                for inner in statements(program, action.body):
                    if isinstance(inner, pr.If):
                        yield _condition(block, action.name, inner)


def _condition(block: str, within: str, s: pr.If) -> Point:
    return _point(block, CONDITION, within, s.span, [("true", s.condition.span), ("false", s.condition.span)])


def _table(block: str, t: pr.Table) -> Point:
    entries = {entry.call.action for entry in t.entries}
    only_default = {t.default.action} if t.fixed or t.default_constant else set()
    actions = [a for a in t.actions if a in entries or a not in only_default]
    default = f"{_short(t.default.action)} by default" if t.default_constant else "the default action"
    names = [*map(_by_entry, actions), default]
    return _point(block, TABLE, t.name, t.span, [(name, t.span) for name in names])


def _by_entry(action: str) -> str:
    return f"{_short(action)} by an entry"


def _short(action: str) -> str:
    return action.rpartition(".")[2]
