"""The contract that `relevant` states (LANGUAGE.md section 6). `analysis.contract` says who keeps it."""

from __future__ import annotations

from dataclasses import dataclass, field

from polysome.ir import program as ir
from polysome.ir import types as t
from polysome.ir.reads import reads_of
from polysome.semantics import hints
from polysome.semantics.expressions import Expressions
from polysome.semantics.header_names import header_names, members_of
from polysome.syntax import ast
from polysome.syntax.spans import Span


@dataclass
class _Gathered:
    fields: list[tuple[int, int, int, Span]] = field(default_factory=list)
    payload: list[tuple[int, int, int, Span]] = field(default_factory=list)
    spans: list[tuple[int, int, int, int, Span]] = field(default_factory=list)
    packet: int = 0
    passing: int = 0


class ContractBuilder:
    """Builds the contract of one NF; `x` types conditions and verdicts."""

    def __init__(self, x: Expressions) -> None:
        assert x.shared.parser is not None
        self.x, self.report, self.parser = x, x.report, x.shared.parser
        self.found = _Gathered(passing=self.parser.all_classes)

    def build(self, decls: list[ast.Relevant], orelse: ir.Statement | None) -> ir.Contract | None:
        """The contract, or None if nothing is declared: it is then inferred."""
        if not decls:
            return None
        for decl in decls:
            for item in decl.items:
                self._item(item)
        if orelse is None:
            orelse = ir.Drop(decls[0].span, "not parsed")
        f = self.found
        return ir.Contract(
            tuple(f.fields), tuple(f.payload), tuple(f.spans), f.packet, f.passing, orelse, decls[0].span
        )

    def _item(self, item: ast.RelevantItem) -> None:
        classes = self.parser.all_classes
        if item.when is not None:
            classes = self._condition(item.when)
        text = item.instance.text
        if text == "packet":
            self.found.packet |= classes
        elif text == "payload":
            self._payload(item, classes)
        elif text in self.parser.values:
            self._value(text, classes, item.span)
        else:
            self._header(item, text, classes)

    def _condition(self, node: ast.Expr) -> int:
        """The parse classes that a condition over header tests selects."""
        before, self.x.mask = self.x.mask, 0  # fields in it are E0801, whether or not their header is there
        condition = self.x.expr(node, t.BOOL)
        self.x.mask = before
        if not _header_tests_only(condition) and condition.type != t.WRONG:
            self.report.add(
                "E0801",
                "`when` tests headers only",
                node.span,
                why="What travels to the NF depends on the parse class alone, so that the switch can know it.",
                mend="To make a class of certain values, hook a header: `parse h after udp when …;`.",
            )
        return self.x.split(condition, self.parser.all_classes)[0]

    def _payload(self, item: ast.RelevantItem, classes: int) -> None:
        if item.low is None or item.high is None:
            self.report.add(
                "E0802",
                "say which bytes of the payload are relevant",
                item.span,
                why="The whole payload would mean that nothing is split.",
                mend="Write `payload[0..16]`, or `packet` if the whole packet is needed.",
            )
            return
        low, high = self._bounds(item.low, item.high)
        if low is not None and high is not None:
            self.found.payload.append((low, high, classes, item.span))

    def _bounds(self, low_node: ast.Expr, high_node: ast.Expr) -> tuple[int | None, int | None]:
        """`a..b`, None if it was reported."""
        low, high = self.x.constant(low_node, t.LITERAL), self.x.constant(high_node, t.LITERAL)
        if low is not None and high is not None and low >= high:
            self.report.add(
                "E0318",
                "this is no slice of bytes",
                low_node.span.to(high_node.span),
                why="`[a..b]` are bytes a to b, b excluded and above a.",
                mend=hints.mend_slice(t.BYTE_STRING, low, high),
            )
            return None, None
        return low, high

    def _value(self, name: str, classes: int, span: Span) -> None:
        """All that the value reads, on the classes where it reads it."""
        value = self.parser.values[name]
        for meaning in (value.value, value.for_class):
            for read in reads_of(meaning, classes, self.parser):
                match read.node:
                    case ir.HeaderField(instance=i, field=f) | ir.RestBytes(instance=i, field=f):
                        self.found.fields.append((i, f, read.classes, span))
                    case ir.PayloadBytes(low=low, high=int() as high):
                        self.found.payload.append((low, high, read.classes, span))

    def _header(self, item: ast.RelevantItem, text: str, classes: int) -> None:
        instances = members_of(self.x, text)
        fields = [f.text for f in item.fields]
        if instances is None and "." in text and not fields:
            base, _, last = text.rpartition(".")
            instances, fields = members_of(self.x, base), [last]
            text = base
        if instances is None:
            self.report.add(
                "E0401",
                f"the parser has no header `{text}`",
                item.instance.span,
                why="`relevant` lists headers and fields by the names of the parser, `payload[a..b]`, or `packet`.",
                mend=hints.mend_header(text, [*header_names(self.x), *self.parser.values, "payload", "packet"]),
            )
            return
        having = 0
        for i in instances:
            having |= self.parser.having[i]
            if item.low is not None and item.high is not None:
                self._bytes_from(i, item.low, item.high, classes, item.span)
            else:
                self._fields(i, fields, text, classes, item)
        if item.when is None:
            self.found.passing &= having

    def _bytes_from(self, instance: int, low: ast.Expr, high: ast.Expr, classes: int, span: Span) -> None:
        """`header[a..b]`: bytes counted from the header's first one, beyond its end too."""
        first, last = self._bounds(low, high)
        if first is not None and last is not None:
            self.found.spans.append((instance, first, last, classes & self.parser.having[instance], span))

    def _fields(self, instance: int, fields: list[str], text: str, classes: int, item: ast.RelevantItem) -> None:
        header = self.parser.instances[instance].header
        for name in fields or [f.name for f in header.fields]:
            index = header.index(name)
            if index is None:
                span = next((f.span for f in item.fields if f.text == name), item.instance.span)
                self.report.add(
                    "E0402",
                    f"{text} has no field `{name}`",
                    span,
                    why="A header has the fields that its declaration lists; a group those of all its headers.",
                    mend=hints.mend_field(name, [f.name for f in header.fields]),
                )
                continue
            place = next((f.span for f in item.fields if f.text == name), item.span)
            self.found.fields.append((instance, index, classes & self.parser.having[instance], place))


def _header_tests_only(e: ir.Expr) -> bool:
    match e:
        case ir.Valid() | ir.Const():
            return True
        case ir.Unary():
            return _header_tests_only(e.operand)
        case ir.Binary(op="and" | "or"):
            return _header_tests_only(e.left) and _header_tests_only(e.right)
        case _:
            return False
