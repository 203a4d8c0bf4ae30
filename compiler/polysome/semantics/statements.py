"""Statements: handlers, actions, verdicts (LANGUAGE.md sections 7 and 9). AST to typed IR; actions are inlined.

`block` and its helpers return the statements and whether every path through them ends the handler.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from polysome.ir import program as ir
from polysome.ir import types as t
from polysome.ir.value_places import behind
from polysome.semantics import assignments, calls, loops, packet_statements, state_access
from polysome.semantics.allowed import may
from polysome.semantics.arguments import arity, values_alone
from polysome.semantics.context import Shared
from polysome.semantics.expressions import Expressions
from polysome.semantics.scope import Local, NfScope
from polysome.semantics.state_access import LookupTarget
from polysome.semantics.typed import without_width
from polysome.syntax import ast
from polysome.syntax.spans import Span

Lowered = tuple[list[ir.Statement], bool]


@dataclass
class Target:
    """Where a block's value goes; the first value gives an open type."""

    slot: int
    name: str
    type: t.Type | None


class Statements(Expressions):
    """Lowers the statements of one handler. `packet` says whether there is one, and so a verdict is due."""

    def __init__(self, shared: Shared, scope: NfScope, packet: bool) -> None:
        allowed = {"state", "write", "config", "now"} | ({"packet"} if packet else set())
        super().__init__(shared, scope, frozenset(allowed))
        self.packet = packet
        self._inlining: list[str] = []

    # ------------------------------------------------------------ blocks

    def block(self, node: ast.Block, into: Target | None = None) -> Lowered:
        """A block in a scope of its own; its value, if wanted, goes into `into`."""
        self.locals.append({})
        body, ended = self._statements(node.statements)
        if node.value is not None and not ended:
            more, ended = self._block_value(node.value, into)
            body += more
        elif into is not None and not ended:
            self.report.add(
                "E0326",
                "this block must end in a value",
                Span(node.span.file, node.span.end - 1, node.span.end),
                label="the value is missing before this",
                why="What it yields is used; only a block that ends the handler needs no value.",
                mend="End it with an expression without semicolon, or with a verdict.",
            )
        self.locals.pop()
        return body, ended

    def _statements(self, nodes: tuple[ast.Statement, ...]) -> Lowered:
        body: list[ir.Statement] = []
        for i, node in enumerate(nodes):
            more, ended = self.statement(node)
            body += more
            if ended:
                if i + 1 < len(nodes):
                    self._unreachable(nodes[i + 1], node)
                return body, True
        return body, False

    def _unreachable(self, node: ast.Statement, after: ast.Statement) -> None:
        self.report.add(
            "E0601",
            "this is never reached",
            node.span,
            also=[(after.span, "every path ends here")],
            why="A verdict ends the handler.",
            mend="Remove it, or move it before the verdict.",
        )

    def _block_value(self, node: ast.Expr, into: Target | None) -> Lowered:
        if into is not None:
            return self.value_into(node, into)
        if isinstance(node, ast.IfExpr):
            return self._if(node)
        if isinstance(node, ast.Call):
            return self._expression(ast.ExprStatement(node.span, node))
        self.report.add(
            "E0327",
            "this value goes nowhere",
            node.span,
            why="Only a block whose value is used ends in an expression.",
            mend="Remove it, or add `;` if it is a call.",
        )
        return [], False

    def value_into(self, node: ast.Expr, into: Target) -> Lowered:
        """Statements that compute the value into the target's slot."""
        if isinstance(node, ast.IfExpr):
            return self._if(node, into)
        value = self.typed(node, into.type)
        if isinstance(into.type, (t.Ref, t.FromPool)) and (value.type == t.LITERAL or value.type == behind(into.type)):
            into.type = behind(into.type)  # the lookup's row or owned value is then read
            value = self.coerce(value, into.type)
        elif into.type is not None:
            value = self.coerce(value, into.type)
        if into.type is None:
            value = self.value(node) if without_width(value) is not None else value
            into.type = value.type
        return [ir.SetLocal(node.span, into.slot, into.name, value)], False

    # ------------------------------------------------------------ statements

    def statement(self, node: ast.Statement) -> Lowered:
        match node:
            case ast.Let():
                return self._let(node)
            case ast.Assign():
                return self._assign(node), False
            case ast.ExprStatement():
                return self._expression(node)
            case ast.IfExpr():
                return self._if(node)
            case ast.For():
                return self._for(node)
            case ast.Require():
                return self._require(node)
            case ast.Send() | ast.Bounce() | ast.Drop():
                return packet_statements.verdict(self, node, self.packet), True
            case ast.Remove():
                return assignments.remove(self, node), False
            case ast.Emit():
                return packet_statements.emit(self, node), False
            case _:
                if not self.packet:
                    may(self, "packet", node.span, type(node).__name__.lower())
                    return [], False
                return packet_statements.edit(self, node), False

    def _assign(self, node: ast.Assign) -> list[ir.Statement]:
        """`target op= value`, the value possibly a lookup with `else`."""
        lookup = state_access.lookup(self, node.value) if node.op == "=" else None
        if lookup is None:
            before = len(self.report.errors)
            stored = assignments.store(self, node, node.value)
            if node.orelse is not None and len(self.report.errors) == before:
                self.else_without_lookup(node.value.span, node.orelse.span)
            return stored
        body, into = self.lookup_into(node.span, "value", node.value.span, lookup, node.orelse)
        found = ir.Local(node.value.span, into.type or t.WRONG, into.slot, into.name)
        return body + assignments.store(self, node, found)

    def _let(self, node: ast.Let) -> Lowered:
        target = state_access.lookup(self, node.value)
        if target is not None:
            return self._let_lookup(node, target)
        if isinstance(node.value, ast.IfExpr):
            if node.orelse is not None:
                self.else_without_lookup(node.value.span, node.orelse.span)
            into = Target(
                self.shared.slot(),
                node.binding.names[0].text,
                self.types.resolve(node.binding.type) if node.binding.type else None,
            )
            body, ended = self._if(node.value, into)
            if node.binding.tuple:
                return body + self._take_apart(node.binding, into.slot, into.type or t.WRONG), ended
            self._bind_slot(node.binding, into.slot, into.type or t.WRONG)
            return body, ended
        value = self.let_value(node)
        if node.orelse is not None and value.type != t.WRONG:
            self.else_without_lookup(node.value.span, node.orelse.span)
        return self._bind_value(node.binding, value, node.span), False

    def _bind_value(self, binding: ast.Binding, value: ir.Expr, span: Span) -> list[ir.Statement]:
        """`let x = value` or `let (a, b) = value`."""
        if not binding.tuple:
            slot = self.bind(binding.names[0], value.type)
            return [ir.SetLocal(span, slot, binding.names[0].text, value)]
        slot = self.shared.slot()
        body: list[ir.Statement] = [ir.SetLocal(span, slot, "tuple", value)]
        return body + self._take_apart(binding, slot, value.type)

    def _take_apart(self, binding: ast.Binding, slot: int, type: t.Type) -> list[ir.Statement]:
        if not isinstance(type, t.Tuple) or len(type.items) != len(binding.names):
            if type != t.WRONG:
                self.report.add(
                    "E0328",
                    f"{type} cannot be taken apart into {len(binding.names)} names",
                    binding.span,
                    why="`let (a, b) = …` takes a tuple of as many members.",
                    mend="Use one name, and its members.",
                )
            for name in binding.names:
                self.bind(name, t.WRONG)
            return []
        return [
            ir.SetLocal(
                name.span,
                self.bind(name, item),
                name.text,
                ir.Get(name.span, item, ir.Local(name.span, type, slot, "tuple"), i),
            )
            for i, (name, item) in enumerate(zip(binding.names, type.items, strict=True))
        ]

    def _bind_slot(self, binding: ast.Binding, slot: int, type: t.Type) -> None:
        name = binding.names[0]
        if self.bind(name, type) != slot:
            self.locals[-1][name.text] = Local(slot, type, name.span)

    def _let_lookup(self, node: ast.Let, target: LookupTarget) -> Lowered:
        body, into = self.lookup_into(node.span, node.binding.names[0].text, node.value.span, target, node.orelse)
        assert into.type is not None
        self._check_written(node.binding, into.type, node.value.span)
        if node.binding.tuple:
            body += self._take_apart(node.binding, into.slot, into.type)
        else:
            self._bind_slot(node.binding, into.slot, into.type)
        return body, False

    def lookup_into(
        self, span: Span, name: str, place: Span, target: LookupTarget, orelse: ast.ElseArm | None
    ) -> tuple[list[ir.Statement], Target]:
        """A lookup with its `else`, and where the value is then: the row's own one if `else` yields a plain value."""
        into, before = Target(self.shared.slot(), name, target.type), self.mask
        absent, _ = self.else_arm(orelse, into, place, target)
        found: ir.Body = ()
        if into.type is not None and into.type != target.type and target.type != t.WRONG:
            self.mask = before  # once more: an earlier branch of `else` may have yielded a row
            absent, _ = self.else_arm(orelse, into, place, target)
            row = ir.Local(span, target.type, into.slot, name)
            found = (ir.SetLocal(span, into.slot, name, ir.Deref(span, into.type, row)),)
        return [self.lookup_node(span, target, into.slot, name, found, tuple(absent))], into

    def _check_written(self, binding: ast.Binding, type: t.Type, span: Span) -> None:
        """The type written beside the name must be that of what is found, or of the row or value it stands for."""
        if binding.type is not None:
            written = self.types.resolve(binding.type)
            plain = behind(type) if isinstance(type, (t.Ref, t.FromPool)) else type
            if written not in (type, plain):
                self.coerce(ir.Local(span, plain, -1, ""), written)

    def lookup_node(
        self, span: Span, target: LookupTarget, slot: int, name: str, found: ir.Body, absent: ir.Body
    ) -> ir.Lookup:
        return ir.Lookup(
            span, target.kind, target.source, target.key, slot, name, found, absent, target.index, target.refresh
        )

    def else_arm(self, arm: ast.ElseArm | None, into: Target, span: Span, target: LookupTarget) -> Lowered:
        """What happens if a lookup finds nothing; the parse classes of both ways meet again."""
        if arm is None:
            mend = 'Add `else …`: a value, a block, or a verdict such as `drop "unknown"`.'
            state_access.may_find_nothing(self, span, target, mend)
            return [], False
        before = self.mask
        body, ended = self._arm(arm, into)
        self.mask = before if ended else before | self.mask
        return body, ended

    def _arm(self, arm: ast.ElseArm, into: Target | None) -> Lowered:
        match arm:
            case ast.Block():
                return self.block(arm, into)
            case ast.ElseValue(_, value):
                if into is None:
                    self.report.add(
                        "E0329",
                        "a verdict was expected after `else`",
                        value.span,
                        why="`require` ends the handler unless its condition holds.",
                        mend='Write for example `else drop "…"`.',
                    )
                    self.typed(value, None)
                    return [], True
                return self.value_into(value, into)
            case _:
                return packet_statements.verdict(self, arm, self.packet), True

    def else_without_lookup(self, span: Span, arm: Span) -> None:
        self.report.add(
            "E0507",
            "this is no lookup, so `else` has no meaning here",
            span,
            also=[(arm, "never used")],
            why="`else` after a value says what happens if a map, index, table or pool has nothing.",
            mend="Remove `else`, or write `if … { … } else { … }`.",
        )

    def _if(self, node: ast.IfExpr, into: Target | None = None) -> Lowered:
        if node.condition.binding is not None:
            return self._if_let(node, into)
        condition = self.expr(node.condition.value, t.BOOL)
        yes, no = self.split(condition, self.mask)
        then, then_ended, after_then = self._branch(node.then, yes, into)
        orelse, else_ended, after_else = self._branch(node.orelse, no, into)
        self.mask = after_then | after_else
        if into is not None and node.orelse is None:
            self._no_else(node)
        return [ir.If(node.span, condition, tuple(then), tuple(orelse))], then_ended and else_ended

    def _no_else(self, node: ast.IfExpr) -> None:
        self.report.add(
            "E0311",
            "this `if` has no value on every path",
            node.span,
            why="As a value, an `if` needs both branches.",
            mend="Add `else { … }`.",
        )

    def _branch(self, block: ast.Block | None, mask: int, into: Target | None) -> tuple[list[ir.Statement], bool, int]:
        self.mask = mask
        if block is None:
            return [], False, mask
        body, ended = self.block(block, into)
        return body, ended, 0 if ended else self.mask

    def _if_let(self, node: ast.IfExpr, into: Target | None) -> Lowered:
        binding = node.condition.binding
        assert binding is not None
        target = state_access.lookup(self, node.condition.value)
        if target is None:
            value = self.value(node.condition.value)
            if value.type != t.WRONG:
                self.report.add(
                    "E0507",
                    "this is no lookup, so `if let` has no meaning here",
                    value.span,
                    why="`if let v = …` asks whether a map, index, table or pool has something, and binds it.",
                    mend="Bind it with `let` before, and test it with `if`.",
                )
            target = LookupTarget("map", "", None, t.WRONG)
        self._check_written(binding, target.type, node.condition.value.span)
        slot, before = self.shared.slot(), self.mask
        self.locals.append({})
        found: list[ir.Statement] = []
        if binding.tuple:
            found += self._take_apart(binding, slot, target.type)
        else:
            self._bind_slot(binding, slot, target.type)
        then, then_ended, after_then = self._branch(node.then, before, into)
        self.locals.pop()
        orelse, else_ended, after_else = self._branch(node.orelse, before, into)
        self.mask = after_then | after_else
        if into is not None and node.orelse is None:
            self._no_else(node)
        name = binding.names[0].text
        lookup = self.lookup_node(node.span, target, slot, name, (*found, *then), tuple(orelse))
        return [lookup], then_ended and else_ended

    def _require(self, node: ast.Require) -> Lowered:
        target = state_access.lookup(self, node.condition) if isinstance(node.condition, ast.Index) else None
        if target is not None:
            self.report.add(
                "E0508",
                "`require` needs a condition, not a lookup",
                node.condition.span,
                why="A lookup yields a value or nothing.",
                mend="Test with `k in m`, or bind it: `let v = m[k] else …;`.",
            )
        condition = self.wrong(node.condition.span) if target else self.expr(node.condition, t.BOOL)
        yes, no = self.split(condition, self.mask)
        self.mask = no
        if node.orelse is None:
            arm: list[ir.Statement] = [ir.Drop(node.span, "requirement not met")]
            ended = self.packet
            if not self.packet:
                packet_statements.verdict(self, ast.Drop(node.span, None), self.packet)
        else:
            arm, ended = self._arm(node.orelse, None)
        if not ended:
            self.report.add(
                "E0329",
                "a verdict was expected after `else`",
                node.orelse.span if node.orelse else node.span,
                why="`require` ends the handler unless its condition holds.",
                mend="End the block with a verdict, or use `if`.",
            )
        self.mask = yes
        return [ir.If(node.span, condition, (), tuple(arm))], False

    def _for(self, node: ast.For) -> Lowered:
        with self._loop():
            if node.high is not None:
                low, high = loops.bounds(self, node.domain, node.high)
                if len(node.names) > 1:
                    loops.wrong_names(self, node, (t.U64,), None)
                slot = self.bind(node.names[0], t.U64)
                body, _ = self.block(node.body)
                name = node.names[0].text
                return [ir.ForRange(node.span, slot, name, low, high, tuple(body))], False
            state, table, types = loops.iterated(self, node)
            slots = tuple(self.bind(n, ty) for n, ty in zip(node.names, types, strict=False))
            body, _ = self.block(node.body)
            shown = tuple(n.text for n in node.names)
            return [ir.ForEach(node.span, slots, shown, state, table, tuple(body))], False

    @contextmanager
    def _loop(self) -> Iterator[None]:
        """The body may run or not: the parse classes before it get past it."""
        before = self.mask
        self.locals.append({})
        yield
        self.locals.pop()
        self.mask = before

    def _expression(self, node: ast.ExprStatement) -> Lowered:
        if isinstance(node.value, ast.Call):
            found = calls.action_of(self, node.value)
            if found is not None:
                scope, decl = found
                return self._inline(node.value, scope, decl)
            value = self.typed(node.value, None)
            if isinstance(value, (ir.MethodCall, ir.BucketOp)) or value.type == t.WRONG:
                return [ir.Evaluate(node.span, value)], False
        elif self.typed(node.value, None).type == t.WRONG:
            return [], False
        compares = isinstance(node.value, ast.Binary) and node.value.op == "=="
        self.report.add(
            "E0604",
            "this statement does nothing",
            node.span,
            why="Its value is not used and it changes nothing.",
            mend="To assign, write `=`; to test, write `if` or `require`."
            if compares
            else "Bind it with `let`, or remove it.",
        )
        return [], False

    # ------------------------------------------------------------ actions

    def open_action(self, full: str) -> None:
        """From now on, a call of this action is recursion."""
        self._inlining.append(full)

    def _inline(self, node: ast.Call, scope: NfScope, decl: ast.ActionDecl) -> Lowered:
        """The action's body with its parameters bound, in the scope where it was declared."""
        full = scope.prefix + decl.name.text
        if full in self._inlining:
            self.report.add(
                "E0324",
                f"action `{decl.name.text}` calls itself",
                node.span,
                also=[(decl.name.span, "declared here")],
                why="There is no recursion: actions are inlined.",
                mend="Use a bounded `for`.",
            )
            return [], False
        shown = [p.name.text for p in decl.params]
        if not values_alone(self, decl.name.text, node.args) or not arity(
            self, decl.name.text, len(node.args), shown, node.span, decl.name.span
        ):
            return [], False
        outer_scope, outer_locals, outer_types = self.scope, self.locals, self.types
        inner_types = Expressions(self.shared, scope, self.allowed).types
        values = [self.expr(a.value, inner_types.resolve(p.type)) for a, p in zip(node.args, decl.params, strict=True)]
        self.scope, self.locals, self.types = scope, [{}], inner_types
        self._inlining.append(full)
        self.calls.append(node.span)
        body: list[ir.Statement] = [
            ir.SetLocal(v.span, self.bind(p.name, v.type), p.name.text, v)
            for v, p in zip(values, decl.params, strict=True)
        ]
        more, ended = self.block(decl.body)
        self._inlining.pop()
        self.calls.pop()
        self.scope, self.locals, self.types = outer_scope, outer_locals, outer_types
        return body + more, ended
