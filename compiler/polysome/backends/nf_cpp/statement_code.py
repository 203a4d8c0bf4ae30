"""Statements and handlers of the typed program to C++ (LANGUAGE.md sections 7 to 11).

Every handler is a function that returns a Verdict; a line that comes from a new line of the spec is preceded by a
comment that names it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from textwrap import shorten

from polysome.backends.nf_cpp.ahead import AheadKey, ends
from polysome.backends.nf_cpp.constants_code import field_names, header_names
from polysome.backends.nf_cpp.expression_code import Shared
from polysome.backends.nf_cpp.lines import WIDTH
from polysome.backends.nf_cpp.reads import field_name
from polysome.backends.nf_cpp.same_text import canonical_text
from polysome.backends.nf_cpp.state_expressions import Expressions
from polysome.backends.nf_cpp.table_code import table_cpp
from polysome.backends.nf_cpp.types_code import Unsupported, cpp
from polysome.ir import program as ir
from polysome.ir import types as t
from polysome.ir.walk import walk
from polysome.kinds.state import TABLE_KINDS

INDENT = "    "


class Statements(Expressions):
    """Collects the lines of one function."""

    def __init__(self, shared: Shared, keys_ahead: Sequence[tuple[str, AheadKey]] = ()) -> None:
        super().__init__(shared, lambda reason: f"return drop({reason});")
        self.lines: list[str] = []
        self.depth = 1
        self.keys_ahead = [(member, one.value, set(one.conditions)) for member, one in keys_ahead]
        self.met: list[tuple[str, bool]] = []  # conditions that hold where the present statement stands
        self.pure: dict[int, str] = {}
        self._line = ""

    def put_line(self, line: str) -> None:
        self.lines.append(INDENT * self.depth + line)

    # ------------------------------------------------------------ functions

    def function(self, body: ir.Body) -> list[str]:
        """The lines of a function's body: declarations of its locals, then the statements."""
        self.declare(body)
        self.body(body)
        if not body or not isinstance(body[-1], ir.Send | ir.Bounce | ir.Drop):
            self.put_line("return {};")
        return self.lines

    def declare(self, body: ir.Body) -> None:
        """Locals that are read somewhere and not parameters; LetIn and functions declare their own."""
        inner = {node.slot for node in walk(body) if isinstance(node, ir.LetIn)}
        for node in walk(body):
            if not isinstance(node, ir.Local) or node.slot in inner:
                continue
            if (node.slot, cpp(node.type)) not in self.locals:
                name = self.local(node.slot, node.name, node.type)
                self.put_line(f"{self.shared.cpp(node.type)} {name}{{}};")

    def bound(self, slot: int, type: t.Type | None) -> str | None:
        """The local of a slot that holds values of the type (None: a number), None if nothing reads it."""
        if type is not None:
            return self.locals.get((slot, cpp(type)))
        return next((name for (number, _), name in self.locals.items() if number == slot), None)

    # ------------------------------------------------------------ statements

    def body(self, body: ir.Body) -> None:
        met = len(self.met)
        for statement in body:
            self.comment(statement)
            self.statement(statement)
            if isinstance(statement, ir.If) and ends(statement.then) != ends(statement.orelse):
                # Of packets that are still here, this is known.
                self.met.append((canonical_text(statement.condition, self.pure), ends(statement.orelse)))
        del self.met[met:]

    def comment(self, s: ir.Statement) -> None:
        place = self.program.place(s.span)
        if place != self._line:
            self._line = place
            source = self.program.sources[s.span.file]
            text = source.text[s.span.start : s.span.end].split("\n")[0]
            room = WIDTH - len(INDENT) * (self.depth + 1) - len(f"// {place}: ")  # they stand in a class
            self.put_line(f"// {place}: {shorten(text, max(room, 40), placeholder=' …')}".rstrip(" \\"))

    def block(self, head: str, body: ir.Body) -> None:
        self.put_line(head)
        self.depth += 1
        self.body(body)
        self.depth -= 1

    def statement(self, s: ir.Statement) -> None:
        match s:
            case ir.SetLocal(slot=slot, value=v):
                name, value = self.bound(slot, v.type), self.code(v)
                self.put_line(f"{name} = {value};" if name else f"(void){value};")
            case ir.Evaluate(value=v):
                self._evaluate(v)
            case ir.If():
                self._if(s)
            case ir.ForRange():
                self._for_range(s)
            case ir.ForEach():
                self._for_each(s)
            case ir.Lookup():
                self._lookup(s)
            case ir.MapPut():
                self._map_put(s)
            case ir.MapRemove(state=m, key=k):
                nested = self.reason(f"on end of {m} nested too deep")
                self.put_line("{")
                self.put_line(f"{INDENT}{self.key(m, None, k)}")
                self.put_line(
                    f"{INDENT}if ({self.state(m)}.remove(key).what != Put::stored) [[unlikely]] " + self.trap(nested)
                )
                self.put_line("}")
                self.removed(s)
            case ir.StateWrite():
                self._state_write(s)
            case ir.FieldWrite(instance=i, field=n, value=v):
                name = self.edit_name(i, n)
                self.put_line(f"e.{name} = {self.code(v)};")
                self.put_line(f"e.has_{name} = true;")
            case ir.Send(target=target):
                call = "send" if isinstance(target.type, t.Port) else "send_to"
                self.put_line(f"return {call}({self.code(target)});")
            case ir.Bounce():
                self.put_line("return send(f.in_port);")
            case ir.Drop(reason=reason):
                self.put_line(f"return drop({self.reason(reason)});")
            case _:
                self._packet_statement(s)

    def edit_name(self, i: int, n: int) -> str:
        return field_name(self.program.parser, i, n)

    def _evaluate(self, v: ir.Expr) -> None:
        if isinstance(v, ir.MethodCall) and isinstance(self.program.state[v.state], ir.MapDecl):
            self.put_line("{")
            self.put_line(INDENT + self.key(v.state, None, v.args[0]))
            self.put_line(INDENT + self.store(v.state, "None{}", v))
            self.put_line("}")
            return
        code = self.code(v)
        self.put_line(f"{code};" if isinstance(v, ir.MethodCall) else f"(void){code};")

    def _if(self, s: ir.If) -> None:
        text = canonical_text(s.condition, self.pure)
        if not s.then:
            self._branch(f"if (!({self.condition(s.condition)})) {{", s.orelse, (text, False))
            self.put_line("}")
            return
        self._branch(f"if ({self.condition(s.condition)}) {{", s.then, (text, True))
        if s.orelse:
            self._branch("} else {", s.orelse, (text, False))
        self.put_line("}")

    def _branch(self, head: str, body: ir.Body, met: tuple[str, bool]) -> None:
        self.met.append(met)
        self.block(head, body)
        self.met.pop()

    def _for_range(self, s: ir.ForRange) -> None:
        low, high, counter = self.code(s.low), self.code(s.high), self.temp("i")
        self.put_line(f"for (uint64_t {counter} = {low}; {counter} < {high}; ++{counter}) {{")
        self.depth += 1
        if name := self.bound(s.slot, None):
            self.put_line(f"{name} = static_cast<decltype({name})>({counter});")
        self.body(s.body)
        self.depth -= 1
        self.put_line("}")

    def _for_each(self, s: ir.ForEach) -> None:
        item = self.temp("item")
        names = [self.bound(slot, None) for slot in s.slots]
        sets: list[str] = []
        if s.state is not None:
            decl = self.program.state[s.state]
            over = f"{self.state(s.state)}.items()"
            key = decl.key if isinstance(decl, ir.MapDecl) else self._params(decl)[0]
            parts = [f"unpack_to<{self.shared.cpp(key)}>({item}.first)", f"{item}.second"]
        elif isinstance(s.table.type, t.Table):  # type: ignore[union-attr]
            assert s.table is not None
            over = f"{self.code(s.table)}.entries()"
            parts = [f"{item}.first", f"{item}.second"]
        else:
            assert s.table is not None
            over = self.code(s.table)
            parts = [item]
        sets = [f"{n} = {part};" for n, part in zip(names, parts, strict=False) if n]
        self.put_line(f"for (const auto& {item} : {over}) {{")
        self.depth += 1
        self.put_line(f"(void){item};" if not sets else sets[0])
        for line in sets[1:]:
            self.put_line(line)
        self.body(s.body)
        self.depth -= 1
        self.put_line("}")

    def _params(self, decl: ir.AnyState) -> tuple[t.Type, ...]:
        if not isinstance(decl, ir.KindDecl):
            raise Unsupported(f"a loop over {decl.name}")
        return decl.params

    # ------------------------------------------------------------ lookups

    def looked(self, s: ir.Lookup, condition: str, found: str) -> None:
        """Whatever is to be done where a lookup has its result: `found`, if `condition`."""

    def removed(self, s: ir.MapRemove) -> None:
        """Whatever is to be done once an entry was removed."""

    def _lookup(self, s: ir.Lookup) -> None:
        name = self.bound(s.slot, self._found(s))
        self.put_line("{")
        self.depth += 1
        match s.kind:
            case "map" | "index":
                condition, found, sets = self._map_lookup(s, name)
            case "pool":
                partition = self.code(s.key) if s.key is not None else "None{}"
                condition = self.temp("taken")
                self.put_line(f"const auto {condition} = {self.state(s.source)}.take({partition});")
                found, sets = f"(*{condition})", [f"{name} = *{condition};"] if name else []
            case _:
                condition, sets = self._table_lookup(s, name)
                found = f"(*{condition})"
        self.looked(s, condition, found)
        self.put_line(f"if ({condition}) {{")
        self.depth += 1
        for line in sets:
            self.put_line(line)
        self.body(s.found)
        self.depth -= 1
        if s.absent:
            self.block("} else {", s.absent)
        self.put_line("}")
        self.depth -= 1
        self.put_line("}")

    def _found(self, s: ir.Lookup) -> t.Type:
        """The type of what a lookup binds."""
        if s.kind == "table":
            table = self.program.config[s.source].type
            assert isinstance(table, t.Table)
            return t.Ref(s.source, table.value) if TABLE_KINDS[table.kind].identity else table.value
        decl = self.program.state[s.source]
        if isinstance(decl, ir.PoolDecl):
            return t.FromPool(s.source, decl.item)
        assert isinstance(decl, ir.MapDecl) and decl.value is not None
        return decl.value if s.index is None else t.Entry(decl.key, decl.value)

    def _map_lookup(self, s: ir.Lookup, name: str | None) -> tuple[str, str, list[str]]:
        assert s.key is not None
        state, decl = self.state(s.source), self.program.state[s.source]
        assert isinstance(decl, ir.MapDecl)
        self.put_line(self.key(s.source, s.index, s.key))
        find = "find" if s.index is None else f"find_index<{self.index_number(decl, s.index)}>"
        at = self.temp("at")
        self.put_line(f"const auto {at} = {state}.{find}(key);")
        sets = [f"{state}.use({at});"] if s.refresh else []
        found = f"{state}.value({at})"
        if name and s.index is None:
            sets.append(f"{name} = {found};")
        elif name:
            key = f"unpack_to<{self.shared.cpp(decl.key)}>({state}.key({at}))"
            sets.append(f"{name} = {{{key}, {found}}};")
            found = f"{self.shared.cpp(self._found(s))}{{{key}, {found}}}"
        return f"{at} != absent", found, sets

    def _table_lookup(self, s: ir.Lookup, name: str | None) -> tuple[str, list[str]]:
        assert s.key is not None
        ahead = self.ahead_key(s.source, None, s.key)
        found = f"a.{ahead}" if ahead is not None else self.row(s.source, s.key)
        row = self.temp("row")
        self.put_line(f"const auto {row} = {found};")
        return row, [f"{name} = *{row};"] if name else []

    def row(self, table: str, key: ir.Expr) -> str:
        """What a lookup in a config table gives, as an expression."""
        type = self.program.config[table].type
        assert isinstance(type, t.Table)
        return table_cpp(type).lookup(self, self.config(table), self.code(key), key.type)

    # ------------------------------------------------------------ writes

    def _map_put(self, s: ir.MapPut) -> None:
        decl = self.program.state[s.state]
        assert isinstance(decl, ir.MapDecl) and decl.value is not None
        self.put_line("{")
        self.depth += 1
        self.put_line(self.key(s.state, None, s.key))
        at = ""
        if s.current is not None:
            present, at = self.temp("present"), self.temp("at")
            self.put_line(self.present(s.state, present, at, s))
            if name := self.bound(s.current, decl.value):
                self.put_line(f"{name} = {present};")
        value = self.temp("value")
        self.put_line(f"const {self.shared.cpp(decl.value)} {value} = {self.code(s.value)};")
        self.put_line(
            self.stored(s.state, s.key, value) + self.store(s.state, value, s, "" if self.acts(s.value) else at)
        )
        self.depth -= 1
        self.put_line("}")

    def _state_write(self, s: ir.StateWrite) -> None:
        if s.index is None:
            self.put_line(f"{self.state(s.state)} = {self.code(s.value)};")
            return
        at, value = self.temp("at"), self.temp("value")
        past = self.reason(f"index past the end of {s.state}", s)
        self.put_line("{")
        self.put_line(f"{INDENT}const uint64_t {at} = {self.code(s.index)};")
        self.put_line(f"{INDENT}const auto {value} = {self.code(s.value)};")
        self.put_line(f"{INDENT}{self.guard(f'{at} >= {self.state(s.state)}.size()', past)}")
        self.put_line(f"{INDENT}{self.state(s.state)}[{at}] = {value};")
        self.put_line("}")

    # ------------------------------------------------------------ packets that change

    def _packet_statement(self, s: ir.Statement) -> None:
        match s:
            case ir.Push(header=h, fields=fields, before=before):
                where = "-1" if before is None else self.instance(before)
                header, given = header_names(self.program)[h], self._given(h, fields)
                self.put_line(
                    f"e.operations.push_back({{.kind = Operation::Kind::push, .header = {header}, "
                    f".before = {where}, .given = {given}}});"
                )
            case ir.Pop(first=first, last=last):
                self.put_line(
                    f"e.operations.push_back({{.kind = Operation::Kind::pop, "
                    f".first = {self.instance(first)}, .last = {self.instance(last)}}});"
                )
            case ir.Truncate(size=size):
                self.put_line(
                    f"e.operations.push_back({{.kind = Operation::Kind::truncate, .size = {self.code(size)}}});"
                )
            case ir.Emit():
                self._emit(s)
            case _:
                raise Unsupported(f"{type(s).__name__} at {self.program.place(s.span)}")

    def _given(self, header: str, fields: Iterable[tuple[int, ir.Expr]]) -> str:
        names = field_names(self.program)
        return "{" + ", ".join(f"{{{names[header, n]}, {self.code(v)}}}" for n, v in fields) + "}"

    def _emit(self, s: ir.Emit) -> None:
        self.put_line("{")
        self.depth += 1
        self.put_line("Operations made;")
        for h, fields in s.headers:
            header, given = header_names(self.program)[h], self._given(h, fields)
            self.put_line(f"made.push_back({{.header = {header}, .given = {given}}});")
        payload = "std::span<const uint8_t>{}"
        if s.payload is not None:
            width = t.width(s.payload.type)
            if width is None:
                payload = self.code(s.payload)
            else:
                self.put_line(f"uint8_t content[{width // 8}];")
                self.put_line(f"Writer({'content'}).put({self.code(s.payload)}, {width // 8});")
                payload = "content"
        self.put_line(f"emit(made, {payload}, {self.code(s.target)});")
        self.depth -= 1
        self.put_line("}")

    # ------------------------------------------------------------ keys computed ahead

    def ahead_key(self, state: str, index: str | None, e: ir.Expr) -> str | None:
        identity = state, index, canonical_text(e, self.pure)
        fitting = (m for m, known, conditions in self.keys_ahead if known == identity and conditions <= set(self.met))
        return next(fitting, None)


def cpp_params(slots: Iterable[tuple[str, t.Type]]) -> str:
    return ", ".join(f"const {cpp(type)}& {name}" for name, type in slots)
