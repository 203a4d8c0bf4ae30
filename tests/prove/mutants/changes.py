"""Mutants of an emitted P4 program: every change of one node of its parsers, controls, tables, actions and deparsers,
and of its register actions.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import pairwise

from tests.prove.mutants.expressions import Change, Expressions, left_out, within
from tests.prove.mutants.statements import Statements

from polysome.p4 import program as pr
from polysome.p4.types import width
from polysome.p4.walk import expressions, statements, tables_of


@dataclass(frozen=True)
class Mutant:
    """`region`: ingress or egress, and which part of it; `kind`: what sort of change. `words` say what it is."""

    region: str
    kind: str
    words: str
    program: pr.Program = field(repr=False)

    def __str__(self) -> str:
        return f"{self.region}: {self.words}"


def mutants(program: pr.Program) -> Iterator[Mutant]:
    """All of them, always in the same order."""
    for name in ("ingress", "egress"):
        gress: pr.Gress = getattr(program, name)
        changes = Statements(Expressions(gress))
        for kind, words, parser in _parser(gress.parser, changes):
            yield Mutant(f"{name} parser", kind, words, _with(program, name, replace(gress, parser=parser)))
        for kind, words, body in changes.body(gress.control):
            yield Mutant(f"{name} control", kind, words, _with(program, name, replace(gress, control=body)))
        for kind, words, body in changes.body(gress.deparser):
            yield Mutant(f"{name} deparser", kind, words, _with(program, name, replace(gress, deparser=body)))
        yield from _tables(program, name, gress, changes)
        yield from _registers(program, name, gress, changes)


def _with(program: pr.Program, name: str, gress: pr.Gress) -> pr.Program:
    return replace(program, ingress=gress) if name == "ingress" else replace(program, egress=gress)


# ---------------------------------------------------------------- parsers


def _parser(parser: pr.Parser, changes: Statements) -> Iterator[Change[pr.Parser]]:
    names = [s.name for s in parser.states] + ["accept", "reject"]

    def state(s: pr.State) -> Iterator[Change[pr.State]]:
        for kind, words, body in changes.body(s.body):
            yield kind, words, replace(s, body=body)
        for kind, words, values in within(s.values, changes.expressions.of, "key"):
            yield kind, words, replace(s, values=values)
        for kind, words, cases in _cases(s, names):
            yield kind, words, replace(s, cases=cases)

    for n, one in enumerate(parser.states):
        for kind, words, new in state(one):
            states = (*parser.states[:n], new, *parser.states[n + 1 :])
            yield kind, f"state {one.name}, {words}", replace(parser, states=states)


def _cases(state: pr.State, names: list[str]) -> Iterator[Change[tuple[pr.SelectCase, ...]]]:
    widths = [width(value.type) for value in state.values]

    def case(c: pr.SelectCase) -> Iterator[Change[pr.SelectCase]]:
        for n, (value, mask) in enumerate(c.keys):
            for kind, words, key in _key(value, mask, widths[n]):
                yield kind, f"key {n + 1}, {words}", replace(c, keys=(*c.keys[:n], key, *c.keys[n + 1 :]))
        other = names[(names.index(c.state) + 1) % len(names)]
        for target in dict.fromkeys((other, "accept")):
            if target != c.state:
                yield "target", f"to {c.state}: to {target}", replace(c, state=target)

    yield from within(state.cases, case, "case")
    if not state.values:
        return
    yield from left_out(state.cases, "row left out", lambda c: f"case to {c.state}")
    for n, (one, two) in enumerate(pairwise(state.cases)):
        if one.state != two.state and not _disjoint(one, two):
            changed = (*state.cases[:n], two, one, *state.cases[n + 2 :])
            yield "row order", f"case {n + 1} to {one.state}: exchanged with the next, to {two.state}", changed
    for n, one in enumerate(state.cases):
        twice = (*state.cases[:n], one, one, *state.cases[n + 1 :])
        yield "row twice", f"case {n + 1} to {one.state}: twice", twice


def _disjoint(one: pr.SelectCase, two: pr.SelectCase) -> bool:
    """Is there nothing that both rows match? Then their order is no matter."""
    return any((a ^ b) & m & n for (a, m), (b, n) in zip(one.keys, two.keys, strict=True))


def _key(value: int, mask: int, width: int) -> Iterator[Change[tuple[int, int]]]:
    """A value and mask of a row: the value's last bit and one more, the mask's first and last bit."""
    if mask == 0:
        yield "row value", "any: only 0", (0, (1 << width) - 1)
        return
    last = mask & -mask
    for new in dict.fromkeys((value ^ last, (value + last) & mask)):
        yield "row value", f"{value:#x} &&& {mask:#x}: value {new:#x}", (new, mask)
    for bit in dict.fromkeys((last, 1 << mask.bit_length() - 1)):
        yield "row mask", f"{value:#x} &&& {mask:#x}: without bit {bit:#x}", (value & ~bit, mask & ~bit)


# ---------------------------------------------------------------- tables and actions


def _tables(program: pr.Program, name: str, gress: pr.Gress, changes: Statements) -> Iterator[Mutant]:
    """What the control applies."""
    applied = dict.fromkeys(t for s in statements(program, gress.control) for t in tables_of(s))
    for table in applied:
        old = program.tables[table]
        for kind, words, new in _table(program, old, changes):
            changed = replace(program, tables={**program.tables, table: new})
            yield Mutant(f"{name} tables", kind, f"{table}: {words}", changed)
    for action in dict.fromkeys(a for table in applied for a in program.tables[table].actions):
        for kind, words, done in _action(program.actions[action], changes):
            changed = replace(program, actions={**program.actions, action: done})
            yield Mutant(f"{name} actions", kind, f"{action}: {words}", changed)


def _table(program: pr.Program, table: pr.Table, changes: Statements) -> Iterator[Change[pr.Table]]:
    def key(k: pr.Key) -> Iterator[Change[pr.Key]]:
        for kind, words, value in changes.expressions.of(k.value):
            yield kind, words, replace(k, value=value)

    widths = [width(k.value.type) for k in table.keys]

    def entry(e: pr.Entry) -> Iterator[Change[pr.Entry]]:
        for n, (value, mask) in enumerate(e.keys):
            for _, words, new in _key(value, mask, widths[n]):
                yield "entry", f"key {n + 1}, {words}", replace(e, keys=(*e.keys[:n], new, *e.keys[n + 1 :]))
        for _, words, call in _call(program, table, e.call):
            yield "entry", words, replace(e, call=call)

    for kind, words, keys in within(table.keys, key, "key"):
        yield kind, words, replace(table, keys=keys)
    for kind, words, entries in within(table.entries, entry, "entry"):
        yield kind, words, replace(table, entries=entries)
    for kind, words, entries in left_out(table.entries, "entry", lambda e: f"entry for {e.call.action}"):
        yield kind, words, replace(table, entries=entries)
    for _, words, call in _call(program, table, table.default):
        yield "default", f"default {words}", replace(table, default=call)


def _call(program: pr.Program, table: pr.Table, call: pr.ActionCall) -> Iterator[Change[pr.ActionCall]]:
    params = program.actions[call.action].params
    for n, arg in enumerate(call.args):
        most = (1 << width(params[n].type)) - 1
        changed = (*call.args[:n], (arg + 1) & most, *call.args[n + 1 :])
        yield "argument", f"{call.action} argument {n + 1}, {arg:#x}: one more", replace(call, args=changed)
    same = [a for a in table.actions if [p.type for p in program.actions[a].params] == [p.type for p in params]]
    other = same[(same.index(call.action) + 1) % len(same)]
    if other != call.action:
        yield "action", f"{call.action}: {other} in its place", replace(call, action=other)


def _action(action: pr.Action, changes: Statements) -> Iterator[Change[pr.Action]]:
    for kind, words, body in changes.body(action.body):
        yield kind, words, replace(action, body=body)
    for n, (a, b) in enumerate(pairwise(action.params)):
        if a.type == b.type:
            params = (*action.params[:n], b, a, *action.params[n + 2 :])
            yield "parameters", f"parameter {a}: exchanged with {b}", replace(action, params=params)


def _registers(program: pr.Program, name: str, gress: pr.Gress, changes: Statements) -> Iterator[Mutant]:
    """What the control, and the tables that it applies, execute."""
    every = (e for s in statements(program, gress.control) for e in expressions(program, s))
    for action in dict.fromkeys(e.action for e in every if isinstance(e, pr.Execute)):
        old = program.register_actions[action]
        for kind, words, body in changes.body(old.body):
            changed = replace(program, register_actions={**program.register_actions, action: replace(old, body=body)})
            yield Mutant(f"{name} registers", kind, f"{action}: {words}", changed)
