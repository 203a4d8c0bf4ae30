"""The interpreter's code, with a call to a tracer at every statement and at every value that a person would look up."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from polysome.interp.code import Generated, generate
from polysome.interp.statement_code import StatementCode
from polysome.ir import program as ir
from polysome.ir import types as t
from polysome.ir.fold import zero
from polysome.ir.value_places import owns
from polysome.ir.walk import walk
from polysome.kinds.base import Trap
from polysome.kinds.state.flow_map import FlowMap
from polysome.kinds.values import ABSENT, plain

_COMPARED = ("==", "!=", "<", "<=", ">", ">=")


@dataclass(frozen=True, slots=True)
class Value:
    """What an expression of the running statement was."""

    node: ir.Expr
    value: Any


@dataclass(slots=True)
class Executed:
    """A statement that ran. Values are plain (`kinds.values`).

    `values`: of its operands, in the order of evaluation; `result`: what a condition, lookup, assignment or verdict
    came to; `old`: what the written cell or field held before; `key`: of the cell; ABSENT where there is nothing.
    """

    statement: ir.Statement
    values: list[Value] = field(default_factory=list)
    result: Any = ABSENT
    old: Any = ABSENT
    key: Any = ABSENT


class Tracer:
    """Collects what runs while `active`. Its methods are what the generated code calls; `n` numbers nodes."""

    def __init__(self) -> None:
        self.active = False
        self.executed: list[Executed] = []
        self.nodes: list[Any] = []

    def number(self, node: ir.Node) -> int:
        self.nodes.append(node)
        return len(self.nodes) - 1

    def statement(self, n: int) -> None:
        if self.active:
            self.executed.append(Executed(self.nodes[n]))

    def value(self, n: int, value: Any) -> Any:
        if self.active and self.executed:
            self.executed[-1].values.append(Value(self.nodes[n], plain(value)))
        return value

    def result(self, value: Any) -> Any:
        if self.active:
            self.executed[-1].result = plain(value)
        return value

    def found(self, key: Any, value: Any) -> None:
        """A lookup; None is nothing."""
        if self.active:
            self.executed[-1].key = plain(key)
            self.executed[-1].result = ABSENT if value is None else plain(value)

    def before(self, key: Any, read: Callable[[], Any]) -> None:
        """A cell that is about to be written."""
        if self.active:
            self.executed[-1].key = plain(key)
            try:
                old = read()
            except Trap:
                old = None
            self.executed[-1].old = ABSENT if old is None else plain(old)


def tracing(program: ir.Program) -> tuple[Generated, Tracer]:
    """The program's code, and the tracer that it calls."""
    tracer = Tracer()
    generated = generate(program, lambda p: _TracingCode(p, tracer))
    generated.constants.update(
        {"STEP": tracer.statement, "VAL": tracer.value, "RESULT": tracer.result, "FOUND": tracer.found}
        | {"BEFORE": tracer.before, "PEEK": FlowMap.peek}
    )
    return generated, tracer


