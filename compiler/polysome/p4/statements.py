"""Typing of statements."""

from __future__ import annotations

from polysome.p4 import ast
from polysome.p4 import program as pr
from polysome.p4.methods import Methods, headers
from polysome.p4.scope import ActionName, ControlInstance, Object, Scope, TableName
from polysome.p4.types import Bits, Composite, Type, width
from polysome.syntax.spans import Span

# Roots that a block may not write: what the chip says.
READ_ONLY = {
    "control": {"ig_intr_md", "eg_intr_md", "prsr"},
    "parser": {"ig_intr_md", "eg_intr_md", "prsr"},
    "deparser": {"ig_intr_md", "eg_intr_md", "prsr", "dprsr", "md"},
}


class Statements(Methods):
    """Types the statements of one block; `prefix` is what full names in it begin with."""

    prefix = ""

    def statements(self, body: tuple[ast.Statement, ...], scope: Scope) -> tuple[pr.Stmt, ...]:
        return tuple(made for s in body for made in self.statement(s, scope))

    def statement(self, s: ast.Statement, scope: Scope) -> tuple[pr.Stmt, ...]:
        match s:
            case ast.Block():
                return self.block_of(s, scope)
            case ast.If():
                condition = self.condition(s.condition, scope)
                yes = self.block_of(s.yes, scope)
                no = self.block_of(s.no, scope) if s.no is not None else ()
                return (pr.If(condition, yes, no, s.span),) if condition is not None else ()
            case ast.Switch():
                return self._switch(s, scope)
            case ast.Variable():
                return self._variable(s, scope)
            case ast.Assign():
                return self._assign(s, scope)
            case ast.Do():
                return self._do(s, scope)

    def block_of(self, b: ast.Block, scope: Scope) -> tuple[pr.Stmt, ...]:
        return self.statements(b.statements, Scope(scope))

    # ------------------------------------------------------------ variables and assignments

    def _variable(self, s: ast.Variable, scope: Scope) -> tuple[pr.Stmt, ...]:
        kind = self.type(s.type, scope)
        if s.constant:
            known = self.constant(s.value, scope, kind) if kind is not None and s.value is not None else None
            if known is not None and kind is not None:
                self.world.declare(scope, s.name, pr.Const(known, kind, s.span))
            return ()
        if kind is None:
            return ()
        if isinstance(kind, Composite) and kind.header:
            self.world.outside("a header as a variable", s.span, "Put it into the struct of headers.")
            return ()
        place = self.world.variable(f"{self.prefix}.{s.name.text}", kind, s.name.span)
        value = self.value(s.value, scope, kind) if s.value is not None else None
        self.world.declare(scope, s.name, place)
        found: list[pr.Stmt] = [pr.Declare(place, s.span)]
        if value is not None:
            found.append(pr.Assign(place, value, s.span))
        return tuple(found)

    def _assign(self, s: ast.Assign, scope: Scope) -> tuple[pr.Stmt, ...]:
        if isinstance(s.value, ast.Call) and isinstance(s.value.callee, ast.Name):
            return self._unpack(s, s.value, scope)
        target = self._target(s.target, scope)
        value = self.value(s.value, scope, target.type) if target is not None else self.expr(s.value, scope)
        if target is None or value is None:
            return ()
        if isinstance(target.type, Composite) and isinstance(value, pr.Place):
            return self._copy(target, value, s.span)
        return (pr.Assign(target, value, s.span),)

    def _target(self, e: ast.Expr, scope: Scope) -> pr.Place | pr.Slice | None:
        found = self.expr(e, scope)
        base = found.value if isinstance(found, pr.Slice) else found
        if found is None:
            return None
        if not isinstance(base, pr.Place) or not isinstance(found, pr.Place | pr.Slice):
            self.world.wrong_type(
                "a value cannot be assigned to", e.span, "Name a field, a variable or a slice of one."
            )
            return None
        return found if self.writable(base) else None

    def writable(self, place: pr.Place) -> bool:
        if place.root not in READ_ONLY[self.block]:
            return True
        self.world.wrong_type(
            f"a {self.block} cannot write `{place}`",
            place.span,
            "Copy it into metadata, and write that.",
            "It is what the chip says, and only read.",
        )
        return False

    def _copy(self, target: pr.Expr, value: pr.Place, span: Span) -> tuple[pr.Stmt, ...]:
        """A struct or header is copied field by field, a header with its validity."""
        if not isinstance(target, pr.Place) or not isinstance(target.type, Composite):
            return (pr.Assign(target, value, span),) if isinstance(target, pr.Place | pr.Slice) else ()
        found: list[pr.Stmt] = []
        if target.type.header:
            yes, no = (pr.SetValid(target, True, span),), (pr.SetValid(target, False, span),)
            found.append(pr.If(pr.Valid(value, span), yes, no, span))
        for name, kind in target.type.fields:
            a = pr.Place(target.root, (*target.path, name), kind, target.span)
            found += self._copy(a, pr.Place(value.root, (*value.path, name), kind, value.span), span)
        return tuple(found)

    def _unpack(self, s: ast.Assign, call: ast.Call, scope: Scope) -> tuple[pr.Stmt, ...]:
        assert isinstance(call.callee, ast.Name)
        if call.callee.name != "port_metadata_unpack" or self.block != "parser":
            self.expr(call, scope)
            return ()
        target = self.place(s.target, scope)
        kind = self.type(call.type_args[0], scope) if len(call.type_args) == 1 else None
        most = self.world.arch.port_metadata
        if target is None or kind is None or not self.arguments(call, 1):
            return ()
        if target.type != kind or not isinstance(kind, Composite) or kind.width > most:
            self.world.wrong_type(
                f"port metadata unpacked as `{kind}` of {width(kind)} bits into `{target.type}`",
                s.span,
                f"Unpack a struct of at most {most} bits into a field of its type.",
            )
            return ()
        if any(width(t) % 8 for _, t in kind.fields):
            self.world.wrong_type(
                "port metadata whose fields are no whole bytes",
                s.span,
                "Use fields of 8, 16 or 32 bits, and slice them.",
                "The chip lays them out byte by byte.",
            )
        return (pr.PortMetadata(target, s.span),)

    # ------------------------------------------------------------ calls

    def _do(self, s: ast.Do, scope: Scope) -> tuple[pr.Stmt, ...]:
        call = s.call
        if not isinstance(call, ast.Call):
            self.world.wrong_type("a value alone does nothing", s.span, "Assign it, or remove it.")
            return ()
        if isinstance(call.callee, ast.Name):
            return self._action_call(call, call.callee, scope)
        if not isinstance(call.callee, ast.Member):
            self.world.wrong_type("this cannot be called", s.span, "Call a method: `object.method(…)`.")
            return ()
        method = call.callee.name.text
        if method in ("setValid", "setInvalid"):
            header = self.header(call.callee.base, scope)
            return (pr.SetValid(header, method == "setValid", s.span),) if header is not None else ()
        if method == "apply":
            return self._apply(call, call.callee.base, scope)
        found = self.method(call, scope)
        if found is None:
            return ()
        made = self._effect(call, *found, scope)
        if made is not None:
            return made
        value = self.call(call, scope)
        return (pr.Do(value, s.span),) if value is not None else ()

    def _effect(self, e: ast.Call, of: Object, method: str, scope: Scope) -> tuple[pr.Stmt, ...] | None:
        """Methods without a value; None if this is none of them."""
        match of.type.name, method:
            case "Counter", "count":
                index = self.value(e.args[0], scope, of.type.args[1]) if self.arguments(e, 1) else None
                return (pr.Count(of.name, index, e.span),) if index is not None else ()
            case "Checksum", "subtract":
                items = self.summed(e, scope) if self.arguments(e, 1) else None
                for item in items or ():
                    if not isinstance(item, pr.Place):
                        self.world.outside("a parser's checksum over parts of fields", item.span, "Name whole fields.")
                return (pr.ChecksumSubtract(of.name, items, e.span),) if items is not None else ()
            case "Checksum", "subtract_all_and_deposit":
                return self._deposit(e, of, scope)
            case "packet_in", "extract":
                return self._extract(e, scope)
            case "packet_in", "advance":
                return self._advance(e, scope)
            case "packet_out", "emit":
                return self._emit(e, scope)
            case "Mirror", "emit":
                return self._mirror(e, scope)
            case _:
                return None

    def _deposit(self, e: ast.Call, of: Object, scope: Scope) -> tuple[pr.Stmt, ...]:
        target = self.place(e.args[0], scope) if self.arguments(e, 1) else None
        if target is None or self.fit(target, Bits(16), e.args[0].span) is None:
            return ()
        return (pr.ChecksumDeposit(of.name, target, e.span),)

    def _extract(self, e: ast.Call, scope: Scope) -> tuple[pr.Stmt, ...]:
        if not self.arguments(e, 1):
            return ()
        header = self.header(e.args[0], scope)
        if header is None:
            return ()
        if header.root in ("ig_intr_md", "eg_intr_md"):
            return (pr.ExtractIntrinsic(e.span),)
        return (pr.Extract(header, e.span),)

    def _advance(self, e: ast.Call, scope: Scope) -> tuple[pr.Stmt, ...]:
        bits = self.constant(e.args[0], scope, Bits(32)) if self.arguments(e, 1) else None
        if bits is None:
            return ()
        if isinstance(e.args[0], ast.Name) and e.args[0].name == "PORT_METADATA_SIZE":
            return (pr.PortMetadata(None, e.span),)
        if bits % 8:
            self.world.outside(f"an advance of {bits} bits", e.span, "Advance by whole bytes.")
            return ()
        return (pr.Advance(bits, e.span),)

    def _emit(self, e: ast.Call, scope: Scope) -> tuple[pr.Stmt, ...]:
        place = self.place(e.args[0], scope) if self.arguments(e, 1) else None
        if place is None:
            return ()
        found = headers(place)
        if not found and not (isinstance(place.type, Composite) and not place.type.fields):
            self.world.wrong_type("only headers are emitted", e.args[0].span, "Name a header or a struct of headers.")
        return tuple(pr.EmitHeader(h, e.span) for h in found)

    def _mirror(self, e: ast.Call, scope: Scope) -> tuple[pr.Stmt, ...]:
        if not self.arguments(e, 1, 2):
            return ()
        session = self.value(e.args[0], scope, self.world.arch.typedefs["MirrorId_t"])
        if len(e.args) == 1 or session is None:
            return (pr.EmitMirror(session, (), e.span),) if session is not None else ()
        kind = self.type(e.type_args[0], scope) if len(e.type_args) == 1 else None
        if not isinstance(kind, Composite) or not kind.header:
            self.world.wrong_type(
                "the mirror header needs a type", e.span, "Write `mirror.emit<HEADER>(session, { … })`."
            )
            return ()
        items = self._as_header(e.args[1], kind, scope)
        return (pr.EmitMirror(session, items, e.span),) if items is not None else ()

    def _as_header(self, arg: ast.Expr, kind: Composite, scope: Scope) -> tuple[pr.Expr, ...] | None:
        """The fields of a header given as a list, or as a header of this type."""
        if not isinstance(arg, ast.ListOf):
            place = self.place(arg, scope)
            if place is None or self.fit(place, kind, arg.span) is None:
                return None
            return tuple(pr.Place(place.root, (*place.path, n), t, place.span) for n, t in kind.fields)
        if len(arg.items) != len(kind.fields):
            self.world.wrong_type(
                f"{len(arg.items)} values for the {len(kind.fields)} fields of `{kind.name}`",
                arg.span,
                "List one value for each field, in order.",
            )
            return None
        found = [self.value(item, scope, t) for item, (_, t) in zip(arg.items, kind.fields, strict=True)]
        return tuple(f for f in found if f is not None) if None not in found else None

    # ------------------------------------------------------------ tables, controls, actions

    def _apply(self, e: ast.Call, base: ast.Expr, scope: Scope) -> tuple[pr.Stmt, ...]:
        found = self.meaning(base, scope)
        match found:
            case TableName():
                return (pr.Apply(found.name, e.span),) if self.arguments(e, 0) else ()
            case ControlInstance():
                return self.apply_control(e, found, scope)
            case None:
                return ()
            case _:
                self.world.wrong_type("this cannot be applied", e.span, "Apply a table or a control.")
                return ()

    def apply_control(self, e: ast.Call, of: ControlInstance, scope: Scope) -> tuple[pr.Stmt, ...]:
        """Blocks that may apply controls override this."""
        self.world.outside(f"a control applied in a {self.block}", e.span, "Apply it in a control.")
        return ()

    def _switch(self, s: ast.Switch, scope: Scope) -> tuple[pr.Stmt, ...]:
        value = s.value
        if not isinstance(value, ast.Member) or value.name.text != "action_run":
            self.world.outside(
                "a `switch` over anything but the action that a table ran",
                value.span,
                "Write `switch (table.apply().action_run)`, or `if` and `else if`.",
            )
            return ()
        table = self.applied(value.base, scope)
        if table is None:
            return ()
        known = (
            {a.rsplit(".", 1)[-1]: a for a in self.world.tables[table].actions} if table in self.world.tables else {}
        )
        cases: list[tuple[tuple[str, ...], tuple[pr.Stmt, ...]]] = []
        labels: list[str] = []
        for case in s.cases:
            if case.label is not None and case.label.text not in known:
                self.world.unknown("action of this table", case.label.text, case.label.span, list(known))
                continue
            labels.append(known[case.label.text] if case.label is not None else "")
            if case.body is not None:
                cases.append((tuple(labels), self.block_of(case.body, scope)))
                labels = []
        return (pr.ApplySwitch(table, tuple(cases), s.span),)

    def _action_call(self, e: ast.Call, name: ast.Name, scope: Scope) -> tuple[pr.Stmt, ...]:
        found = scope.find(name.name)
        if not isinstance(found, ActionName):
            known = [n for n in scope.visible() if isinstance(scope.find(n), ActionName)]
            self.world.unknown("action", name.name, name.span, known)
            return ()
        params = found.action.params
        if not self.arguments(e, len(params)):
            return ()
        inner = Scope(found.scope)
        before: list[pr.Stmt] = []
        for param, arg in zip(params, e.args, strict=True):
            kind = self.type(param.type, found.scope)
            if kind is None:
                return ()
            before += self.bind(param, kind, arg, scope, inner)
        body = self.block_of(found.action.body, inner)
        return (*before, pr.Run(found.name, body, e.span))

    def bind(self, param: ast.Param, kind: Type, arg: ast.Expr, scope: Scope, inner: Scope) -> tuple[pr.Stmt, ...]:
        """Gives a parameter its argument: `in` a copy, the others the place itself. What must run before the call."""
        if param.direction in ("out", "inout") or isinstance(kind, Composite):
            place = self.place(arg, scope)
            if place is None or self.fit(place, kind, arg.span) is None:
                return ()
            if param.direction in ("out", "inout") and not isinstance(kind, Composite) and not self.writable(place):
                return ()
            self.world.declare(inner, param.name, place)
            return ()
        value = self.value(arg, scope, kind)
        if value is None:
            return ()
        if isinstance(value, pr.Const):
            self.world.declare(inner, param.name, value)
            return ()
        variable = self.world.variable(f"{self.prefix}.{param.name.text}", kind, param.span)
        self.world.declare(inner, param.name, variable)
        return (pr.Declare(variable, arg.span), pr.Assign(variable, value, arg.span))
