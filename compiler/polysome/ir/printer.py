"""The typed program as text: what `--print-after ir` shows. The same program always gives the same text."""

from __future__ import annotations

from polysome.ir import program as ir
from polysome.ir import types as t
from polysome.ir.expression_text import ExpressionText, constant

INDENT = "  "


def show(program: ir.Program) -> str:
    """The whole program: declarations, the unrolled parser, state, contract, handlers, schedule."""
    return "\n".join(_Printer(program).lines()) + "\n"


class _Printer(ExpressionText):
    """Collects lines; `depth` is the present indentation."""

    def __init__(self, program: ir.Program) -> None:
        super().__init__(program)
        self.out: list[str] = []
        self.depth = 0

    def put(self, line: str) -> None:
        self.out.append(INDENT * self.depth + line)

    def open(self, head: str, body: ir.Body) -> None:
        """A head and its body in braces; an empty body on the same line."""
        if not body:
            self.put(f"{head} {{}}")
            return
        self.put(f"{head} {{")
        self.depth += 1
        for statement in body:
            self.statement(statement)
        self.depth -= 1
        self.put("}")

    def lines(self) -> list[str]:
        program = self.program
        self.put(f"nf {program.name}")
        self.put(f"ports {', '.join(program.ports)}")
        for name, (type, value) in sorted(program.params.items()):
            self.put(f"param {name}: {type} = {constant(type, value, program.ports) if value is not None else '?'}")
        for config in program.config.values():
            self.put(f"config {config.name}: {config.type}")
        self._parser(program.parser)
        for fn in program.fns.values():
            self.put(f"fn {fn.name}({', '.join(map(str, fn.slots))}) = {self.expr(fn.body)}")
        for state in program.state.values():
            self._state(state)
        self._contract()
        self._handlers()
        schedule = program.schedule
        options = "".join(f"; {k} {v}" for k, v in schedule.options.items())
        policy = f"{schedule.policy} {self.list(schedule.args)}".strip()
        self.put(f"schedule {{ class {self.expr(schedule.cls)}; {policy}{options} }}")
        return self.out

    # ------------------------------------------------------------ parser

    def _parser(self, parser: ir.Parser) -> None:
        self.put(f"parser {parser.name}: {len(parser.instances)} headers, {len(parser.classes)} classes")
        self.depth += 1
        for number, node in enumerate(parser.nodes):
            extract = "" if node.instance is None else f" extract {self.instance(node.instance)}"
            self.put(f"{number} {node.name}:{extract}")
            self.depth += 1
            for condition, target in node.hooks:
                self.put(f"hook {'always' if condition is None else self.expr(condition)} => {target}")
            if node.keys:
                self.put(f"select {self.list(node.keys)}")
            for case in node.cases:
                matches = " or ".join(_match(m) for m in case.matches)
                self.put(f"{matches or 'always'} => {case.target if case.target >= 0 else 'accept'}")
            self.depth -= 1
        for value in parser.values.values():
            self.put(f"value {value.name} = {self.expr(value.value)}")
            if value.for_class is not value.value:
                self.put(f"class {value.name} = {self.expr(value.for_class)}")
        self.depth -= 1

    # ------------------------------------------------------------ state and contract

    def _state(self, state: ir.AnyState) -> None:
        per_core = " per core" if state.per_core else ""
        match state:
            case ir.MapDecl():
                kind = f"set<{state.key}>" if state.value is None else f"map<{state.key}, {state.value}>"
                said = [f"capacity {state.capacity}", *(f"{n} {x}" for n, x in self._timeouts(state))]
                self.put(f"state {state.name}: {kind}{per_core} {{ {'; '.join(said)}; when full {state.when_full} }}")
                for index in state.indexes:
                    self.put(f"index {index.name}: {state.name} by {self.expr(index.key)}")
            case ir.PoolDecl():
                axes = ", ".join(a if isinstance(a, str) else f"{a[0]}..{a[1]}" for a in state.axes)
                per = f"; per {self.expr(state.per)}" if state.per is not None else ""
                self.put(f"state {state.name}: pool<{state.item}>{per_core} {{ from {axes}{per} }}")
            case ir.ArrayDecl():
                first = constant(state.item, state.initial, self.program.ports)
                self.put(f"state {state.name}: array<{state.item}>[{state.size}]{per_core} = {first}")
            case ir.ScalarDecl():
                first = "full" if isinstance(state.type, t.Bucket) else self._initial(state)
                self.put(f"state {state.name}: {state.type}{per_core} = {first}")
            case ir.KindDecl():
                params = ", ".join(map(str, state.params))
                options = "; ".join(f"{k} {v}" for k, v in state.options.items())
                self.put(f"state {state.name}: {state.kind}<{params}>{per_core} {{ {options} }}")

    def _initial(self, state: ir.ScalarDecl) -> str:
        if isinstance(state.type, (t.Struct, t.Tuple)) and t.width(state.type) is None:
            return "all zero, buckets full"
        return constant(state.type, state.initial, self.program.ports)

    def _timeouts(self, state: ir.MapDecl) -> list[tuple[str, str]]:
        found = [(n, x) for n, x in (("idle", state.idle), ("age", state.age)) if x is not None]
        return [
            (n, self.expr(x.value) + ("" if isinstance(x.value, ir.Const) else f" max {x.maximum}ns")) for n, x in found
        ]

    def _contract(self) -> None:
        contract = self.program.contract
        if contract is None:
            return
        self.put("relevant {")
        self.depth += 1
        for i, f, classes, _ in contract.fields:
            self.put(f"{self.field(i, f)} in {classes.bit_count()} classes")
        for low, high, classes, _ in contract.payload:
            self.put(f"payload[{low}..{high}] in {classes.bit_count()} classes")
        for i, low, high, classes, _ in contract.spans:
            self.put(f"{self.instance(i)}[{low}..{high}] in {classes.bit_count()} classes")
        if contract.packet:
            self.put(f"packet in {contract.packet.bit_count()} classes")
        self.depth -= 1
        self.open(f"}} passing {contract.passing.bit_count()} classes, else", (contract.orelse,))

    # ------------------------------------------------------------ handlers

    def _handlers(self) -> None:
        program = self.program
        for handler in program.packet_handlers:
            self.open(f"on packet from {', '.join(program.ports[p] for p in handler.ports)}", handler.body)
        for end in program.end_handlers.values():
            self.open(f"on end {end.map}({', '.join(map(str, end.slots))})", end.body)
        for timer in program.timers:
            self.open(f"every {timer.period}ns", timer.body)

    def statement(self, s: ir.Statement) -> None:
        """One statement and what is inside it."""
        match s:
            case ir.If(condition=condition, then=then, orelse=orelse):
                self.open(f"if {self.expr(condition)}", then)
                if orelse:
                    self.open("else", orelse)
            case ir.ForRange(slot=slot, name=name, low=low, high=high, body=body):
                self.open(f"for {name}.{slot} in {self.expr(low)}..{self.expr(high)}", body)
            case ir.ForEach(slots=slots, names=names, state=state, table=table, body=body):
                bound = ", ".join(f"{n}.{slot}" for n, slot in zip(names, slots, strict=True))
                self.open(f"for {bound} in {state if table is None else self.expr(table)}", body)
            case ir.Lookup():
                self._lookup(s)
            case _:
                self.put(self._simple(s))

    def _lookup(self, s: ir.Lookup) -> None:
        source = s.source if s.index is None else f"{s.source}.{s.index}"
        key = "" if s.key is None else self.expr(s.key)
        use = f"{source}.take({key})" if s.kind == "pool" else f"{source}[{key}]"
        peek = "" if s.refresh else " without refresh"
        self.open(f"if {s.name}.{s.slot} = {use}{peek}", s.found)
        self.open("absent", s.absent)

    def _simple(self, s: ir.Statement) -> str:
        match s:
            case ir.SetLocal(slot=slot, name=name, value=value):
                return f"{name}.{slot} = {self.expr(value)}"
            case ir.Evaluate(value=value):
                return self.expr(value)
            case ir.MapPut(state=m, key=key, value=value, current=current):
                present = "" if current is None else f" (present or initial value in {current})"
                return f"{m}[{self.expr(key)}] = {self.expr(value)}{present}"
            case ir.MapRemove(state=m, key=key):
                return f"remove {m}[{self.expr(key)}]"
            case ir.StateWrite(state=name, index=index, value=value):
                return f"{name}{'' if index is None else f'[{self.expr(index)}]'} = {self.expr(value)}"
            case ir.FieldWrite(instance=i, field=f, value=value):
                return f"{self.field(i, f)} = {self.expr(value)}"
            case ir.Send(target=target):
                return f"send {self.expr(target)}"
            case ir.Bounce():
                return "bounce"
            case ir.Drop(reason=reason):
                return f'drop "{reason}"'
            case _:
                return self._operation(s)

    def _operation(self, s: ir.Statement) -> str:
        match s:
            case ir.Push(header=header, fields=fields, before=before):
                place = "payload" if before is None else self.instance(before)
                return f"push {self._header(header, fields)} before {place}"
            case ir.Pop(first=first, last=last):
                return f"pop {self.instance(first)}..{self.instance(last)}"
            case ir.Truncate(size=size):
                return f"truncate {self.expr(size)}"
            case ir.Emit(headers=headers, payload=payload, target=target):
                made = ", ".join(self._header(name, fields) for name, fields in headers)
                behind = "" if payload is None else f" payload {self.expr(payload)}"
                return f"emit {made}{behind} to {self.expr(target)}"
            case _:
                raise AssertionError(f"{type(s).__name__} has no text")

    def _header(self, name: str, fields: tuple[tuple[int, ir.Expr], ...]) -> str:
        names = self.program.headers[name].fields
        return f"{name} {{ {', '.join(f'{names[f].name}: {self.expr(e)}' for f, e in fields)} }}"


def _match(match: ir.Match) -> str:
    """One alternative of a parser case: a range for each key."""
    ranges = ", ".join(map(_range, match.ranges))
    return ranges if len(match.ranges) == 1 else f"({ranges})"


def _range(bounds: tuple[int, int] | None) -> str:
    """One key of a parser case: any, one number, or an inclusive range."""
    if bounds is None:
        return "_"
    return f"{bounds[0]:#x}" if bounds[0] == bounds[1] else f"{bounds[0]:#x}-{bounds[1]:#x}"
