"""Parsers: states that can be reached, no cycles, what the chip can do in a state, and how far it sees."""

from __future__ import annotations

from collections.abc import Iterator

from polysome.p4 import program as pr
from polysome.p4.checks.initialised import in_order
from polysome.p4.types import Composite, width
from polysome.syntax.diagnostics import Report
from polysome.syntax.spans import Span

_CONSUMING = (pr.Extract, pr.Advance)


def check_parser(gress: pr.Gress, depth: int, report: Report) -> None:
    parser = gress.parser
    _reached(parser, report)
    for state in parser.states:
        _cases(state, report)
        _assignments(state, report)
    _intrinsic(gress, report)
    if _acyclic(parser, report):
        _depth(parser, depth, report)
        _assigned_twice(parser, report)


def _reached(parser: pr.Parser, report: Report) -> None:
    reached, todo = {"start"}, ["start"]
    known = {s.name: s for s in parser.states}
    while todo:
        for case in known[todo.pop()].cases:
            if case.state in known and case.state not in reached:
                reached.add(case.state)
                todo.append(case.state)
    for state in parser.states:
        if state.name not in reached:
            report.add(
                "E1207",
                f"the state `{state.name}` cannot be reached",
                state.span,
                why="No way from `start` leads to it.",
                mend="Remove it, or add a transition to it.",
            )


def _cases(state: pr.State, report: Report) -> None:
    """No case stands behind one that takes all of its packets."""
    for i, case in enumerate(state.cases):
        for before in state.cases[:i]:
            if all(m & n == m and v == w & m for (v, m), (w, n) in zip(before.keys, case.keys, strict=True)):
                report.add(
                    "E1207",
                    "this case is never chosen",
                    case.span,
                    also=[(before.span, "this one takes all of its packets")],
                    why="The first case that matches is the one that counts.",
                    mend="Remove it, or put it before the other.",
                )
                break


def _assignments(state: pr.State, report: Report) -> None:
    for s in state.body:
        if isinstance(s, pr.Assign) and not _movable(s.value):
            report.add(
                "E1202",
                "outside the subset: a parser state that computes",
                s.value.span,
                why="A parser moves constants and bytes of the packet; it has no adder.",
                mend="Assign a constant or a field, and compute in the control.",
            )


def _movable(e: pr.Expr) -> bool:
    match e:
        case pr.Const() | pr.Place() | pr.ChecksumGet() | pr.Lookahead():
            return True
        case pr.Slice() | pr.Cast():
            return _movable(e.value)
        case _:
            return False


def _intrinsic(gress: pr.Gress, report: Report) -> None:
    """What the chip puts before the frame is taken off first: in `start`, in its order, once."""
    wanted: list[type[pr.Stmt]] = [pr.ExtractIntrinsic]
    if gress.name == "ingress":
        wanted.append(pr.PortMetadata)
    start = gress.parser.state("start")
    found = [s for s in start.body if isinstance(s, (*_CONSUMING, pr.ExtractIntrinsic, pr.PortMetadata))]
    elsewhere = [
        s
        for state in gress.parser.states
        for s in (found[len(wanted) :] if state is start else state.body)
        if isinstance(s, pr.ExtractIntrinsic | pr.PortMetadata)
    ]
    if [type(s) for s in found[: len(wanted)]] == wanted and not elsewhere:
        return
    steps = "extract the intrinsic metadata, then unpack or advance over the port metadata"
    report.add(
        "E1211",
        f"the {gress.name} parser does not begin with what the chip puts before the frame",
        elsewhere[0].span if elsewhere else start.span,
        why="Metadata of the chip come before the first byte of every frame.",
        mend=f"In `start`, {steps if gress.name == 'ingress' else 'first extract the intrinsic metadata'}; only there.",
    )


def _acyclic(parser: pr.Parser, report: Report) -> bool:
    known = {s.name: s for s in parser.states}
    done: set[str] = set()

    def cycle(name: str, path: tuple[str, ...]) -> pr.SelectCase | None:
        if name in done or name not in known:
            return None
        for case in known[name].cases:
            if case.state in (*path, name):
                return case
            found = cycle(case.state, (*path, name))
            if found is not None:
                return found
        done.add(name)
        return None

    found = cycle("start", ())
    if found is not None:
        report.add(
            "E1207",
            f"the parser comes back to the state `{found.state}`",
            found.span,
            why="How far the parser sees must be known: it goes through each state once at most.",
            mend="Write one state for each step.",
        )
    return found is None


def _depth(parser: pr.Parser, depth: int, report: Report) -> None:
    """The longest way to the end of each state."""
    ends: dict[str, int] = {"start": 0}
    for state in in_order(parser):
        at = ends[state.name] + sum(_bytes(s) for s in state.body)
        ahead = max((_ahead(e) for e in _read(state)), default=0)
        if at + ahead > depth:
            report.add(
                "E1208",
                f"the parser sees {depth} bytes, and here it needs {at + ahead}",
                state.span,
                why="The longest way from `start` to the end of this state takes that many bytes of the frame.",
                mend="Parse fewer headers, or take such packets whole.",
            )
            return
        for case in state.cases:
            ends[case.state] = max(ends.get(case.state, 0), at)


def _assigned_twice(parser: pr.Parser, report: Report) -> None:
    """A parser ors what it writes into a field's container: only after zeros may a field be written once more."""
    before: dict[str, dict[tuple[str, ...], Span]] = {"start": {}}  # what some way has written that may not be 0
    for state in in_order(parser):
        written = dict(before[state.name])
        for s in state.body:
            if not isinstance(s, pr.Assign) or not isinstance(s.target, pr.Place):
                continue
            if s.target.key in written:
                report.add(
                    "E1208",
                    f"the parser assigns `{s.target}` a second time",
                    s.span,
                    also=[(written[s.target.key], "this may have been assigned before")],
                    why="A parser ors a value to what it has written there before, so only zeros can be replaced.",
                    mend="Assign it once on each way, or 0 before; or let the control decide.",
                )
            if not isinstance(s.value, pr.Const) or s.value.value != 0:
                written.setdefault(s.target.key, s.span)
        for case in state.cases:
            before[case.state] = {**written, **before.get(case.state, {})}


def _bytes(s: pr.Stmt) -> int:
    match s:
        case pr.Extract():
            assert isinstance(s.header.type, Composite)
            return s.header.type.width // 8
        case pr.Advance():
            return s.bits // 8
        case _:
            return 0


def _read(state: pr.State) -> Iterator[pr.Expr]:
    for s in state.body:
        for e in pr.reads(s):
            yield from pr.subexpressions(e)
    for e in state.values:
        yield from pr.subexpressions(e)


def _ahead(e: pr.Expr) -> int:
    return (width(e.type) + 7) // 8 if isinstance(e, pr.Lookahead) else 0