class _TracingCode(StatementCode):
    def __init__(self, program: ir.Program, tracer: Tracer) -> None:
        super().__init__(program)
        self._tracer = tracer
        self._silent = 1  # above 0: not in a handler, or in a part of what is shown as a whole

    def function(self, name: str, params: str, body: ir.Body, uses_packet: bool, fallthrough: str = "") -> None:
        self._silent -= 1
        super().function(name, params, body, uses_packet, fallthrough)
        self._silent += 1

    # ------------------------------------------------------------ values

    def code(self, e: ir.Expr) -> str:
        if self._silent or not _shown(e):
            return super().code(e)
        whole = _whole(e)
        self._silent += whole
        inner = super().code(e)
        self._silent -= whole
        return f"VAL({self._tracer.number(e)}, {inner})"

    # ------------------------------------------------------------ statements

    def statement(self, s: ir.Statement) -> None:
        self.put(f"STEP({self._tracer.number(s)})")
        match s:
            case ir.SetLocal(slot=slot, value=v):
                self.put(f"s{slot} = RESULT({self._quiet(v)})")
            case ir.Evaluate(value=v):
                self.put(f"RESULT({self.code(v)})")
            case ir.If(condition=c, then=then, orelse=orelse):
                self._if(f"RESULT({self.code(c)})", then, orelse)
            case ir.FieldWrite(instance=i, field=f, value=v):
                shape = self.program.parser.instances[i].header.fields[f]
                old = self._field(ir.HeaderField(s.span, shape.type, i, f))
                self.put(f"BEFORE(None, lambda: {old})")
                self.put(f"p.edits[{i << 16 | f}] = RESULT({self._quiet(v)})")
            case ir.MapRemove(state=m, key=k):
                self.put(f"key = {self.code(k)}")
                self.put(f"BEFORE(key, lambda: PEEK(STATE[{m!r}], key))")
                self.put(f"STATE[{m!r}].remove(key)")
            case ir.Send(target=target):
                self.put(f"return RESULT({self.code(target)})")
            case _:
                super().statement(s)

    def _quiet(self, e: ir.Expr) -> str:
        """An expression whose own value is the statement's result: only its operands are shown."""
        if self._silent or not _shown(e) or isinstance(e, (ir.MethodCall, ir.BucketOp)):
            return self.code(e)
        whole = _whole(e)
        self._silent += whole
        inner = super().code(e)
        self._silent -= whole
        return inner

    def _bind(self, s: ir.Lookup) -> None:
        self._silent += 1
        key = self.code(s.key) if s.key is not None else "None"
        super()._bind(s)
        self._silent -= 1
        self.put(f"FOUND({key if _repeatable(s.key) else 'None'}, s{s.slot})")

    def _map_put(self, s: ir.MapPut) -> None:
        decl = self.program.state[s.state]
        assert isinstance(decl, ir.MapDecl) and decl.value is not None
        self.put(f"key = {self._quiet(s.key)}")
        self.put(f"BEFORE(key, lambda: PEEK(STATE[{s.state!r}], key))")
        if s.current is not None:
            initial, owned = self.constant(zero(decl.value)), owns(decl.value)
            self.put(f"s{s.current} = present(STATE[{s.state!r}], key, {initial}, {owned!r}, {self.place(s)})")
        self.put(f"put(STATE[{s.state!r}], key, RESULT({self._quiet(s.value)}), {self.place(s)})")

    def _state_write(self, s: ir.StateWrite) -> None:
        if s.index is None:
            self.put(f"BEFORE(None, lambda: scalars[{s.state!r}])")
            self.put(f"scalars[{s.state!r}] = RESULT({self._quiet(s.value)})")
            return
        self.put(f"key = {self._quiet(s.index)}")
        self.put(f"BEFORE(key, lambda: STATE[{s.state!r}].get(key))")
        self.put(f"at2(STATE[{s.state!r}].set, key, RESULT({self._quiet(s.value)}), {self.place(s)})")


def _shown(e: ir.Expr) -> bool:
    """Is the value worth a place of its own? Not constants, arithmetic between values that are, or whole tables."""
    match e:
        case ir.Config(type=type):
            return not isinstance(type, (t.ListOf, t.SetOf, t.Table))
        case ir.Binary(op=op):
            return op in _COMPARED and not isinstance(e.left, ir.Ratio) and not isinstance(e.right, ir.Ratio)
        case ir.HeaderField() | ir.PacketValue() | ir.Local() | ir.Get() | ir.Deref() | ir.Valid():
            return True
        case ir.StateRead() | ir.ArrayRead() | ir.Contains() | ir.StateLen() | ir.MethodCall() | ir.BucketOp():
            return True
        case ir.FnCall() | ir.InSet() | ir.InPrefix() | ir.ListIndex() | ir.Length() | ir.Hash():
            return True
        case ir.Now() | ir.PacketLen() | ir.InPort() | ir.PayloadLen() | ir.PayloadBytes() | ir.RestBytes():
            return True
        case _:
            return False


def _whole(e: ir.Expr) -> bool:
    """Is its value all that is worth knowing of it, not those of its parts?"""
    return isinstance(e, (ir.Get, ir.Deref, ir.FnCall))


def _repeatable(e: ir.Expr | None) -> bool:
    """May it be evaluated a second time? Not what writes state."""
    return not any(isinstance(node, (ir.MethodCall, ir.BucketOp)) for node in walk(e))
