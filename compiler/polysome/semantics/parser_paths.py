"""What must hold on every path through a parse graph (LANGUAGE.md L4.7, L5.3)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from polysome.ir import program as ir
from polysome.ir.classes import split
from polysome.ir.reads import children
from polysome.syntax.diagnostics import Report
from polysome.syntax.spans import Span

Path = tuple[int, ...]


def check_reads(parser: ir.Parser, arrivals: Mapping[int, set[Path]], report: Report) -> None:
    """E0404 for what a `select` or a hook reads of a header that a path to it does not have."""
    numbers = {path: c for c, path in enumerate(parser.classes)}
    for number, paths in arrivals.items():
        mask = sum(1 << numbers[path] for path in paths if path in numbers)
        node = parser.nodes[number]
        for e in (*node.keys, *(condition for condition, _ in node.hooks if condition is not None)):
            for read in _absent(e, mask, parser):
                name = parser.instances[read.instance].name
                report.add(
                    "E0404",
                    f"`{name}` may be absent here",
                    read.span,
                    label="not valid on every path that gets here",
                    why=f"A path through the parser leads to state `{node.name}` without {name}.",
                    mend="Select on it where it is extracted, and go to different states from there.",
                )


def _absent(e: ir.Expr, mask: int, parser: ir.Parser) -> Iterator[ir.HeaderField | ir.RestBytes]:
    """The reads in `e`, evaluated for packets of `mask`, of headers that some of them do not have."""
    match e:
        case ir.HeaderField(instance=i) | ir.RestBytes(instance=i):
            if mask & ~parser.having[i]:
                yield e
        case ir.Choose(condition=condition, then=then, orelse=orelse):
            yield from _absent(condition, mask, parser)
            yes, no = split(condition, mask, parser)
            yield from _absent(then, yes, parser)
            yield from _absent(orelse, no, parser)
        case ir.Binary(op="and" | "or", left=left, right=right):
            yield from _absent(left, mask, parser)
            yes, no = split(left, mask, parser)
            yield from _absent(right, yes if e.op == "and" else no, parser)
        case _:
            for child in children(e):
                yield from _absent(child, mask, parser)


def check_progress(nodes: Mapping[int, ir.ParseNode], span: Callable[[str], Span], report: Report) -> None:
    """E0419 for states that lead round to themselves without extracting anything."""
    open_nodes: list[int] = []
    done: set[int] = set()

    def visit(number: int) -> None:
        if number < 0 or number in done or nodes[number].instance is not None:
            return
        if number in open_nodes:
            name = nodes[number].name
            report.add(
                "E0419",
                f"parsing may go round in state `{name}` without end",
                span(name),
                why="It can come back to this state without having extracted a header in between.",
                mend="Extract a header on the way, or accept.",
            )
            return
        open_nodes.append(number)
        for case in nodes[number].cases:
            visit(case.target)
        open_nodes.pop()
        done.add(number)

    for number in nodes:
        visit(number)
