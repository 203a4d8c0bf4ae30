"""Handlers as C++ functions, and the keys of their lookups that are computed ahead."""

from __future__ import annotations

from polysome.backends.nf_cpp.ahead import AheadKey, MainLine, keys
from polysome.backends.nf_cpp.expression_code import Shared
from polysome.backends.nf_cpp.names import identifier
from polysome.backends.nf_cpp.same_text import canonical_text
from polysome.backends.nf_cpp.state_expressions import Expressions
from polysome.backends.nf_cpp.statement_code import INDENT, Statements
from polysome.backends.nf_cpp.types_code import cpp, words
from polysome.ir import program as ir
from polysome.ir import types as t
from polysome.ir.walk import walk


class Handlers:
    """The functions `packet_N`, `end_MAP`, `every_N`, `handle` of an NF, and its struct Ahead."""

    def __init__(self, shared: Shared) -> None:
        self.shared, self.program = shared, shared.program
        self.ahead: dict[str, AheadKey] = {}  # one for each member of Ahead
        self.of_handler: list[list[tuple[str, AheadKey]]] = []

    def functions(self) -> list[str]:
        program, shared = self.program, self.shared
        lines: list[str] = []
        for i, handler in enumerate(program.packet_handlers):
            known = keys(program, handler, shared.written)
            mine = [(self._ahead_member(one), one) for one in known]
            self.of_handler.append(mine)
            s = Statements(shared, mine)
            s.pure = _pure_locals(program, handler, shared.written)
            s.values_ahead = set()
            lines += [
                f"/// {program.place(handler.span)}: on packet from "
                f"{', '.join(program.ports[p] for p in handler.ports)}.",
                f"Verdict packet_{i}([[maybe_unused]] const Fields& f, [[maybe_unused]] Edits& e, "
                "[[maybe_unused]] const Ahead& a) {",
                *s.function(handler.body),
                "}",
                "",
            ]
        lines += self._dispatch()
        for end in program.end_handlers.values():
            lines += self._end_handler(end)
        for i, timer in enumerate(program.timers):
            s = Statements(shared)
            lines += [f"/// {program.place(timer.span)}.", f"Verdict every_{i}() {{", *s.function(timer.body), "}", ""]
        return lines

    def _ahead_member(self, one: AheadKey) -> str:
        for member, known in self.ahead.items():
            if known.identity == one.identity:
                return member
        member = f"{identifier(one.index or one.state)}_key_{len(self.ahead)}"
        self.ahead[member] = one
        return member

    def _dispatch(self) -> list[str]:
        program = self.program
        lines = ["Verdict handle(const Fields& f, Edits& e, const Ahead& a) {"]
        if program.contract is not None:
            s = Statements(self.shared)
            s.depth = 0
            lines.append("    if (!passes(f)) [[unlikely]] {")
            lines += [INDENT * 2 + line for line in s.function((program.contract.orelse,))]
            lines.append("    }")
        lines.append("    switch (f.in_port) {")
        for i, handler in enumerate(program.packet_handlers):
            cases = " ".join(f"case {p}:" for p in handler.ports)
            lines.append(f"        {cases} return packet_{i}(f, e, a);")
        return [*lines, f"        default: return drop({self.shared.reasons.number('no handler')});", "    }", "}", ""]

    def _end_handler(self, end: ir.EndHandler) -> list[str]:
        decl = self.program.state[end.map]
        assert isinstance(decl, ir.MapDecl)
        s = Statements(self.shared)
        value: t.Type = decl.value if decl.value is not None else t.Tuple(())
        if isinstance(value, t.FromPool):
            value = value.item
        key, held, why = (
            s.local(slot, name, type)
            for slot, name, type in zip(end.slots, ("key_", "value_", "why_"), (decl.key, value, t.END), strict=True)
        )
        params = [f"[[maybe_unused]] const {cpp(decl.key)}& {key}", f"[[maybe_unused]] const {cpp(value)}& {held}"]
        params.append(f"[[maybe_unused]] End {why}_end")
        # `why` is a number in the language.
        s.put_line(f"[[maybe_unused]] const auto {why} = static_cast<uint8_t>({why}_end);")
        return [
            f"/// {self.program.place(end.span)}: on end {end.map}.",
            f"Verdict end_{identifier(end.map)}({', '.join(params)}) {{",
            *s.function(end.body),
            "}",
            "",
        ]

    # ------------------------------------------------------------ ahead

    def ahead_struct(self) -> list[str]:
        lines = ["/// Keys that a batch computes and prefetches before its first decision.", "struct Ahead {"]
        for member, one in self.ahead.items():
            lines.append(f"    std::array<uint64_t, {words(one.key.type)}> {member};")
            lines.append(f"    uint64_t {member}_hash;")
        return [*lines, "};", ""]

    def prepare(self) -> list[str]:
        lines = [
            "/// Computes the keys of a parsed packet and fetches the buckets they are in.",
            "void prepare(Packet& p) const {",
        ]
        entries = [
            "/// Fetches the entries; the buckets are there by now.",
            "void prefetch_entries(const Packet& p) const {",
        ]
        if not self.ahead:
            return [*lines, "    (void)p;", "}", *entries, "    (void)p;", "}"]
        head = [
            "    if (!passes(p.fields)) return;",
            "    [[maybe_unused]] const Fields& f = p.fields;",
            "    switch (f.in_port) {",
        ]
        lines += [*head[:2], "    Ahead& a = p.ahead;", head[2]]
        entries += [*head[:2], "    const Ahead& a = p.ahead;", head[2]]
        for handler, members in zip(self.program.packet_handlers, self.of_handler, strict=True):
            for port in handler.ports:
                lines.append(f"        case {port}:")
                entries.append(f"        case {port}:")
            e = Expressions(self.shared, in_function, arrival=False)
            for member, one in members:
                decl = self.program.state[one.state]
                assert isinstance(decl, ir.MapDecl)
                name = f"state.{identifier(one.state)}"
                self.shared.types.setdefault(one.key.type)
                prefix, suffix = "", ""
                if one.index is not None:
                    number = e.index_number(decl, one.index)
                    prefix, suffix = "index_", f"<{number}>"
                tests = [e.condition(c) if yes else f"!({e.condition(c)})" for c, yes in one.guard]
                whole = tests[0] if len(tests) == 1 else " && ".join(f"({test})" for test in tests)
                when = f"if ({whole}) " if tests else ""
                lines += [
                    f"            {when}{{",
                    f"                a.{member} = pack({e.code(one.key)});",
                    f"                a.{member}_hash = {name}.{prefix}hash{suffix}(a.{member});",
                    f"                {name}.{prefix}prefetch{suffix}(a.{member}_hash);",
                    "            }",
                ]
                entries.append(f"            {when}{name}.{prefix}prefetch_entry{suffix}(a.{member}_hash);")
            lines.append("            break;")
            entries.append("            break;")
        tail = ["        default: break;", "    }", "}"]
        return [*lines, *tail, "", *entries, *tail]


def _pure_locals(program: ir.Program, handler: ir.PacketHandler, written: set[tuple[int, int]]) -> dict[int, str]:
    """Locals of a handler that are set once, to what is known ahead, by the text of that."""
    sets: dict[int, int] = {}
    for node in walk(handler.body):
        if isinstance(node, ir.SetLocal):
            sets[node.slot] = sets.get(node.slot, 0) + 1
    follower = MainLine(program, written)
    list(follower.body(handler.body, ()))
    return {slot: canonical_text(e, {}) for slot, e in follower.known.items() if sets.get(slot) == 1}


def in_function(reason: int) -> str:
    """The statement that ends a function or value which its caller then looks at."""
    return f"{{ trapped = {reason}; return {{}}; }}"
