"""Parsers: states to the unrolled parse graph, and all its parse classes (LANGUAGE.md L4.7 to L4.14)."""

from __future__ import annotations

from dataclasses import dataclass, replace

from polysome.ir import program as ir
from polysome.ir import types as t
from polysome.semantics import hints
from polysome.semantics.context import Shared
from polysome.semantics.expressions import Expressions
from polysome.semantics.headers import header, own_fields
from polysome.semantics.parser_paths import check_progress, check_reads
from polysome.semantics.scope import NfScope, duplicate
from polysome.syntax import ast
from polysome.syntax.diagnostics import one_of
from polysome.syntax.spans import Span

ACCEPT = -1
MOST_CLASSES = 4096


@dataclass(frozen=True)
class _Place:
    """A state with the number of places taken in every stack: one node of the unrolled graph."""

    state: str
    taken: tuple[tuple[str, int], ...]


class ParserBuilder:
    """Builds the parse graph of one parser with the hooks of the NF's file."""

    def __init__(self, shared: Shared, scope: NfScope, decl: ast.ParserDecl, hooks: list[ast.Hook]) -> None:
        self.shared, self.scope, self.decl, self.hooks = shared, scope, decl, hooks
        self.report = shared.report
        self.states: dict[str, ast.ParserState] = {}
        for state in decl.states:
            if state.name.text in self.states:
                duplicate(self.report, state.name, self.states[state.name.text].name.span)
            self.states[state.name.text] = state
        self.instances: list[ir.Instance] = []
        self.numbers: dict[str, int] = {}
        self.spans: dict[str, Span] = {}
        self.places: dict[_Place, int] = {}
        self.todo: list[_Place] = []
        self.nodes: dict[int, ir.ParseNode] = {}
        # What patterns match is the same in every node that comes of a state.
        self.matches: dict[tuple[int, tuple[t.Type, ...]], ir.Match] = {}

    def build(self) -> ir.Parser:
        """The parser; `shared.parser` is set to it on the way, so that values can read headers."""
        if "start" not in self.states:
            self.report.add(
                "E0412",
                f"parser `{self.decl.name.text}` has no state `start`",
                self.decl.name.span,
                why="Parsing begins there.",
                mend="Rename the first state to `start`.",
            )
        self._collect_instances()
        for hook in self.hooks:
            if hook.after.text not in (*self.numbers, *(name.rpartition("[")[0] for name in self.numbers)):
                self._no_header(hook.after)
        groups = self._groups()
        nowhere = (0,) * len(self.instances)
        empty = ir.Parser(self.decl.name.text, tuple(self.instances), (), (), nowhere, groups, {})
        self.shared.parser = empty
        if "start" in self.states:
            self._unroll()
            check_progress(self.nodes, lambda state: self.states[state].name.span, self.report)
        parser = self._with_classes(replace(empty, nodes=tuple(self.nodes[i] for i in sorted(self.nodes))))
        self.shared.parser = parser
        return self._with_values(parser)

    # ------------------------------------------------------------ instances

    def _collect_instances(self) -> None:
        for state in self.decl.states:
            e = state.extract
            if e is not None:
                names = (
                    [f"{e.instance.text}[{i}]" for i in range(e.instance.stack)]
                    if e.instance.stack
                    else [e.instance.text]
                )
                for name in names:
                    self._instance(name, e.header, e.cut, e.span)
        for hook in self.hooks:
            self._instance(hook.instance.text, hook.header, None, hook.span)

    def _instance(self, name: str, header_name: ast.Ident, cut: int | None, span: Span) -> None:
        layout = header(self.shared, self.scope, header_name)
        if layout is None:
            return
        if name in self.numbers:
            if self.instances[self.numbers[name]].header.name != layout.name:
                self.report.add(
                    "E0413",
                    f"`{name}` names two different headers",
                    span,
                    also=[(self.spans[name], "first named here")],
                    why="A header name means one type of header on every path.",
                    mend="Give one of them another name with `as`.",
                )
            return
        number = len(self.instances)
        self.numbers[name] = number
        self.spans[name] = span
        own = replace(
            layout,
            size=own_fields(layout.size, number),
            valid=own_fields(layout.valid, number),
            end=own_fields(layout.end, number),
        )
        self.instances.append(ir.Instance(name, own, cut))

    def _groups(self) -> dict[str, tuple[int, ...]]:
        groups = {}
        for group in self.decl.groups:
            members = []
            for member in group.members:
                if member.text in self.numbers:
                    members.append(self.numbers[member.text])
                else:
                    self._no_header(member)
            groups[group.name] = tuple(members)
        return groups

    def _no_header(self, name: ast.Instance) -> None:
        self.report.add(
            "E0401",
            f"the parser has no header `{name.text}`",
            name.span,
            why="Header names are fixed by the parser's `extract`s.",
            mend=hints.mend_header(name.text, self.numbers),
        )

    # ------------------------------------------------------------ the graph

    def _unroll(self) -> None:
        self._node(_Place("start", ()))
        while self.todo:
            place = self.todo.pop()
            self.nodes[self.places[place]] = self._build_node(place)

    def _node(self, place: _Place) -> int:
        """The number of a place's node; ACCEPT if its stack is full."""
        e = self.states[place.state].extract
        if e is not None and e.instance.stack and dict(place.taken).get(e.instance.text, 0) >= e.instance.stack:
            return ACCEPT
        if place not in self.places:
            self.places[place] = len(self.places)
            self.todo.append(place)
        return self.places[place]

    def _build_node(self, place: _Place) -> ir.ParseNode:
        state = self.states[place.state]
        taken = dict(place.taken)
        instance: int | None = None
        if state.extract is not None:
            name = state.extract.instance.text
            if state.extract.instance.stack:
                taken[name] = taken.get(name, 0) + 1
                instance = self.numbers.get(f"{name}[{taken[name] - 1}]")
            else:
                instance = self.numbers.get(name)
        after = tuple(sorted(taken.items()))
        keys, cases = self._transition(state, after)
        hooks = self._hooks(instance, after)
        return ir.ParseNode(place.state, instance, keys, cases, hooks)

    def _select_context(self, taken: tuple[tuple[str, int], ...]) -> Expressions:
        x = Expressions(self.shared, self.scope, frozenset(("packet", "select")))
        x.mask = 0  # a select runs where its headers were extracted
        x.stack_tops = {name: count - 1 for name, count in taken}
        return x

    def _transition(
        self, state: ast.ParserState, taken: tuple[tuple[str, int], ...]
    ) -> tuple[tuple[ir.Expr, ...], tuple[ir.ParseCase, ...]]:
        match state.transition:
            case None:
                return (), ()
            case ast.Goto(_, target):
                return (), (ir.ParseCase((ir.Match(()),), self._target(target, taken)),)
            case ast.Select(_, key, cases):
                x = self._select_context(taken)
                nodes = key.items if isinstance(key, ast.TupleExpr) else (key,)
                keys = tuple(x.value(n) for n in nodes)
                types = tuple(k.type for k in keys)
                found = tuple(
                    ir.ParseCase(
                        tuple(self._match(x, p, types) for p in case.patterns), self._target(case.target, taken)
                    )
                    for case in cases
                )
                return keys, found

    def _target(self, name: ast.Ident, taken: tuple[tuple[str, int], ...]) -> int:
        if name.text == "accept":
            return ACCEPT
        if name.text not in self.states:
            self.report.add(
                "E0414",
                f"the parser has no state `{name.text}`",
                name.span,
                why="`goto` and `select` name states of the same parser, or `accept`.",
                mend=one_of(name.text, [*self.states, "accept"]),
            )
            return ACCEPT
        return self._node(_Place(name.text, taken))

    def _match(self, x: Expressions, pattern: ast.Pattern, keys: tuple[t.Type, ...]) -> ir.Match:
        """What a pattern, one of the tree that the builder holds, matches in keys of these types."""
        asked = id(pattern), keys
        if asked not in self.matches:
            self.matches[asked] = self._new_match(x, pattern, keys)
        return self.matches[asked]

    def _new_match(self, x: Expressions, pattern: ast.Pattern, keys: tuple[t.Type, ...]) -> ir.Match:
        if isinstance(pattern, ast.AnyPattern):
            return ir.Match((None,) * len(keys))
        parts = pattern.items if isinstance(pattern, ast.TuplePattern) else (pattern,)
        if len(parts) != len(keys):
            self.report.add(
                "E0415",
                f"the pattern has {len(parts)} part{'s' if len(parts) != 1 else ''}, the `select` {len(keys)}",
                pattern.span,
                why="A pattern says something about every key; `_` is anything.",
                mend=f"Write {len(keys)} part{'s' if len(keys) != 1 else ''}"
                + (f", for example `({', '.join('_' * len(keys))})`." if len(keys) > 1 else "."),
            )
            return ir.Match((None,) * len(keys))
        return ir.Match(tuple(self._range(x, p, k) for p, k in zip(parts, keys, strict=True)))

    def _range(self, x: Expressions, pattern: ast.Pattern, type: t.Type) -> tuple[int, int] | None:
        if not isinstance(pattern, ast.ValuePattern):
            return None
        low = x.constant(pattern.low, type)
        if pattern.high is None:
            return (low, low) if low is not None else None
        high = x.constant(pattern.high, type)
        return (low, high - 1) if low is not None and high is not None else None

    def _hooks(
        self, instance: int | None, taken: tuple[tuple[str, int], ...]
    ) -> tuple[tuple[ir.Expr | None, int], ...]:
        if instance is None:
            return ()
        found = []
        for hook in self.hooks:
            if hook.after.text in (self.instances[instance].name, self.instances[instance].name.rpartition("[")[0]):
                x = self._select_context(taken)
                condition = x.expr(hook.when, t.BOOL) if hook.when is not None else None
                found.append((condition, self._hook_node(hook, taken)))
        return tuple(found)

    def _hook_node(self, hook: ast.Hook, taken: tuple[tuple[str, int], ...]) -> int:
        name = f"parse {hook.instance.text}"
        self.states.setdefault(
            name,
            ast.ParserState(
                hook.span, ast.Ident(hook.span, name), ast.Extract(hook.span, hook.header, hook.instance, None), None
            ),
        )
        return self._node(_Place(name, taken))

    # ------------------------------------------------------------ classes and values

    def _with_classes(self, parser: ir.Parser) -> ir.Parser:
        """Every sequence of instances that a walk can leave behind, also where an extract fails."""
        classes: dict[tuple[int, ...], None] = {(): None}
        seen: set[tuple[int, tuple[int, ...]]] = set()
        arrivals: dict[int, set[tuple[int, ...]]] = {}
        work: list[tuple[int, tuple[int, ...]]] = [(0, ())] if parser.nodes else []
        while work and len(classes) <= MOST_CLASSES:
            number, path = work.pop()
            if number == ACCEPT or (number, path) in seen:
                continue
            seen.add((number, path))
            node = parser.nodes[number]
            if node.instance is not None:
                if node.instance in path:
                    self._twice(node)
                    continue
                path = (*path, node.instance)
                classes[path] = None
            arrivals.setdefault(number, set()).add(path)
            targets = [target for _, target in node.hooks] + [c.target for c in node.cases]
            work += [(target, path) for target in reversed(targets)]
        if len(classes) > MOST_CLASSES:
            self.report.add(
                "E0416",
                f"parser `{parser.name}` has more than {MOST_CLASSES} parse classes",
                self.decl.name.span,
                why="Every sequence of headers is a class of its own; a switch could not hold so many.",
                mend="Make stacks shallower, or parse less.",
            )
        having = [0] * len(parser.instances)
        for c, path in enumerate(classes):
            for instance in path:
                having[instance] |= 1 << c
        parser = replace(parser, classes=tuple(classes), having=tuple(having))
        check_reads(parser, arrivals, self.report)
        return parser

    def _value_and_class(self, decl: ast.PacketValue, known: bool) -> None:
        name = decl.name
        if known:
            duplicate(self.report, name, next(d.name.span for d in self.decl.values if d.name.text == name.text))
            return
        self.report.add(
            "E0213",
            f"there is no value `{name.text}` before this `class`",
            name.span,
            why="`class v` says what the value v means in the `class` of a schedule.",
            mend=f"Declare `value {name.text}: …` first.",
        )

    def _twice(self, node: ir.ParseNode) -> None:
        assert node.instance is not None
        name = self.instances[node.instance].name
        extract = self.states[node.name].extract
        self.report.add(
            "E0418",
            f"`{name}` may be extracted twice in one packet",
            extract.span if extract is not None else self.decl.name.span,
            why="A name means one header of the packet; a path through the parser comes to this `extract` once more.",
            mend=f"Give one of them another name with `as`, or make it a stack: `extract … as {name}[..4];`.",
        )

    def _with_values(self, parser: ir.Parser) -> ir.Parser:
        values: dict[str, ir.ValueDecl] = {}
        parser = replace(parser, values=values)
        self.shared.parser = parser
        for decl in self.decl.values:
            x = Expressions(self.shared, self.scope, frozenset(("packet",)))
            type = x.types.resolve(decl.type)
            value = x.expr(decl.value, type)
            name = decl.name.text
            if decl.for_class != (name in values):
                self._value_and_class(decl, name in values)
            elif decl.for_class:
                values[name] = replace(values[name], for_class=x.coerce(value, values[name].value.type))
            else:
                values[name] = ir.ValueDecl(name, value, value)
        return parser
