"""Parse tree to AST: types, expressions and statements. Precedence is given here (LANGUAGE.md L1.7)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from polysome.syntax import ast, literals
from polysome.syntax.diagnostics import Report
from polysome.syntax.spans import Span

# Loose to tight; `not` has a level of its own between `and` and the comparisons.
_LEVEL = {
    "or": 1,
    "and": 2,
    **dict.fromkeys(("==", "!=", "<", "<=", ">", ">=", "in"), 4),
    "|": 5,
    "^": 6,
    "&": 7,
    "<<": 8,
    ">>": 8,
    "++": 9,
    "+": 10,
    "-": 10,
    "*": 11,
    "/": 11,
    "%": 11,
}
_NOT_LEVEL = 3
_COMPARISONS = frozenset(("==", "!=", "<", "<=", ">", ">=", "in"))
_BITWISE = frozenset(("|", "^", "&", "<<", ">>"))
_ARITHMETIC = frozenset(("+", "-", "*", "/", "%"))

Ctx = Any  # ANTLR's contexts are generated without types


class ExpressionBuilder:
    """Builds types, expressions and statements of one file; reports what the grammar cannot say."""

    def __init__(self, file: str, report: Report) -> None:
        self.file = file
        self.report = report
        self._parenthesised_spans: set[Span] = set()

    # ------------------------------------------------------------ places and names

    def span(self, ctx: Ctx) -> Span:
        return Span(self.file, ctx.start.start, (ctx.stop or ctx.start).stop + 1)

    def token(self, token: Any) -> Span:
        return Span(self.file, token.start, token.stop + 1)

    def ident(self, ctx: Ctx) -> ast.Ident:
        return ast.Ident(self.span(ctx), ctx.getText())

    def instance(self, ctx: Ctx) -> ast.Instance:
        """`a.b[1]` as its text; `v[..2]` as `v` with a stack of two."""
        text, stack = ctx.name().getText(), None
        for part in ctx.instancePart():
            if part.member() is not None:
                text += "." + part.member().getText()
            elif part.getChild(1).getText() == "..":
                stack = self._small(part.expr())
            else:
                text += f"[{part.expr().getText()}]"
        return ast.Instance(self.span(ctx), text, stack)

    def _small(self, ctx: Ctx) -> int:
        value = self.expr(ctx)
        if isinstance(value, ast.Number) and 0 < value.value <= 16:
            return value.value
        self.report.add(
            "E0106",
            "the depth of a header stack is a number from 1 to 16",
            self.span(ctx),
            why="Every place of a stack is a header of its own in the parser, and there must be a bound.",
            mend="Write for example `vlan[..2]`.",
        )
        return 1

    # ------------------------------------------------------------ types

    def type(self, ctx: Ctx) -> ast.TypeExpr:
        base = self._base_type(ctx.baseType())
        if ctx.name() is not None:
            return ast.TypeFrom(self.span(ctx), base, self.ident(ctx.name()))
        return base

    def _base_type(self, ctx: Ctx) -> ast.TypeExpr:
        first = ctx.getChild(0).getText()
        if first == "ref" and ctx.getChildCount() == 2:
            return ast.TypeRef(self.span(ctx), self.ident(ctx.name()))
        if first == "(":
            return ast.TypeTuple(self.span(ctx), tuple(self.type(t) for t in ctx.type_()))
        args: tuple[ast.TypeExpr | int, ...] = ()
        if ctx.typeArgs() is not None:
            args = tuple(
                self.type(a.type_()) if a.type_() is not None else self.integer(a) for a in ctx.typeArgs().typeArg()
            )
        values = [self.expr(e) for e in ctx.expr()]
        size = values.pop() if ctx.getChild(ctx.getChildCount() - 1).getText() == "]" else None
        return ast.TypeName(self.span(ctx), ctx.name().getText(), args, tuple(values), size)

    def typed_names(self, ctxs: list[Ctx]) -> tuple[ast.TypedName, ...]:
        return tuple(ast.TypedName(self.span(c), self.ident(c.name()), self.type(c.type_())) for c in ctxs)

    # ------------------------------------------------------------ expressions

    def expr(self, ctx: Ctx) -> ast.Expr:
        operands = ctx.operand()
        if len(operands) == 1:
            return self._climb([operands[0]], 0)[0]
        items: list[Ctx] = list(ctx.getChildren())
        return self._climb(items, 0)[0]

    def _climb(self, items: list[Ctx], level: int) -> tuple[ast.Expr, list[Ctx]]:
        """Precedence climbing over [operand, op, operand, …]; `not` reaches over tighter operators."""
        left, items = self._prefixed(items)
        while items:
            op = self._operator(items[0])
            mine = _LEVEL[op]
            if mine < level:
                break
            right, rest = self._climb(items[1:], mine + 1)
            self._check_mix(op, left, right, items[0])
            left = ast.Binary(left.span.to(right.span), op, left, right)
            items = rest
        return left, items

    def _prefixed(self, items: list[Ctx]) -> tuple[ast.Expr, list[Ctx]]:
        operand = items[0]
        prefixes = operand.prefixOp()
        if prefixes and prefixes[0].getText() == "not":
            return self._not(operand, 0, items)
        return self._tight(operand, 0), items[1:]

    def _not(self, operand: Ctx, index: int, items: list[Ctx]) -> tuple[ast.Expr, list[Ctx]]:
        prefixes = operand.prefixOp()
        start = self.span(prefixes[index])
        if index + 1 < len(prefixes) and prefixes[index + 1].getText() == "not":
            inner, rest = self._not(operand, index + 1, items)
        else:
            inner, rest = self._tight(operand, index + 1), items[1:]
            while rest and _LEVEL[self._operator(rest[0])] > _NOT_LEVEL:
                op_ctx = rest[0]
                op = self._operator(op_ctx)
                right, rest = self._climb(rest[1:], _LEVEL[op] + 1)
                self._check_mix(op, inner, right, op_ctx)
                inner = ast.Binary(inner.span.to(right.span), op, inner, right)
        return ast.Unary(start.to(inner.span), "not", inner), rest

    def _tight(self, operand: Ctx, index: int) -> ast.Expr:
        """`~` and `as` bind tighter than every binary operator."""
        prefixes = operand.prefixOp()
        if index < len(prefixes):
            inner = self._tight(operand, index + 1)
            return ast.Unary(self.span(prefixes[index]).to(inner.span), prefixes[index].getText(), inner)
        value = self._postfix(operand.postfix())
        for target in operand.type_():
            value = ast.Cast(value.span.to(self.span(target)), value, self.type(target))
        return value

    def _operator(self, ctx: Ctx) -> str:
        text: str = ctx.getText()
        return text

    def _check_mix(self, op: str, left: ast.Expr, right: ast.Expr, ctx: Ctx) -> None:
        for side in (left, right):
            inner = side.op if isinstance(side, ast.Binary) and not self._parenthesised(side) else None
            if inner is None:
                continue
            if op in _COMPARISONS and inner in _COMPARISONS:
                self._chain_error(ctx)
            elif (
                (op in _COMPARISONS and inner in _BITWISE)
                or ((op in _BITWISE) != (inner in _BITWISE) and (op in _ARITHMETIC or inner in _ARITHMETIC))
                or (op in _BITWISE and inner in _BITWISE and op != inner)
            ):
                self._mix_error(
                    ctx,
                    op,
                    inner,
                    "C, Go and Python disagree about which binds tighter",
                    "Add parentheses around one of them.",
                )

    def _chain_error(self, ctx: Ctx) -> None:
        self.report.add(
            "E0107",
            "comparisons do not chain",
            self.span(ctx),
            why="`a == b == c` would compare c with true or false.",
            mend="Join two comparisons with `and`: `a == b and b == c`.",
        )

    def _mix_error(self, ctx: Ctx, op: str, inner: str, why: str, mend: str) -> None:
        self.report.add(
            "E0107", f"`{inner}` and `{op}` need parentheses between them", self.span(ctx), why=why + ".", mend=mend
        )

    def _parenthesised(self, node: ast.Expr) -> bool:
        return node.span in self._parenthesised_spans

    def _postfix(self, ctx: Ctx) -> ast.Expr:
        value = self._primary(ctx.primary())
        for suffix in ctx.suffix():
            value = self._suffix(value, suffix)
        return value

    def _suffix(self, base: ast.Expr, ctx: Ctx) -> ast.Expr:
        span = base.span.to(self.span(ctx))
        opening = ctx.getChild(0).getText()
        if opening == ".":
            last = ctx.getChild(1)
            place = self.token(last.symbol) if ctx.member() is None else self.span(last)
            return ast.Member(span, base, ast.Ident(place, last.getText()))
        if opening == "(":
            return ast.Call(span, base, tuple(self._argument(a) for a in ctx.argument()))
        parts = [self.expr(e) for e in ctx.expr()]
        if len(parts) == 1:
            return ast.Index(span, base, parts[0])
        if ctx.getChild(2).getText() == "..":
            return ast.Range(span, base, parts[0], parts[1])
        return ast.BitSlice(span, base, parts[0], parts[1])

    def _argument(self, ctx: Ctx) -> ast.Argument:
        name = self.ident(ctx.name()) if ctx.name() is not None else None
        parts: dict[str, ast.Expr] = {}
        role = "value"
        for child in list(ctx.getChildren())[2 if name else 0 :]:
            text = child.getText()
            if text in ("..", "where", ":") and child.getChildCount() == 0:
                role = text
            else:
                parts[role] = self.expr(child)
        return ast.Argument(self.span(ctx), name, parts["value"], parts.get(".."), parts.get("where"), parts.get(":"))

    def _primary(self, ctx: Ctx) -> ast.Expr:
        if ctx.literal() is not None:
            return self._literal(ctx.literal())
        if ctx.ifExpression() is not None:
            return self._if_expression(ctx.ifExpression())
        opening = ctx.getChild(0).getText()
        if opening in ("exists", "forall") and len(ctx.expr()) == 2:
            domain, where = (self.expr(e) for e in ctx.expr())
            return ast.Quantified(self.span(ctx), opening, self.ident(ctx.name()), domain, where)
        if ctx.name() is not None:
            name = self.ident(ctx.name())
            if ctx.structBody() is None:
                return ast.Name(name.span, name.text)
            return ast.StructExpr(self.span(ctx), name, self.inits(ctx.structBody().fieldInit()))
        items = tuple(self.expr(e) for e in ctx.expr())
        if opening == "{":
            return ast.SetExpr(self.span(ctx), items)
        if len(items) > 1:
            return ast.TupleExpr(self.span(ctx), items)
        return self._with_parentheses(items[0], self.span(ctx))

    def _with_parentheses(self, value: ast.Expr, span: Span) -> ast.Expr:
        """The same node, its span widened to the parentheses, remembered as parenthesised."""
        self._parenthesised_spans.add(span)
        return replace(value, span=span)

    def inits(self, ctxs: list[Ctx]) -> tuple[ast.FieldInit, ...]:
        return tuple(ast.FieldInit(self.span(c), self.ident(c.name()), self.expr(c.expr())) for c in ctxs)

    def _literal(self, ctx: Ctx) -> ast.Expr:
        text, span = ctx.getText(), self.span(ctx)
        if ctx.QUANTITY() is not None:
            return literals.number(text, span, self.report)
        if ctx.STRING() is not None:
            return self.text(ctx.STRING())
        for kind, token in (("ipv4", ctx.IPV4()), ("ipv6", ctx.IPV6()), ("mac", ctx.MAC())):
            if token is not None:
                return literals.address(kind, text, span, self.report)
        if ctx.PREFIX4() is not None or ctx.PREFIX6() is not None:
            return literals.address("prefix", text, span, self.report)
        if text in ("true", "false"):
            return ast.BoolLiteral(span, text == "true")
        return ast.Number(span, self.integer(ctx), "")

    def integer(self, ctx: Ctx) -> int:
        return literals.integer(ctx.getText(), self.span(ctx), self.report)

    def text(self, token: Any) -> ast.Text:
        raw = token.getText()[1:-1]
        return ast.Text(self.token(token.symbol), re.sub(r"\\(.)", r"\1", raw))

    def _if_expression(self, ctx: Ctx) -> ast.IfExpr:
        condition = self.expr(ctx.expr())
        self._no_struct_in_head(condition)
        blocks = ctx.block() if isinstance(ctx.block(), list) else [ctx.block()]
        nested = ctx.ifExpression()
        orelse = self._if_as_block(self._if_expression(nested)) if nested is not None else self.block(blocks[1])
        return ast.IfExpr(self.span(ctx), ast.Condition(condition.span, None, condition), self.block(blocks[0]), orelse)

    def _if_as_block(self, inner: ast.IfExpr) -> ast.Block:
        """`else if …` as a block that holds just that `if`."""
        if _has_value(inner):
            return ast.Block(inner.span, (), inner)
        return ast.Block(inner.span, (inner,), None)

    def _no_struct_in_head(self, value: ast.Expr) -> None:
        for literal in self._open_structs(value):
            self.report.add(
                "E0108",
                "a struct literal in the head of an `if` or `for` needs parentheses",
                literal.span,
                why="The `{` would read like the beginning of the block.",
                mend="Put the literal into parentheses, or bind it with `let` before.",
            )

    def _open_structs(self, value: ast.Expr) -> Iterator[ast.StructExpr]:
        """The struct literals in an expression that stand in no parentheses, brackets or braces of it."""
        if self._parenthesised(value):
            return
        match value:
            case ast.StructExpr():
                yield value
            case ast.Binary(left=left, right=right):
                yield from self._open_structs(left)
                yield from self._open_structs(right)
            case ast.Unary(operand=inner) | ast.Cast(value=inner):
                yield from self._open_structs(inner)
            case ast.Member(base=inner) | ast.Index(base=inner) | ast.Range(base=inner) | ast.BitSlice(base=inner):
                yield from self._open_structs(inner)

    # ------------------------------------------------------------ statements

    def block(self, ctx: Ctx) -> ast.Block:
        """Statements, and the block's value if the last one is an expression without semicolon."""
        statements = [self.statement(s) for s in ctx.statement()]
        value: ast.Expr | None = None
        for i, (child, node) in enumerate(zip(ctx.statement(), statements, strict=True)):
            bare = child.expressionStatement()
            if bare is None or bare.getChild(bare.getChildCount() - 1).getText() == ";":
                continue
            if i == len(statements) - 1 and isinstance(node, ast.ExprStatement):
                value = node.value
            else:
                self.report.add(
                    "E0102",
                    "a `;` is missing",
                    Span(self.file, node.span.end - 1, node.span.end),
                    label="after this",
                    why="Statements end in `;`; only the value at the end of a block stands without.",
                    mend="Add `;`.",
                )
        if value is not None:
            statements.pop()
        elif statements and isinstance(statements[-1], ast.IfExpr) and _has_value(statements[-1]):
            value = statements.pop()  # type: ignore[assignment]
        return ast.Block(self.span(ctx), tuple(statements), value)

    def statement(self, ctx: Ctx) -> ast.Statement:
        inner, span = ctx.getChild(0), self.span(ctx)
        kind = type(inner).__name__.removesuffix("Context")
        match kind:
            case "LetStatement":
                return ast.Let(
                    span, self.binding(inner.binding()), self.expr(inner.expr()), self.else_arm(inner.elseArm())
                )
            case "IfStatement":
                return self.if_statement(inner)
            case "ForStatement":
                return self._for(inner, span)
            case "RequireStatement":
                return ast.Require(span, self.expr(inner.expr()), self.else_arm(inner.elseArm()))
            case "Verdict":
                return self.verdict(inner)
            case "EmitStatement":
                return self._emit(inner, span)
            case "PushStatement":
                return ast.Push(span, self._header_literal(inner.headerLiteral()), self.instance(inner.instance()))
            case "PopStatement":
                instances = [self.instance(i) for i in inner.instance()]
                return ast.Pop(span, instances[0], instances[-1])
            case "TruncateStatement":
                return ast.Truncate(span, self.expr(inner.expr()))
            case "RemoveStatement":
                return ast.Remove(span, self.expr(inner.expr()))
            case _:
                return self._expression_statement(inner, span)

    def binding(self, ctx: Ctx) -> ast.Binding:
        names = ctx.name() if isinstance(ctx.name(), list) else [ctx.name()]
        typed = self.type(ctx.type_()) if ctx.type_() is not None else None
        return ast.Binding(self.span(ctx), tuple(self.ident(n) for n in names), typed, ctx.getChild(0).getText() == "(")

    def else_arm(self, ctx: Ctx | None) -> ast.ElseArm | None:
        if ctx is None:
            return None
        if ctx.block() is not None:
            return self.block(ctx.block())
        if ctx.verdict() is not None:
            return self.verdict(ctx.verdict())
        return ast.ElseValue(self.span(ctx), self.expr(ctx.expr()))

    def verdict(self, ctx: Ctx) -> ast.Send | ast.Bounce | ast.Drop:
        span, word = self.span(ctx), ctx.getChild(0).getText()
        if word == "send":
            return ast.Send(span, self.expr(ctx.expr()))
        if word == "bounce":
            return ast.Bounce(span)
        if ctx.STRING() is None:
            self.report.add(
                "E0109",
                "`drop` needs a reason",
                span,
                why="Every drop is counted under its reason; this is how an operator finds out why packets vanish.",
                mend='Write for example `drop "not for us"`.',
            )
            return ast.Drop(span, None)
        return ast.Drop(span, self.text(ctx.STRING()))

    def if_statement(self, ctx: Ctx) -> ast.IfExpr:
        head = ctx.condition()
        value = self.expr(head.expr())
        self._no_struct_in_head(value)
        binding = self.binding(head.binding()) if head.binding() is not None else None
        orelse: ast.Block | None = None
        blocks = ctx.block()
        if ctx.ifStatement() is not None:
            orelse = self._if_as_block(self.if_statement(ctx.ifStatement()))
        elif len(blocks) == 2:
            orelse = self.block(blocks[1])
        condition = ast.Condition(self.span(head), binding, value)
        return ast.IfExpr(self.span(ctx), condition, self.block(blocks[0]), orelse)

    def _for(self, ctx: Ctx, span: Span) -> ast.For:
        values = [self.expr(e) for e in ctx.expr()]
        for value in values:
            self._no_struct_in_head(value)
        return ast.For(
            span,
            tuple(self.ident(n) for n in ctx.name()),
            values[0],
            values[1] if len(values) > 1 else None,
            self.block(ctx.block()),
        )

    def _emit(self, ctx: Ctx, span: Span) -> ast.Emit:
        values = [self.expr(e) for e in ctx.expr()]
        headers = tuple(self._header_literal(h) for h in ctx.headerLiteral())
        return ast.Emit(span, headers, values[0] if len(values) > 1 else None, values[-1])

    def _header_literal(self, ctx: Ctx) -> ast.HeaderLiteral:
        inits = self.inits(ctx.fieldInits().fieldInit()) if ctx.fieldInits() is not None else ()
        return ast.HeaderLiteral(self.span(ctx), self.ident(ctx.name()), inits)

    def _expression_statement(self, ctx: Ctx, span: Span) -> ast.Statement:
        values = [self.expr(e) for e in ctx.expr()]
        if ctx.assignOp() is None:
            return ast.ExprStatement(span, values[0])
        return ast.Assign(span, values[0], ctx.assignOp().getText(), values[1], self.else_arm(ctx.elseArm()))


def _has_value(node: ast.IfExpr) -> bool:
    """Do both branches end in a value?"""
    return node.then.value is not None and node.orelse is not None and node.orelse.value is not None
