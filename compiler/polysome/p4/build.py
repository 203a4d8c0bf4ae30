"""Parse tree to syntax tree."""

from __future__ import annotations

from typing import Any

from polysome.p4 import ast
from polysome.syntax.diagnostics import Report
from polysome.syntax.spans import Span

Ctx = Any  # a node of the generated parser, which has no types


class Builder:
    """Builds the tree of one file, or of a part of it that begins at `first`.

    What does not fit into the tree goes to the report.
    """

    def __init__(self, file: str, report: Report, first: int = 0) -> None:
        self.file, self.report, self.first = file, report, first

    def file_node(self, ctx: Ctx) -> ast.File:
        return ast.File(self.span(ctx), tuple(self.item(item) for item in ctx.item()))

    def span(self, ctx: Ctx) -> Span:
        stop = ctx.stop if ctx.stop is not None else ctx.start
        start = self.first + ctx.start.start
        return Span(self.file, start, max(self.first + stop.stop, start) + 1)

    def _ident(self, ctx: Ctx) -> ast.Ident:
        return ast.Ident(self.span(ctx), ctx.getText())

    def _annotations(self, ctx: Ctx) -> tuple[ast.Annotation, ...]:
        found = []
        for a in ctx.annotation():
            name = a.name().getText() if a.name() is not None else "_"
            found.append(
                ast.Annotation(self.span(a), name, "".join(b.getText() for b in a.annotationBody()).strip('"'))
            )
        return tuple(found)

    # ------------------------------------------------------------ declarations

    def item(self, ctx: Ctx) -> ast.Item:
        span = self.span(ctx)
        match _kind(ctx):
            case "Include":
                return ast.Include(span, ctx.INCLUDE().getText().split("include", 1)[1].strip().strip('<>"'))
            case "ConstDecl":
                return ast.Constant(span, self._type(ctx.type_()), self._ident(ctx.name()), self.expr(ctx.expr()))
            case "TypedefDecl":
                return ast.Typedef(span, self._type(ctx.type_()), self._ident(ctx.name()))
            case "HeaderDecl" | "StructDecl" as kind:
                fields = (ast.Field(self.span(f), self._type(f.type_()), self._ident(f.name())) for f in ctx.field())
                return ast.Composite(span, kind == "HeaderDecl", self._ident(ctx.name()), tuple(fields))
            case "ParserDecl":
                locals_ = tuple(self.local(x) for x in ctx.local())
                states = tuple(self.state(s) for s in ctx.state_())
                return ast.Parser(span, self._ident(ctx.name()), self._params(ctx.params()), locals_, states)
            case "ControlDecl":
                locals_ = tuple(self.local(x) for x in ctx.local())
                body = self.block(ctx.block())
                return ast.Control(span, self._ident(ctx.name()), self._params(ctx.params()), locals_, body)
            case _:
                return self._instance(ctx.instance(), self._annotations(ctx))

    def local(self, ctx: Ctx) -> ast.Local:
        span = self.span(ctx)
        match _kind(ctx):
            case "LocalConst":
                return ast.Variable(span, self._type(ctx.type_()), self._ident(ctx.name()), self.expr(ctx.expr()), True)
            case "LocalVariable":
                value = self.expr(ctx.expr()) if ctx.expr() is not None else None
                return ast.Variable(span, self._type(ctx.type_()), self._ident(ctx.name()), value, False)
            case "ActionDecl":
                params, body = self._params(ctx.params()), self.block(ctx.block())
                return ast.Action(span, self._ident(ctx.name()), params, body, self._annotations(ctx))
            case "TableDecl":
                return self._table(ctx, span)
            case _:
                return self._instance(ctx.instance(), self._annotations(ctx))

    def _instance(self, ctx: Ctx, annotations: tuple[ast.Annotation, ...]) -> ast.Instance:
        methods = []
        for m in ctx.method():
            name = m.name() if m.name() is not None else m.APPLY()
            ident = ast.Ident(self.span(m), name.getText())
            methods.append(ast.Method(self.span(m), ident, self._params(m.params()), self.block(m.block())))
        args = self._args(ctx.args())
        return ast.Instance(
            self.span(ctx), self._type(ctx.type_()), args, self._ident(ctx.name()), tuple(methods), annotations
        )

    def _params(self, ctx: Ctx) -> tuple[ast.Param, ...]:
        found = []
        for p in ctx.param():
            direction = p.direction.text if p.direction is not None else ""
            found.append(ast.Param(self.span(p), direction, self._type(p.type_()), self._ident(p.name())))
        return tuple(found)

    def _table(self, ctx: Ctx, span: Span) -> ast.Table:
        keys: list[ast.Key] = []
        actions: list[ast.Ident] = []
        entries: list[ast.Entry] = []
        properties: list[ast.Property] = []
        for p in ctx.property_():
            match _kind(p):
                case "KeyProperty":
                    for k in p.keyElement():
                        value, kind = self.expr(k.expr()), self._ident(k.name())
                        keys.append(ast.Key(self.span(k), value, kind, self._annotations(k)))
                case "ActionsProperty":
                    actions += [self._ident(a.name()) for a in p.actionRef()]
                case "EntriesProperty":
                    if p.CONST() is None:
                        self.report.add(
                            "E1202",
                            "outside the subset: entries that may change",
                            self.span(p),
                            why="What the controller changes, it also writes; what stands in the program is fixed.",
                            mend="Write `const entries = { … }`.",
                        )
                    entries += [
                        ast.Entry(self.span(e), self._keyset(e.keyset()), self.expr(e.expr())) for e in p.entry()
                    ]
                case _:
                    constant = p.CONST() is not None
                    properties.append(ast.Property(self.span(p), self._ident(p.name()), self.expr(p.expr()), constant))
        name, notes = self._ident(ctx.name()), self._annotations(ctx)
        return ast.Table(span, name, tuple(keys), tuple(actions), tuple(entries), tuple(properties), notes)

    # ------------------------------------------------------------ parser states

    def state(self, ctx: Ctx) -> ast.State:
        transition = self._transition(ctx.transition()) if ctx.transition() is not None else None
        return ast.State(self.span(ctx), self._ident(ctx.name()), self._statements(ctx), transition)

    def _transition(self, ctx: Ctx) -> ast.Transition:
        if ctx.name() is not None:
            return ast.Transition(self.span(ctx), self._ident(ctx.name()), (), ())
        cases = [
            ast.SelectCase(self.span(c), self._keyset(c.keyset()), self._ident(c.name())) for c in ctx.selectCase()
        ]
        return ast.Transition(self.span(ctx), None, self._args(ctx.args()), tuple(cases))

    def _keyset(self, ctx: Ctx) -> tuple[ast.KeyValue, ...]:
        found = []
        for v in ctx.keyValue():
            exprs = [self.expr(e) for e in v.expr()]
            value = exprs[0] if exprs else None
            found.append(ast.KeyValue(self.span(v), value, exprs[1] if len(exprs) > 1 else None))
        return tuple(found)

    # ------------------------------------------------------------ statements

    def block(self, ctx: Ctx) -> ast.Block:
        return ast.Block(self.span(ctx), self._statements(ctx))

    def _statements(self, ctx: Ctx) -> tuple[ast.Statement, ...]:
        return tuple(self._statement(s) for s in ctx.statement() if _kind(s) != "EmptyStatement")

    def _statement(self, ctx: Ctx) -> ast.Statement:
        span = self.span(ctx)
        match _kind(ctx):
            case "BlockStatement":
                return self.block(ctx.block())
            case "IfStatement":
                yes, *no = (self._as_block(s) for s in ctx.statement())
                return ast.If(span, self.expr(ctx.expr()), yes, no[0] if no else None)
            case "SwitchStatement":
                cases = tuple(self._switch_case(c) for c in ctx.switchCase())
                return ast.Switch(span, self.expr(ctx.expr()), cases)
            case "Assignment":
                return ast.Assign(span, self.expr(ctx.expr(0)), self.expr(ctx.expr(1)))
            case "Variable":
                value = self.expr(ctx.expr()) if ctx.expr() is not None else None
                constant = ctx.CONST() is not None
                return ast.Variable(span, self._type(ctx.type_()), self._ident(ctx.name()), value, constant)
            case _:
                return ast.Do(span, self.expr(ctx.expr()))

    def _as_block(self, ctx: Ctx) -> ast.Block:
        found = None if _kind(ctx) == "EmptyStatement" else self._statement(ctx)
        if isinstance(found, ast.Block):
            return found
        return ast.Block(self.span(ctx), (found,) if found is not None else ())

    def _switch_case(self, ctx: Ctx) -> ast.SwitchCase:
        label = self._ident(ctx.switchLabel().name()) if ctx.switchLabel().name() is not None else None
        return ast.SwitchCase(self.span(ctx), label, self.block(ctx.block()) if ctx.block() is not None else None)

    # ------------------------------------------------------------ types

    def _type(self, ctx: Ctx) -> ast.Type:
        if ctx.simpleType() is not None:
            return self._simple_type(ctx.simpleType())
        args = ctx.typeArgs().type_() if ctx.typeArgs() is not None else ()
        return ast.NamedType(self.span(ctx), self._ident(ctx.name()), tuple(self._type(a) for a in args))

    def _simple_type(self, ctx: Ctx) -> ast.Type:
        span = self.span(ctx)
        if ctx.BOOL() is not None:
            return ast.BoolType(span)
        width = ctx.width()
        if width is None:
            return ast.BitType(span, ast.Number(span, 1, None, False), False)
        value = self.expr(width.expr()) if width.expr() is not None else self._number(width.NUMBER())
        return ast.BitType(span, value, ctx.INT() is not None)

    # ------------------------------------------------------------ expressions

    def expr(self, ctx: Ctx) -> ast.Expr:
        span = self.span(ctx)
        match _kind(ctx):
            case "Binary":
                op = ctx.op.text if ctx.op is not None else ">>"
                return ast.Binary(span, op, self.expr(ctx.expr(0)), self.expr(ctx.expr(1)))
            case "Conditional":
                return ast.Conditional(span, self.expr(ctx.expr(0)), self.expr(ctx.expr(1)), self.expr(ctx.expr(2)))
            case "Unary":
                return ast.Unary(span, ctx.op.text, self.expr(ctx.expr()))
            case "Cast":
                return ast.Cast(span, self._simple_type(ctx.simpleType()), self.expr(ctx.expr()))
            case "NamedCast":
                to = ast.NamedType(self.span(ctx.name()), self._ident(ctx.name()))
                return ast.Cast(span, to, self._cast_operand(ctx.castOperand()))
            case "Paren":
                return self.expr(ctx.expr())
            case "ListOf":
                return ast.ListOf(span, self._args(ctx.args()))
            case "MemberOf":
                return ast.Member(span, self.expr(ctx.expr()), self._ident(ctx.member()))
            case "Slice":
                return self._slice(span, self.expr(ctx.expr(0)), ctx.expr()[1:])
            case "Call":
                return ast.Call(span, self.expr(ctx.expr()), (), self._args(ctx.args()))
            case "GenericCall":
                callee = ast.Member(span, self.expr(ctx.expr()), self._ident(ctx.member()))
                return ast.Call(span, callee, self._type_args(ctx), self._args(ctx.args()))
            case "GenericFunction":
                name = ast.Name(self.span(ctx.name()), ctx.name().getText())
                return ast.Call(span, name, self._type_args(ctx), self._args(ctx.args()))
            case "Number":
                return self._number(ctx.NUMBER())
            case "Boolean":
                return ast.Boolean(span, ctx.TRUE() is not None)
            case _:
                return ast.Name(span, ctx.getText())

    def _cast_operand(self, ctx: Ctx) -> ast.Expr:
        span = self.span(ctx)
        if ctx.NUMBER() is not None:
            return self._number(ctx.NUMBER())
        if ctx.name() is not None:
            return ast.Name(span, ctx.getText())
        if ctx.castOperand() is None:
            return self.expr(ctx.expr(0))
        inner = self._cast_operand(ctx.castOperand())
        if ctx.op is not None:
            return ast.Unary(span, ctx.op.text, inner)
        if ctx.member() is not None:
            return ast.Member(span, inner, self._ident(ctx.member()))
        if ctx.args() is not None:
            return ast.Call(span, inner, (), self._args(ctx.args()))
        return self._slice(span, inner, ctx.expr())

    def _slice(self, span: Span, base: ast.Expr, bounds: list[Ctx]) -> ast.Slice:
        return ast.Slice(span, base, self.expr(bounds[0]), self.expr(bounds[1]) if len(bounds) > 1 else None)

    def _args(self, ctx: Ctx) -> tuple[ast.Expr, ...]:
        return tuple(self.expr(e) for e in ctx.expr())

    def _type_args(self, ctx: Ctx) -> tuple[ast.Type, ...]:
        return tuple(self._type(t) for t in ctx.typeArgs().type_())

    def _number(self, token: Ctx) -> ast.Number:
        symbol = token.symbol
        span = Span(self.file, self.first + symbol.start, self.first + symbol.stop + 1)
        text, width, signed = symbol.text.replace("_", ""), None, False
        for mark in "ws":
            if mark in text:
                before, text = text.split(mark)
                width, signed = int(before), mark == "s"
        base = {"0x": 16, "0b": 2, "0o": 8, "0d": 10}.get(text[:2].lower())
        return ast.Number(span, int(text[2:], base) if base else int(text), width, signed)


def _kind(ctx: Ctx) -> str:
    return type(ctx).__name__.removesuffix("Context")
