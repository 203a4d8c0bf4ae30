"""Typing of parsers, controls and deparsers."""

from __future__ import annotations

from polysome.p4 import ast
from polysome.p4 import program as pr
from polysome.p4.objects import Objects
from polysome.p4.scope import ControlInstance, Object, Scope, World
from polysome.p4.types import Bits, Bool, Extern
from polysome.syntax.spans import Span

FINAL = ("accept", "reject")


class ControlTyper(Objects):
    """A control of a pipe, with those that it applies, or a deparser."""

    def __init__(self, world: World, block: str, prefix: str) -> None:
        super().__init__(world, block)
        self.prefix = prefix
        self._applied: dict[str, Span] = {}

    def control(self, c: ast.Control, scope: Scope) -> tuple[pr.Stmt, ...]:
        """The whole body, in a scope that has the parameters."""
        inner = Scope(scope)
        first = [s for item in c.locals for s in self.local(item, inner)]
        return (*first, *self.block_of(c.body, inner))

    def apply_control(self, e: ast.Call, of: ControlInstance, scope: Scope) -> tuple[pr.Stmt, ...]:
        """The body of another control, its parameters bound to the arguments; each instance is applied once."""
        if of.name in self._applied:
            self.world.report.add(
                "E1205",
                f"the control `{of.name}` is applied a second time",
                e.span,
                also=[(self._applied[of.name], "applied here first")],
                why="What it contains, its tables above all, stands in one place of the pipeline.",
                mend="Apply it once, behind a condition that holds in both cases; or make a second instance.",
            )
            return ()
        self._applied[of.name] = e.span
        if not self.arguments(e, len(of.control.params)):
            return ()
        inner = Scope(self.world.scope)
        before: list[pr.Stmt] = []
        for param, arg in zip(of.control.params, e.args, strict=True):
            kind = self.type(param.type, self.world.scope)
            if kind is None:
                return ()
            before += self.bind(param, kind, arg, scope, inner)
        outer, self.prefix = self.prefix, of.name
        body = self.control(of.control, inner)
        self.prefix = outer
        return (*before, *body)


class ParserTyper(Objects):
    """A parser: a graph of states."""

    def __init__(self, world: World, prefix: str) -> None:
        super().__init__(world, "parser")
        self.prefix = prefix

    def parser(self, p: ast.Parser, scope: Scope) -> pr.Parser | None:
        inner, units = Scope(scope), []
        first: list[pr.Stmt] = []
        for item in p.locals:
            if isinstance(item, ast.Action | ast.Table):
                self.world.outside("an action or a table in a parser", item.span, "It belongs into a control.")
            else:
                first += self.local(item, inner)
        for meaning, _ in inner.names.values():
            if isinstance(meaning, Object) and meaning.type == Extern("Checksum"):
                units.append(meaning.name)
        names = self._names(p)
        states = [self._state(s, names, inner) for s in p.states]
        if "start" not in names:
            self.world.unknown("state", "start", p.name.span, list(names))
            return None
        found = [s for s in states if s is not None]
        if first:
            found = [
                pr.State(s.name, (*first, *s.body), s.values, s.cases, s.span) if s.name == "start" else s
                for s in found
            ]
        return pr.Parser(p.name.text, tuple(found), tuple(units), p.name.span)

    def _names(self, p: ast.Parser) -> dict[str, Span]:
        names: dict[str, Span] = {}
        for s in p.states:
            if s.name.text in names or s.name.text in FINAL:
                self.world.report.add(
                    "E1211",
                    f"the state `{s.name.text}` is declared twice",
                    s.name.span,
                    also=[(names[s.name.text], "declared here first")] if s.name.text in names else [],
                    why="A transition to it could mean either; `accept` and `reject` are there already.",
                    mend="Give one of them another name.",
                )
            names[s.name.text] = s.name.span
        return names

    def _state(self, s: ast.State, names: dict[str, Span], scope: Scope) -> pr.State | None:
        inner = Scope(scope)
        body: list[pr.Stmt] = []
        for statement in s.statements:
            if isinstance(statement, ast.If | ast.Switch):
                self.world.outside("a condition in a parser state", statement.span, "Use `transition select`.")
            else:
                body += self.statement(statement, inner)
        if s.transition is None:
            self.world.outside(
                f"the state `{s.name.text}` without a transition",
                s.name.span,
                "End it in `transition accept;` or another state.",
            )
            return None
        values, cases = self._transition(s.transition, names, inner)
        return pr.State(s.name.text, tuple(body), values, cases, s.name.span)

    def _transition(
        self, t: ast.Transition, names: dict[str, Span], scope: Scope
    ) -> tuple[tuple[pr.Expr, ...], tuple[pr.SelectCase, ...]]:
        if t.state is not None:
            self._leads_to(t.state, names)
            return (), (pr.SelectCase((), t.state.text, t.span),)
        values = [self.value(v, scope) for v in t.values]
        cases = []
        for c in t.cases:
            self._leads_to(c.state, names)
            if None in values:
                continue
            types = tuple(v.type for v in values if v is not None)
            keys = self.keyset(c.keys, types, c.span, scope)
            if keys is not None:
                cases.append(pr.SelectCase(keys, c.state.text, c.span))
        for v, written in zip(values, t.values, strict=True):
            if v is not None and not isinstance(v.type, Bits | Bool):
                self.world.wrong_type(f"`{v.type}` cannot be selected on", written.span, "Name fields of bits.")
                return (), ()
        return tuple(v for v in values if v is not None), tuple(cases)

    def _leads_to(self, state: ast.Ident, names: dict[str, Span]) -> None:
        if state.text not in names and state.text not in FINAL:
            self.world.unknown("state", state.text, state.span, [*names, *FINAL])
