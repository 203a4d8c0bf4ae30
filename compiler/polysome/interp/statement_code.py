"""Statements and handlers of the typed program to Python functions (LANGUAGE.md sections 7 to 11).

A packet handler returns its verdict: a port (int), a set of ports (frozenset), or the reason of a drop (str).
"""

from __future__ import annotations

from polysome.interp.expression_code import ExpressionCode
from polysome.ir import program as ir
from polysome.ir import types as t
from polysome.ir.fold import zero
from polysome.ir.value_places import owns
from polysome.kinds.state import TABLE_KINDS

INDENT = "    "


class StatementCode(ExpressionCode):
    """Collects the lines of the generated module."""

    def __init__(self, program: ir.Program) -> None:
        super().__init__(program)
        self.lines: list[str] = []
        self.depth = 0

    def put(self, line: str) -> None:
        self.lines.append(INDENT * self.depth + line)

    # ------------------------------------------------------------ bodies

    def body(self, body: ir.Body) -> None:
        """The statements, one level deeper."""
        self.depth += 1
        if not body:
            self.put("pass")
        for statement in body:
            self.statement(statement)
        self.depth -= 1

    def statement(self, s: ir.Statement) -> None:
        match s:
            case ir.SetLocal(slot=slot, value=v):
                self.put(f"s{slot} = {self.code(v)}")
            case ir.Evaluate(value=v):
                self.put(self.code(v))
            case ir.If(condition=c, then=then, orelse=orelse):
                self._if(self.code(c), then, orelse)
            case ir.ForRange(slot=slot, low=low, high=high, body=body):
                self.put(f"for s{slot} in range({self.code(low)}, {self.code(high)}):")
                self.body(body)
            case ir.ForEach():
                self._for_each(s)
            case ir.Lookup():
                self._lookup(s)
            case ir.MapPut():
                self._map_put(s)
            case ir.MapRemove(state=m, key=k):
                self.put(f"STATE[{m!r}].remove({self.code(k)})")
            case ir.StateWrite():
                self._state_write(s)
            case ir.FieldWrite(instance=i, field=f, value=v):
                self.put(f"p.edits[{i << 16 | f}] = {self.code(v)}")
            case ir.Send(target=target):
                self.put(f"return {self.code(target)}")
            case ir.Bounce():
                self.put("return p.in_port")
            case ir.Drop(reason=reason):
                self.put(f"return {reason!r}")
            case _:
                self._packet_statement(s)

    def _if(self, condition: str, then: ir.Body, orelse: ir.Body) -> None:
        if not then:
            self.put(f"if not {condition}:")
            self.body(orelse)
            return
        self.put(f"if {condition}:")
        self.body(then)
        if orelse:
            self.put("else:")
            self.body(orelse)

    def _for_each(self, s: ir.ForEach) -> None:
        names = ", ".join(f"s{slot}" for slot in s.slots)
        if s.state is not None:
            decl = self.program.state[s.state]
            if isinstance(decl, ir.MapDecl):
                names = names if decl.value is not None else f"{names}, _"
                self.put(f"for {names} in STATE[{s.state!r}].items():")
            else:
                self.put(f"for {names} in list(STATE[{s.state!r}]):")
        else:
            assert s.table is not None
            table = self.code(s.table)
            if isinstance(s.table.type, t.Table):
                table = f"{table}.items()"
            elif isinstance(s.table.type, t.SetOf):
                table = f"sorted({table})"
            self.put(f"for {names} in {table}:")
        self.body(s.body)

    def _lookup(self, s: ir.Lookup) -> None:
        self._bind(s)
        if s.found:
            self._if(f"s{s.slot} is not None", s.found, s.absent)
        else:
            self.put(f"if s{s.slot} is None:")
            self.body(s.absent)

    def _bind(self, s: ir.Lookup) -> None:
        """What the lookup finds, or None, into its slot."""
        key = self.code(s.key) if s.key is not None else "None"
        match s.kind:
            case "map":
                found = f"STATE[{s.source!r}].{'get' if s.refresh else 'peek'}({key})"
            case "index":
                found = f"STATE[{s.source!r}].{'find' if s.refresh else 'peek_index'}({s.index!r}, {key})"
            case "pool":
                found = f"STATE[{s.source!r}].take({key})"
            case _:
                found = self._table_get(s, key)
        self.put(f"s{s.slot} = {found}")

    def _table_get(self, s: ir.Lookup, key: str) -> str:
        type = self.program.config[s.source].type
        assert isinstance(type, t.Table) and s.key is not None
        asked = "".join(f", {more!r}" for more in TABLE_KINDS[type.kind].asked(s.key.type))
        return f"CFG[{s.source!r}].get({key}{asked})"

    def _map_put(self, s: ir.MapPut) -> None:
        decl = self.program.state[s.state]
        assert isinstance(decl, ir.MapDecl) and decl.value is not None
        if s.current is None:
            self.put(f"put(STATE[{s.state!r}], {self.code(s.key)}, {self.code(s.value)}, {self.place(s)})")
            return
        initial = self.constant(zero(decl.value))
        owned = owns(decl.value)
        self.put(f"key = {self.code(s.key)}")
        self.put(f"s{s.current} = present(STATE[{s.state!r}], key, {initial}, {owned!r}, {self.place(s)})")
        self.put(f"put(STATE[{s.state!r}], key, {self.code(s.value)}, {self.place(s)})")

    def _state_write(self, s: ir.StateWrite) -> None:
        if s.index is None:
            self.put(f"scalars[{s.state!r}] = {self.code(s.value)}")
        else:
            self.put(f"at2(STATE[{s.state!r}].set, {self.code(s.index)}, {self.code(s.value)}, {self.place(s)})")

    def _packet_statement(self, s: ir.Statement) -> None:
        match s:
            case ir.Push(header=h, fields=fields, before=before):
                self.put(f"p.operations.append(('push', {h!r}, {self._fields(fields)}, {before!r}))")
            case ir.Pop(first=first, last=last):
                self.put(f"p.operations.append(('pop', {first}, {last}))")
            case ir.Truncate(size=size):
                self.put(f"p.operations.append(('truncate', {self.code(size)}))")
            case ir.Emit(headers=headers, payload=payload, target=target):
                built = ", ".join(f"({h!r}, {self._fields(fields)})" for h, fields in headers)
                self.put(f"emit(({built},), {self._payload(payload)}, {self.code(target)})")
            case _:
                raise AssertionError(f"no code for {type(s).__name__}")

    def _fields(self, fields: tuple[tuple[int, ir.Expr], ...]) -> str:
        return "{" + ", ".join(f"{i}: int({self.code(v)})" for i, v in fields) + "}"

    def _payload(self, payload: ir.Expr | None) -> str:
        if payload is None:
            return "b''"
        width = t.width(payload.type)
        code = self.code(payload)
        return code if width is None else f"({code}).to_bytes({width // 8}, 'big')"

    # ------------------------------------------------------------ functions

    def function(self, name: str, params: str, body: ir.Body, uses_packet: bool, fallthrough: str = "") -> None:
        """`def name(params)` with the body."""
        self.put(f"def {name}({params}):")
        self.depth += 1
        if uses_packet:
            self.put("d = p.data; o = p.offset")
        self.depth -= 1
        self.body(body)
        if fallthrough:
            self.put(INDENT + fallthrough)
        self.put("")

    def expression_function(self, name: str, params: str, e: ir.Expr, uses_packet: bool) -> None:
        """`def name(params)` that returns the expression."""
        self.put(f"def {name}({params}):")
        if uses_packet:
            self.put(INDENT + "d = p.data; o = p.offset")
        self.put(INDENT + f"return {self.code(e)}")
        self.put("")
