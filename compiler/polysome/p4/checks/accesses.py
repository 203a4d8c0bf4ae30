"""One access for each packet: tables are applied in one place, registers, counters and meters used once on any path."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from polysome.p4 import program as pr
from polysome.p4.walk import tables_of
from polysome.syntax.diagnostics import Report
from polysome.syntax.spans import Span

Used = dict[str, Span]  # objects that some path has used so far, and where


def check_accesses(program: pr.Program, report: Report) -> None:
    for gress in (program.ingress, program.egress):
        _Accesses(program, report).block((*gress.control, *gress.deparser), {})
    _both_pipes(program, report)


class _Accesses:
    """Follows the paths through a gress."""

    def __init__(self, program: pr.Program, report: Report) -> None:
        self.program, self.report = program, report
        self.applied: Used = {}

    def block(self, body: Iterable[pr.Stmt], used: Used) -> Used:
        for s in body:
            used = self._statement(s, used)
        return used

    def _statement(self, s: pr.Stmt, used: Used) -> Used:
        for e in pr.reads(s):
            used = self._expression(e, used)
        for table in tables_of(s):
            used = self._table(table, s.span, used)
        match s:
            case pr.If():
                return self.block(s.yes, used) | self.block(s.no, used)
            case pr.ApplySwitch():
                after = used
                for _, body in s.cases:
                    after = after | self.block(body, used)
                return after
            case pr.Run():
                return self.block(s.body, used)
            case pr.Count():
                return self._use("counter", s.counter, s.span, used)
            case _:
                return used

    def _expression(self, e: pr.Expr, used: Used) -> Used:
        for part in pr.subexpressions(e):
            match part:
                case pr.Execute():
                    register = self.program.register_actions[part.action].register
                    used = self._use("register", register, part.span, used)
                case pr.MeterOf():
                    used = self._use("meter", part.meter, part.span, used)
                case _:
                    pass
        return used

    def _table(self, name: str, at: Span, used: Used) -> Used:
        if name in self.applied:
            self.report.add(
                "E1205",
                f"the table `{name}` is applied in two places",
                at,
                also=[(self.applied[name], "applied here first")],
                why="A table stands in one place of the pipeline.",
                mend="Apply it once, behind a condition that holds in both cases; or make two tables.",
            )
        self.applied.setdefault(name, at)
        after = used
        for action in self.program.tables[name].actions:
            after = after | self.block(self.program.actions[action].body, used)
        return after

    def _use(self, what: str, name: str, at: Span, used: Used) -> Used:
        if name in used:
            same = used[name] == at  # one action of two tables
            self.report.add(
                "E1205",
                f"the {what} `{name}` is used twice on one path" + (", by one action of two tables" if same else ""),
                at,
                also=[] if same else [(used[name], "used here before")],
                why=f"A packet passes the stage of a {what} once, and has one access to it there.",
                mend="Put the uses into branches of one `if`, or into actions of one table; or keep two copies.",
            )
        return {name: at, **used}


def _both_pipes(program: pr.Program, report: Report) -> None:
    """Ingress and egress have stages of their own, but controls are declared once: full names tell them apart."""
    names = [*program.tables, *program.registers, *program.counters, *program.meters, *program.register_actions]
    for name in {n for n in names if names.count(n) > 1}:
        report.add(
            "E1211",
            f"two objects are called `{name}`",
            _place_of(program, name),
            why="A driver finds tables and externs by these names.",
            mend="Give one of them another name.",
        )


def _place_of(program: pr.Program, name: str) -> Span | None:
    found: Iterator[Span] = (
        group[name].span
        for group in (program.tables, program.registers, program.counters, program.meters, program.register_actions)
        if name in group
    )
    return next(found, None)
