"""Reads of what nothing has written: a field is fine if some path before has written it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from polysome.p4 import program as pr
from polysome.p4.types import Composite
from polysome.p4.walk import tables_of
from polysome.syntax.diagnostics import Report
from polysome.syntax.spans import Span

Key = tuple[str, ...]
Written = frozenset[Key]
# What the chip sets, or takes as 0 if the program does not set it.
_BY_CHIP = ("ig_intr_md", "eg_intr_md", "prsr", "dprsr", "tm", "oport")


def check_initialised(program: pr.Program, report: Report) -> None:
    for gress in (program.ingress, program.egress):
        _Writes(program, report).gress(gress)


class _Writes:
    def __init__(self, program: pr.Program, report: Report) -> None:
        self.program, self.report = program, report
        self.extracted: set[Key] = set()  # headers
        self.made: dict[Key, tuple[Composite, Span]] = {}  # headers that are set valid, and where

    def gress(self, g: pr.Gress) -> None:
        written = self._parser(g.parser)
        written = self.block(g.control, written)
        self.block(g.deparser, written)

    def _parser(self, parser: pr.Parser) -> Written:
        """What some way through the parser has written; its states have no cycle."""
        before: dict[str, Written] = {"start": frozenset()}
        everything: Written = frozenset()
        for state in in_order(parser):
            after = self.block(state.body, before[state.name])
            for value in state.values:
                self._read(value, after)
            for case in state.cases:
                before[case.state] = before.get(case.state, frozenset()) | after
            everything |= after
        return everything

    def block(self, body: Iterable[pr.Stmt], written: Written) -> Written:
        for s in body:
            written = self._statement(s, written)
        return written

    def _statement(self, s: pr.Stmt, written: Written) -> Written:
        for e in pr.reads(s):
            written = self._read(e, written)
        for table in tables_of(s):
            written = self._table(table, written)
        match s:
            case pr.Assign():
                target = s.target if isinstance(s.target, pr.Place) else s.target.value
                return written | {target.key} if isinstance(target, pr.Place) else written
            case pr.Extract():
                self.extracted.add(s.header.key)
                return written | set(leaves(s.header))
            case pr.PortMetadata() if s.target is not None:
                return written | set(leaves(s.target))
            case pr.ChecksumDeposit():
                return written | {s.target.key}
            case pr.SetValid():
                if s.valid and isinstance(s.header.type, Composite):
                    self.made.setdefault(s.header.key, (s.header.type, s.span))
                return written
            case pr.If():
                return self.block(s.yes, written) | self.block(s.no, written)
            case pr.ApplySwitch():
                after = written
                for _, body in s.cases:
                    after |= self.block(body, written)
                return after
            case pr.Run():
                return self.block(s.body, written)
            case pr.EmitHeader():
                self._emitted(s, written)
                return written
            case _:
                return written

    def _table(self, name: str, written: Written) -> Written:
        table = self.program.tables[name]
        for key in table.keys:
            self._read(key.value, written)
        after = written
        for action in table.actions:
            after |= self.block(self.program.actions[action].body, written)
        return after

    def _read(self, e: pr.Expr, written: Written) -> Written:
        for part in pr.subexpressions(e):
            match part:
                case pr.Place():
                    self._place(part, written)
                case pr.Execute():
                    written = self.block(self.program.register_actions[part.action].body, written)
                case _:
                    pass
        return written

    def _place(self, e: pr.Place, written: Written) -> None:
        given = e.root in _BY_CHIP or (e.root.startswith("$") and e.path)  # the latter: parameters, a register's value
        if given or e.key in written:
            return
        mend = (
            "Give it a value where it is declared." if e.root.startswith("$") else "Set it in the parser's first state."
        )
        if e.root == "hdr":
            mend = "Extract or set the header on some path before."
        self.report.add(
            "E1206",
            f"`{_shown(e)}` is read, and nothing before has written it",
            e.span,
            why="The chip does not clear all of a packet's fields: what is read could be left from another packet.",
            mend=mend,
        )

    def _emitted(self, s: pr.EmitHeader, written: Written) -> None:
        """A header that the program makes has every field set by then."""
        key = s.header.key
        if key not in self.made or key in self.extracted:
            return
        of, at = self.made[key]
        missing = [name for name, _ in of.fields if (*key, name) not in written]
        if missing:
            self.report.add(
                "E1206",
                f"`{'.'.join(key)}` is emitted, and nothing has written its field `{missing[0]}`",
                at,
                label="it becomes valid here",
                why="The chip does not clear all of a packet's fields: bytes of another packet could leave.",
                mend="Set every field of a header that you set valid.",
            )


def leaves(place: pr.Place) -> Iterator[Key]:
    """The fields in a header or struct."""
    if not isinstance(place.type, Composite):
        yield place.key
        return
    for name, kind in place.type.fields:
        yield from leaves(pr.Place(place.root, (*place.path, name), kind, place.span))


def in_order(parser: pr.Parser) -> list[pr.State]:
    """The states that can be reached, each before those it leads to; there is no cycle."""
    states = {s.name: s for s in parser.states}
    done: dict[str, None] = {}

    def visit(name: str) -> None:
        if name in done or name not in states:
            return
        for case in states[name].cases:
            visit(case.state)
        done[name] = None

    visit("start")
    return [states[name] for name in reversed(done)]


def _shown(e: pr.Place) -> str:
    return e.root.rsplit(".", 1)[-1].removeprefix("$") if e.root.startswith("$") else ".".join(e.key)
