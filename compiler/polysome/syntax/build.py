"""Parse tree to AST: files and declarations (see build_expressions for the rest)."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from polysome.syntax import ast, literals
from polysome.syntax.build_expressions import Ctx, ExpressionBuilder


class Builder(ExpressionBuilder):
    """Builds the AST of one file."""

    def file_node(self, ctx: Ctx) -> ast.File:
        return ast.File(self.span(ctx), tuple(self._item(i.getChild(0)) for i in ctx.item()))

    def _item(self, ctx: Ctx) -> Any:
        kind = type(ctx).__name__.removesuffix("DeclContext").removesuffix("Context")
        return getattr(self, "_" + kind[0].lower() + kind[1:])(ctx, self.span(ctx))

    # ------------------------------------------------------------ plain declarations

    def _use(self, ctx: Ctx, span: Any) -> ast.Use:
        alias = self.ident(ctx.name()) if ctx.name() is not None else None
        args = self.inits(ctx.useArgs().fieldInit()) if ctx.useArgs() is not None else ()
        return ast.Use(span, ctx.path().getText(), alias, args)

    def _struct(self, ctx: Ctx, span: Any) -> ast.StructDecl:
        return ast.StructDecl(span, self.ident(ctx.name()), self.typed_names(ctx.typedName()))

    def _enum(self, ctx: Ctx, span: Any) -> ast.EnumDecl:
        width = self.type(ctx.type_()) if ctx.type_() is not None else None
        members = tuple(
            (self.ident(m.name()), self.expr(m.expr()) if m.expr() is not None else None) for m in ctx.enumMember()
        )
        return ast.EnumDecl(span, self.ident(ctx.name()), width, members)

    def _const(self, ctx: Ctx, span: Any) -> ast.ConstDecl:
        return ast.ConstDecl(span, self.ident(ctx.name()), self.type(ctx.type_()), self.expr(ctx.expr()))

    def _fn(self, ctx: Ctx, span: Any) -> ast.FnDecl:
        return ast.FnDecl(
            span,
            self.ident(ctx.name()),
            self.typed_names(ctx.typedName()),
            self.type(ctx.type_()),
            self.block(ctx.block()),
        )

    def _action(self, ctx: Ctx, span: Any) -> ast.ActionDecl:
        return ast.ActionDecl(span, self.ident(ctx.name()), self.typed_names(ctx.typedName()), self.block(ctx.block()))

    # ------------------------------------------------------------ headers and parsers

    def _header(self, ctx: Ctx, span: Any) -> ast.HeaderDecl:
        fields, rules = [], []
        for item in ctx.headerItem():
            if item.headerField() is not None:
                fields.append(self._header_field(item.headerField()))
            else:
                rule = item.headerRule()
                values = tuple(self.expr(e) for e in rule.expr())
                rules.append(ast.HeaderRule(self.span(rule), rule.getChild(0).getText(), values))
        return ast.HeaderDecl(span, self.ident(ctx.name()), tuple(fields), tuple(rules))

    def _header_field(self, ctx: Ctx) -> ast.HeaderField:
        marks = tuple(self._mark(m) for m in ctx.fieldMark())
        default = self.expr(ctx.expr()) if ctx.expr() is not None else None
        return ast.HeaderField(self.span(ctx), self.ident(ctx.name()), self.type(ctx.type_()), marks, default)

    def _mark(self, ctx: Ctx) -> ast.LengthMark | ast.NextMark | ast.ChecksumMark:
        span = self.span(ctx)
        match ctx.getChild(0).getText():
            case "length":
                return ast.LengthMark(span, self.expr(ctx.expr()))
            case "next":
                return ast.NextMark(span, self.ident(ctx.name()[0]))
            case _:
                zero_is_none = ctx.getChild(ctx.getChildCount() - 1).getText() == "none"
                return ast.ChecksumMark(span, tuple(self.ident(n) for n in ctx.name()), zero_is_none)

    def _parser(self, ctx: Ctx, span: Any) -> ast.ParserDecl:
        items = list(ctx.parserItem())
        return ast.ParserDecl(
            span,
            self.ident(ctx.name()),
            tuple(self._parser_state(i.stateDecl()) for i in items if i.stateDecl() is not None),
            tuple(self._group(i.groupDecl()) for i in items if i.groupDecl() is not None),
            tuple(self._value(i.valueDecl()) for i in items if i.valueDecl() is not None),
        )

    def _parser_state(self, ctx: Ctx) -> ast.ParserState:
        extract = self._extract(ctx.extract()) if ctx.extract() is not None else None
        transition = self._transition(ctx.transition()) if ctx.transition() is not None else None
        return ast.ParserState(self.span(ctx), self.ident(ctx.name()), extract, transition)

    def _extract(self, ctx: Ctx) -> ast.Extract:
        header = self.ident(ctx.name())
        instance = self.instance(ctx.instance()) if ctx.instance() is not None else _same(header)
        count = ctx.INT()
        cut = literals.integer(count.getText(), self.token(count.symbol), self.report) if count is not None else None
        return ast.Extract(self.span(ctx), header, instance, cut)

    def _transition(self, ctx: Ctx) -> ast.Goto | ast.Select:
        if ctx.expr() is None:
            return ast.Goto(self.span(ctx), self.ident(ctx.name()))
        cases = tuple(
            ast.Case(self.span(c), tuple(self._pattern(p) for p in c.pattern()), self.ident(c.name()))
            for c in ctx.selectCase()
        )
        return ast.Select(self.span(ctx), self.expr(ctx.expr()), cases)

    def _pattern(self, ctx: Ctx) -> ast.Pattern:
        span = self.span(ctx)
        if ctx.getText() == "_":
            return ast.AnyPattern(span)
        if ctx.pattern():
            return ast.TuplePattern(span, tuple(self._pattern(p) for p in ctx.pattern()))
        values = [self.expr(e) for e in ctx.expr()]
        return ast.ValuePattern(span, values[0], values[1] if len(values) > 1 else None)

    def _group(self, ctx: Ctx) -> ast.Group:
        return ast.Group(self.span(ctx), ctx.path().getText(), tuple(self.instance(i) for i in ctx.instance()))

    def _value(self, ctx: Ctx) -> ast.PacketValue:
        for_class = ctx.getChild(0).getText() == "class"
        return ast.PacketValue(
            self.span(ctx), self.ident(ctx.name()), self.type(ctx.type_()), self.expr(ctx.expr()), for_class
        )

    def _hook(self, ctx: Ctx, span: Any) -> ast.Hook:
        header = self.ident(ctx.name())
        instances = [self.instance(i) for i in ctx.instance()]
        instance = instances[0] if len(instances) == 2 else _same(header)
        when = self.expr(ctx.expr()) if ctx.expr() is not None else None
        return ast.Hook(span, header, instance, instances[-1], when)

    # ------------------------------------------------------------ network functions

    def _nf(self, ctx: Ctx, span: Any, block: bool = False) -> ast.NfDecl:
        items: list[ast.NfItem] = []
        for item in ctx.nfItem():
            inner = item.getChild(0)
            if type(inner).__name__ == "StateBlockContext":
                items += [self._state_item(c) for c in inner.getChildren() if c.getChildCount() > 0]
            else:
                items.append(self._item(inner))
        return ast.NfDecl(span, self.ident(ctx.name()), tuple(items), block, self._doc(ctx))

    def _block(self, ctx: Ctx, span: Any) -> ast.NfDecl:
        return self._nf(ctx, span, block=True)

    def _doc(self, ctx: Ctx) -> str:
        """The text of the `///` lines right above the declaration."""
        lines = self.report.sources[self.file].text[: ctx.start.start].rstrip().split("\n")
        doc: list[str] = []
        while lines and lines[-1].strip().startswith("///"):
            doc.insert(0, lines.pop().strip().removeprefix("///").strip())
        return "\n".join(doc)

    def _port(self, ctx: Ctx, span: Any) -> ast.PortDecl:
        return ast.PortDecl(span, tuple(self.ident(n) for n in ctx.name()))

    def _param(self, ctx: Ctx, span: Any) -> ast.ParamDecl:
        default = self.expr(ctx.expr()) if ctx.expr() is not None else None
        return ast.ParamDecl(span, self.ident(ctx.name()), self.type(ctx.type_()), default)

    def _config(self, ctx: Ctx, span: Any) -> ast.ConfigDecl:
        default = self.expr(ctx.expr()) if ctx.expr() is not None else None
        clauses = self._clauses(ctx.clauses()) if ctx.clauses() is not None else ()
        return ast.ConfigDecl(span, self.ident(ctx.name()), self.type(ctx.type_()), default, clauses)

    def _relevant(self, ctx: Ctx, span: Any) -> ast.Relevant:
        items = tuple(self._relevant_item(i) for i in ctx.relevantItem())
        return ast.Relevant(span, items, self.else_arm(ctx.elseArm()))

    def _relevant_item(self, ctx: Ctx) -> ast.RelevantItem:
        texts = [c.getText() for c in ctx.getChildren()]
        values = [self.expr(e) for e in ctx.expr()]
        when = values.pop() if "when" in texts else None
        low, high = values if len(values) == 2 else (None, None)
        return ast.RelevantItem(
            self.span(ctx),
            self.instance(ctx.instance()),
            tuple(self.ident(n) for n in ctx.name()),
            low,
            high,
            when,
        )

    def _state_item(self, ctx: Ctx) -> ast.StateDecl | ast.IndexDecl:
        span = self.span(ctx)
        if type(ctx).__name__ == "IndexDeclContext":
            name, target = (self.ident(n) for n in ctx.name())
            return ast.IndexDecl(span, name, target, self.expr(ctx.expr()))
        texts = [c.getText() for c in ctx.getChildren()]
        return ast.StateDecl(
            span,
            self.ident(ctx.name()),
            self.type(ctx.type_()),
            "core" in texts,
            self.expr(ctx.expr()) if ctx.expr() is not None else None,
            self._clauses(ctx.clauses()) if ctx.clauses() is not None else (),
        )

    def _scheduleBlock(self, ctx: Ctx, span: Any) -> ast.Schedule:
        return ast.Schedule(span, self._clauses(ctx.clauses()))

    def _trafficBlock(self, ctx: Ctx, span: Any) -> ast.Traffic:
        return ast.Traffic(span, self._clauses(ctx.clauses()))

    def _clauses(self, ctx: Ctx) -> tuple[ast.Clause, ...]:
        return tuple(self._clause(c) for c in ctx.clause())

    def _clause(self, ctx: Ctx) -> ast.Clause:
        span = self.span(ctx)
        if ctx.getChild(0).getText() == "when":
            name = ast.Ident(self.token(ctx.start).to(self.token(ctx.getChild(1).symbol)), "when full")
            return ast.Clause(span, name, words=tuple(self.ident(w) for w in ctx.word()))
        args = tuple(self._clause_arg(a) for a in ctx.clauseArg())
        extra: dict[str, ast.Expr] = {}
        children = list(ctx.getChildren())
        for keyword, value in pairwise(children[1:]):
            if keyword.getChildCount() == 0 and keyword.getText() in ("max", "per"):
                extra[keyword.getText()] = self.expr(value)
        return ast.Clause(span, self.ident(ctx.name()), args, extra.get("max"), extra.get("per"))

    def _clause_arg(self, ctx: Ctx) -> ast.ClauseArg:
        values = [self.expr(e) for e in ctx.expr()]
        return ast.ClauseArg(self.span(ctx), values[0], values[1] if len(values) > 1 else None)

    def _handler(self, ctx: Ctx, span: Any) -> ast.OnPacket | ast.OnEnd | ast.Every:
        body = self.block(ctx.block())
        if ctx.expr() is not None:
            return ast.Every(span, self.expr(ctx.expr()), body)
        names = tuple(self.ident(n) for n in ctx.name())
        if ctx.getChild(1).getText() == "end":
            return ast.OnEnd(span, names[0], (names[1], names[2], names[3]), body)
        return ast.OnPacket(span, names, body)

    # ------------------------------------------------------------ properties

    def _property(self, ctx: Ctx, span: Any) -> ast.Property:
        items = tuple(self._property_item(i) for i in ctx.propertyItem())
        return ast.Property(span, self.ident(ctx.name()), items, self._doc(ctx))

    def _property_item(self, ctx: Ctx) -> ast.PropertyItem:
        span, word = self.span(ctx), ctx.getChild(0).getText()
        values = [self.expr(e) for e in ctx.expr()]
        if word == "let":
            return ast.PropertyLet(span, self.ident(ctx.name()[0]), values[0])
        if word == "expect":
            return ast.Expect(span, values[0])
        where = values[1] if len(values) > 1 else None
        names = tuple(self.ident(n) for n in ctx.name())
        return ast.PropertyFor(span, names, values[0], where, self._property_item(ctx.propertyItem()))


def _same(header: ast.Ident) -> ast.Instance:
    return ast.Instance(header.span, header.text)
