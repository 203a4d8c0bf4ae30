"""Walks over the statements of a gress, through the actions of the tables that it applies."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from polysome.p4 import program as pr


def children(s: pr.Stmt) -> Iterator[pr.Stmt]:
    """The statements directly in a statement, not those of a table's actions."""
    match s:
        case pr.If():
            yield from s.yes
            yield from s.no
        case pr.ApplySwitch():
            for _, body in s.cases:
                yield from body
        case pr.Run():
            yield from s.body
        case _:
            pass


def tables_of(s: pr.Stmt) -> Iterator[str]:
    """The tables that a statement itself applies."""
    if isinstance(s, pr.Apply | pr.ApplySwitch):
        yield s.table
    for e in pr.reads(s):
        for part in pr.subexpressions(e):
            if isinstance(part, pr.Hit):
                yield part.table


def statements(program: pr.Program, body: Iterable[pr.Stmt]) -> Iterator[pr.Stmt]:
    """All statements of a body: those in others, and those of the actions of applied tables."""
    for s in body:
        yield s
        yield from statements(program, children(s))
        for name in tables_of(s):
            for action in program.tables[name].actions:
                yield from statements(program, program.actions[action].body)


def expressions(program: pr.Program, s: pr.Stmt) -> Iterator[pr.Expr]:
    """All expressions that a statement computes itself, with the keys of tables and the bodies of register actions."""
    for e in pr.reads(s):
        for part in pr.subexpressions(e):
            yield part
            if isinstance(part, pr.Execute):
                for inner in statements(program, program.register_actions[part.action].body):
                    yield from expressions(program, inner)
    for name in tables_of(s):
        for key in program.tables[name].keys:
            yield from pr.subexpressions(key.value)
