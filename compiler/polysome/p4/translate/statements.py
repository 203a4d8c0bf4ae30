"""Statements in C++: lines of a function, indented by their depth."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from polysome.p4 import program as pr
from polysome.p4.translate.expressions import Expressions
from polysome.p4.translate.layout import load_fields, store_fields
from polysome.p4.translate.names import ctype, literal
from polysome.p4.types import Bits, Composite, width

STEP = "    "


@dataclass
class Statements(Expressions):
    """Those of one gress."""

    def block(self, body: Iterable[pr.Stmt], depth: int) -> list[str]:
        return [line for s in body for line in self.statement(s, depth)]

    def statement(self, s: pr.Stmt, depth: int) -> list[str]:
        return [STEP * depth + line if line else "" for line in self._lines(s)]

    def _inner(self, body: Iterable[pr.Stmt]) -> list[str]:
        return self.block(body, 1)

    def _lines(self, s: pr.Stmt) -> Iterator[str]:
        match s:
            case pr.Assign():
                yield self._assign(s)
            case pr.SetValid():
                yield f"{self.place(s.header)}.valid = {'true' if s.valid else 'false'};"
            case pr.If():
                yield from self._if(s)
            case pr.Apply():
                yield f"apply_{self.names.of(s.table)}();"
            case pr.ApplySwitch():
                yield from self._switch(s)
            case pr.Do():
                yield f"static_cast<void>({self.of(s.value)});"
            case pr.Run():
                yield from self.block(s.body, 0)
            case pr.Declare():
                yield f"{self.place(s.variable)} = {{}};"
            case pr.Count():
                yield self._count(s)
            case pr.EmitHeader():
                yield from self._emit(s)
            case pr.EmitMirror():
                yield from self._mirror(s)
            case _:
                raise AssertionError(s)

    def _assign(self, s: pr.Assign) -> str:
        if isinstance(s.target, pr.Place):
            return f"{self.place(s.target)} = {self.of(s.value)};"
        base, low = s.target.value, s.target.low
        assert isinstance(base, pr.Place)
        target, kind = self.place(base), ctype(base.type)
        part = ((1 << width(s.target.type)) - 1) << low
        others = literal((1 << width(base.type)) - 1 & ~part, base.type)
        value = f"static_cast<{kind}>({self.of(s.value)})"
        value = f"static_cast<{kind}>({value} << {low})" if low else value
        return f"{target} = static_cast<{kind}>(({target} & {others}) | {value});"

    def _if(self, s: pr.If) -> Iterator[str]:
        condition = self.of(s.condition)
        if self.points is not None:
            condition = f"coverage_.either({condition}, {self.points.condition(s)})"
        yield f"if ({condition}) {{"
        yield from self._inner(s.yes)
        if s.no:
            yield "} else {"
            yield from self._inner(s.no)
        yield "}"

    def _switch(self, s: pr.ApplySwitch) -> Iterator[str]:
        actions = self.program.tables[s.table].actions
        yield f"switch (apply_{self.names.of(s.table)}().action) {{"
        for labels, body in s.cases:
            for label in labels:
                yield f"{STEP}case {actions.index(label)}:" if label else f"{STEP}default:"
            yield f"{STEP}{{"
            yield from self.block(body, 2)
            yield f"{STEP}}} break;"
        if not any("" in labels for labels, _ in s.cases):
            yield f"{STEP}default: break;"
        yield "}"

    def _count(self, s: pr.Count) -> str:
        return f"{self.names.of(s.counter)}.count({self.of(s.index)}, {self.frame_bytes});"

    # ------------------------------------------------------------ deparser

    def _emit(self, s: pr.EmitHeader) -> Iterator[str]:
        assert isinstance(s.header.type, Composite)
        header, kind = self.place(s.header), s.header.type
        yield f"if ({header}.valid) {{"
        for line in store_fields(kind.fields, lambda name: f"{header}.{name}", "w"):
            yield STEP + line
        yield f"{STEP}w += {kind.width // 8};"
        yield "}"

    def _mirror(self, s: pr.EmitMirror) -> Iterator[str]:
        yield "out.mirror.asked = true;"
        yield f"out.mirror.session = static_cast<std::uint16_t>({self.of(s.session)});"
        bits = sum(width(i.type) for i in s.items)
        yield f"out.mirror.size = {bits // 8};"
        values = {f"{i}": item for i, item in enumerate(s.items)}
        fields = tuple((name, item.type) for name, item in values.items())
        yield from store_fields(fields, lambda name: self._mirrored(values[name]), "out.mirror.header")

    def _mirrored(self, e: pr.Expr) -> str:
        assert isinstance(e.type, Bits)
        return f"static_cast<{ctype(e.type)}>({self.of(e)})" if e.type.width <= 128 else self.of(e)

    # ------------------------------------------------------------ parser

    def load_header(self, target: str, kind: Composite) -> Iterator[str]:
        yield from load_fields(kind.fields, lambda name: f"{target}.{name}", "p")
