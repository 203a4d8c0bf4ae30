"""Where an expression stands: what is known there, what may be used, and how types meet (LANGUAGE.md section 3).

What is wrong is reported once; the result then has type WRONG, which agrees with everything.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from typing import Any

from polysome.ir import program as ir
from polysome.ir import types as t
from polysome.ir.classes import split
from polysome.ir.fold import NotConstant, Undefined, fold
from polysome.ir.value_places import behind
from polysome.semantics import hints
from polysome.semantics.scope import Local, NfScope, duplicate
from polysome.semantics.type_resolver import TypeResolver
from polysome.semantics.typed import plain, retype, with_article, without_width
from polysome.syntax import ast
from polysome.syntax.diagnostics import Report, one_of
from polysome.syntax.spans import Span


@dataclass
class Shared:
    """What all scopes of one NF have in common."""

    report: Report
    parser: ir.Parser | None = None
    headers: dict[str, ir.Header] = field(default_factory=dict)
    fns: dict[str, ir.Fn] = field(default_factory=dict)
    fn_types: dict[str, tuple[tuple[t.Type, ...], t.Type]] = field(default_factory=dict)
    root: NfScope | None = None
    slots: int = 0
    order_class: t.Type = t.WRONG  # of the schedule's class, once that is typed
    open_consts: list[str] = field(default_factory=list)  # whose values are being found right now
    circular: set[str] = field(default_factory=set)  # consts that need their own values; reported
    unknown: set[str] = field(default_factory=set)  # names that are not there; reported

    def slot(self) -> int:
        self.slots += 1
        return self.slots - 1


class Context(ABC):
    """A place in a scope. `allowed` holds what may be used here: packet, state, write, config, class.

    What kinds of expressions there are is known by who derives from it (`typed`); all else takes a Context.
    """

    def __init__(self, shared: Shared, scope: NfScope, allowed: frozenset[str]) -> None:
        self.shared = shared
        self.report = shared.report
        self.scope = scope
        self.allowed = allowed
        self.locals: list[dict[str, Local]] = [{}]
        self.calls: list[Span] = []  # of the actions that are being inlined
        self.own: ir.Header | None = None
        self.stack_tops: dict[str, int] = {}  # in a select: the place of `v[last]`
        self.mask = shared.parser.all_classes if shared.parser else 0
        self.types = TypeResolver(scope, shared.report, self.constant, self.bucket_type)

    # ------------------------------------------------------------ what who derives from it knows

    @abstractmethod
    def typed(self, node: ast.Expr, want: t.Type | None) -> ir.Expr:
        """The typed expression; `want` is the type that a literal in it should take."""

    @abstractmethod
    def value_block(self, block: ast.Block, want: t.Type | None) -> ir.Expr:
        """A block inside an expression: `let`s, then the value."""

    @abstractmethod
    def apart(self, scope: NfScope) -> Context:
        """A place in `scope` where nothing of the packet, of state, config or of these locals may be used."""

    # ------------------------------------------------------------ entry points

    def expr(self, node: ast.Expr, want: t.Type | None = None) -> ir.Expr:
        """The typed expression, coerced to `want` if given."""
        found = self.typed(node, want)
        return found if want is None else self.coerce(found, want)

    def value(self, node: ast.Expr) -> ir.Expr:
        """An expression that must have a type of its own: E0302 for a bare literal."""
        found = self.typed(node, None)
        if isinstance(found, (ir.Length, ir.StateLen)):
            return replace(found, type=t.U64)
        bare = without_width(found)
        if bare is not None:
            self.report.add(
                "E0302",
                "this number has no width",
                bare,
                why="A literal takes the width of what it meets, and here it meets nothing.",
                mend="Give it a unit (`64B`) or a width (`64 as u32`), or the name a type (`let x: u32 = 64;`).",
            )
            return self.wrong(node.span)
        return found

    def constant(self, node: ast.Expr, want: t.Type) -> Any:
        """The value of a constant expression of type `want`; None if it was reported."""
        found = self.typed(node, want)
        if found.type == t.WRONG:
            return None
        try:
            fold(found)
            found = self.coerce(found, want)
            return None if found.type == t.WRONG else fold(found)
        except NotConstant:
            self.report.add(
                "E0303",
                "this must be known when the NF is compiled",
                node.span,
                why="Sizes, bounds and declarations are fixed before the first packet.",
                mend="Use literals, `const`s and `param`s.",
            )
        except Undefined as error:
            self.report.add(
                "E0304",
                f"{error} in a constant",
                node.span,
                why="Constants are worked out when the NF is compiled, and this one has no value.",
                mend="Use another divisor." if "zero" in str(error) else "Change its operands.",
            )
        return None

    def integer(self, node: ast.Expr) -> ir.Expr:
        """An integer of any width, as an index is; a literal gets 64 bits."""
        value = plain(self.typed(node, None))
        return value if isinstance(value.type, (t.Bits, t.Wrong)) else self.coerce(value, t.U64)

    def wrong(self, span: Span) -> ir.Expr:
        return ir.Const(span, t.WRONG, 0)

    # ------------------------------------------------------------ coercion

    def coerce(self, e: ir.Expr, want: t.Type) -> ir.Expr:
        """`e` as `want`: literals take widths, rows and owned values are read, enums with a width convert."""
        have = e.type
        if have == want or t.WRONG in (have, want):
            return e
        if isinstance(have, t.Literal):
            return self._literal_as(e, want)
        if isinstance(have, (t.Ref, t.FromPool)) and not isinstance(want, type(have)):
            return self.coerce(ir.Deref(e.span, behind(have), e), want)
        if isinstance(have, t.Enum) and have.width is not None and want == t.Bits(have.width):
            return ir.Cast(e.span, want, e, False)
        if want == t.LITERAL and (have == t.Quantity("percent") or isinstance(have, t.Bits)):
            return e  # a constant of any width
        if isinstance(have, t.SetOf) and isinstance(want, t.SetOf) and isinstance(e, ir.Make):
            return replace(e, type=want, items=tuple(self.coerce(i, want.item) for i in e.items))
        if (
            isinstance(have, t.Tuple)
            and isinstance(want, t.Tuple)
            and isinstance(e, ir.Make)
            and len(have.items) == len(want.items)
        ):
            return replace(
                e, type=want, items=tuple(self.coerce(i, w) for i, w in zip(e.items, want.items, strict=True))
            )
        if (
            isinstance(have, t.ByteString)
            and isinstance(want, t.Bits)
            and isinstance(e, (ir.PayloadBytes, ir.RestBytes))
        ):
            return self._bytes_as(e, want)
        self._mismatch(e, want)
        return self.wrong(e.span)

    def _literal_as(self, e: ir.Expr, want: t.Type) -> ir.Expr:
        if isinstance(e, ir.Const) and isinstance(want, t.Quantity) and e.value == 0:
            return replace(e, type=want)
        width = t.width(want) if isinstance(want, t.Bits) else None
        if width is None:
            if isinstance(want, t.Literal):
                return e
            self._mismatch(e, want)
            return self.wrong(e.span)
        if isinstance(e, ir.Const):
            if e.value >> width:
                self.report.add(
                    "E0305",
                    f"{e.value} does not fit {want}",
                    e.span,
                    why=f"The largest {want} is {(1 << width) - 1}; nothing is cut silently.",
                    mend="Use a wider type, or cut it yourself with `as` after giving it a width.",
                )
                return self.wrong(e.span)
            return replace(e, type=want)
        return retype(e, want)

    def _bytes_as(self, e: ir.PayloadBytes | ir.RestBytes, want: t.Bits) -> ir.Expr:
        self._mismatch(e, want)
        return self.wrong(e.span)

    def _mismatch(self, e: ir.Expr, want: t.Type) -> None:
        have = e.type
        ports = self.shared.root.ports if self.shared.root is not None else ()
        self.report.add(
            "E0301",
            f"{want} was expected here, but this is {with_article(have)}",
            e.span,
            label=str(have),
            why="Types never change by themselves, so that no bit is lost unseen.",
            mend=hints.mend_type(have, want, ports),
        )

    # ------------------------------------------------------------ locals, classes

    def let_value(self, node: ast.Let) -> ir.Expr:
        """The value of a `let`, with the type written there if any."""
        if node.binding.type is not None:
            return self.expr(node.value, self.types.resolve(node.binding.type))
        return self.value(node.value)

    def bind(self, name: ast.Ident, type: t.Type) -> int:
        """A new local in the innermost scope; E0203 if the scope has one of that name."""
        slot = self.shared.slot()
        if name.text in self.locals[-1]:
            duplicate(self.report, name, self.locals[-1][name.text].span)
        self.locals[-1][name.text] = Local(slot, type, name.span)
        return slot

    def split(self, condition: ir.Expr, mask: int) -> tuple[int, int]:
        """The parse classes of `mask` for which `condition` may be true, and may be false."""
        parser = self.shared.parser
        return split(condition, mask, parser) if parser else (mask, mask)

    # ------------------------------------------------------------ parts of larger things

    def bucket_type(self, node: ast.TypeName) -> t.Type:
        """`token_bucket` or `token_bucket(rate, burst)`."""
        if not node.values:
            return t.Bucket("", None, None)
        if len(node.values) != 2:
            self.report.add(
                "E0211",
                "a token bucket has a rate and a burst",
                node.span,
                why="`token_bucket(rate, burst)` fixes both; `token_bucket` alone leaves them to each use.",
                mend="Write for example `token_bucket(10Mbps, 64KB)`.",
            )
            return t.WRONG
        allowed, self.allowed = self.allowed, self.allowed | {"config"}  # evaluated at each use
        rate, burst = self.bucket_args(node.values[0], node.values[1])
        self.allowed = allowed
        if t.WRONG in (rate.type, burst.type):
            return t.WRONG
        return t.Bucket("packets" if rate.type == t.PACKETRATE else "bytes", rate, burst)

    def bucket_args(self, rate_node: ast.Expr, burst_node: ast.Expr) -> tuple[ir.Expr, ir.Expr]:
        """A rate and the burst that fits it: bitrate with bytes, packetrate with a number."""
        rate = self.typed(rate_node, None)
        if rate.type not in (t.BITRATE, t.PACKETRATE, t.WRONG):
            self.report.add(
                "E0212",
                f"a rate was expected here, but this is {with_article(rate.type)}",
                rate_node.span,
                why="A bucket is filled with bits per second (then it counts bytes) or packets per second.",
                mend="Write for example `10Mbps` or `1Kpps`.",
            )
            self.typed(burst_node, None)  # its unit depends on the rate's
            return self.wrong(rate_node.span), self.wrong(burst_node.span)
        burst = self.expr(burst_node, t.U64 if rate.type == t.PACKETRATE else t.BYTES)
        return rate, burst

    def inits(
        self,
        fields: tuple[ast.FieldInit, ...],
        types: dict[str, t.Type],
        what: str,
        span: Span,
        optional: frozenset[str] = frozenset(),
    ) -> dict[str, ir.Expr]:
        """`name: value` pairs against the members they set; all but `optional` must be there."""
        found: dict[str, ir.Expr] = {}
        for init in fields:
            name = init.name.text
            if name not in types:
                self.report.add(
                    "E0308",
                    f"{what} has no member `{name}`",
                    init.name.span,
                    why="Only declared members can be set.",
                    mend=one_of(name, types),
                )
                self.typed(init.value, None)
                continue
            if name in found:
                self.report.add(
                    "E0309",
                    f"`{name}` is set twice",
                    init.name.span,
                    also=[(found[name].span, "first set to this")],
                    why="A member has one value.",
                    mend="Remove one of them.",
                )
            found[name] = self.expr(init.value, types[name])
        given = {f.name.text for f in fields}
        missing = [n for n in types if n not in given and n not in optional]
        if len(missing) > len(given - set(types)):  # a wrong name is one cause: most likely it is the missing one
            self.report.add(
                "E0310",
                f"{what} lacks " + ", ".join(f"`{m}`" for m in missing),
                span,
                why="Every member without a default must be given.",
                mend="Add " + ", ".join(f"`{m}: …`" for m in missing) + ".",
            )
        return found
