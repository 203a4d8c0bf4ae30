"""Handlers as C++ functions, and the keys of their lookups that are computed ahead."""

from __future__ import annotations

from collections import Counter

from polysome.backends.nf_cpp.ahead import AheadKey, MainLine, keys
from polysome.backends.nf_cpp.constants_code import port_names
from polysome.backends.nf_cpp.expression_code import Shared
from polysome.backends.nf_cpp.names import identifier, unique
from polysome.backends.nf_cpp.same_text import canonical_text
from polysome.backends.nf_cpp.sizes import native_of
from polysome.backends.nf_cpp.state_expressions import Expressions
from polysome.backends.nf_cpp.statement_code import INDENT, Statements
from polysome.backends.nf_cpp.trace_code import TracedStatements
from polysome.backends.nf_cpp.types_code import canonical_size, cpp, key_cpp, words
from polysome.ir import program as ir
from polysome.ir import types as t
from polysome.ir.walk import walk
from polysome.kinds.state import TABLE_KINDS

# Packets that no handler takes come to none.
NO_OTHER = "        default: __builtin_unreachable();"


class Handlers:
    """The functions `packet_from_PORTS`, `end_MAP`, `every_N`, `handle` of an NF, and its struct Ahead."""

    def __init__(self, shared: Shared) -> None:
        self.shared, self.program = shared, shared.program
        self.ahead: dict[str, AheadKey] = {}  # one for each member of Ahead
        self.of_handler: list[list[tuple[str, AheadKey]]] = []
        self.names: list[str] = []  # of handlers of packets

    def functions(self) -> list[str]:
        program, shared = self.program, self.shared
        lines: list[str] = []
        unused = "[[maybe_unused]] "
        signature = f"({unused}const F& f, {unused}Edits& e, {unused}const Ahead& a)"
        for i, handler in enumerate(program.packet_handlers):
            known = keys(program, handler, shared.written)
            mine: list[tuple[str, AheadKey]] = []
            for one in known:
                mine.append((self._ahead_member(one, mine), one))
            self.of_handler.append(mine)
            s = Statements(shared, mine)
            s.pure = _pure_locals(program, handler, shared.written)
            self.names += unique([handler_name(program, handler)], self.names)
            lines += [
                f"/// {program.place(handler.span)}: on packet from "
                f"{', '.join(program.ports[p] for p in handler.ports)}.",
                "template <class F>",
                f"[[gnu::always_inline]] Verdict packet_{self.names[i]}{signature} {{",
                *s.function(handler.body),
                "}",
                "",
            ]
        lines += [*self._dispatch(), *self._traced()]
        for end in program.end_handlers.values():
            lines += self._end_handler(end)
        for i, timer in enumerate(program.timers):
            s = Statements(shared)
            lines += [f"/// {program.place(timer.span)}.", f"Verdict every_{i}() {{", *s.function(timer.body), "}", ""]
        return lines

    def _traced(self) -> list[str]:
        """The same handlers, which tell `seen` what they look at."""
        program, lines = self.program, list[str]()
        signature = "([[maybe_unused]] const F& f, [[maybe_unused]] Edits& e, [[maybe_unused]] const Ahead& a, "
        for i, (handler, mine) in enumerate(zip(program.packet_handlers, self.of_handler, strict=True)):
            s = TracedStatements(self.shared, mine)
            s.pure = _pure_locals(program, handler, self.shared.written)
            head = [
                "template <class F, class Seen>",
                f"Verdict traced_{self.names[i]}{signature}[[maybe_unused]] Seen& seen) {{",
            ]
            lines += [*head, *s.function(handler.body), "}", ""]
        lines += ["template <class F, class Seen>", f"Verdict handle_traced{signature}Seen& seen) {{"]
        if program.contract is not None:
            lines.append("    if (!passes(f)) return handle(f, e, a);")
        lines.append("    switch (f.in_port) {")
        for i, handler in enumerate(program.packet_handlers):
            *others, last = self._cases(handler)
            lines += [*others, f"{last} return traced_{self.names[i]}(f, e, a, seen);"]
        return [*lines, NO_OTHER, "    }", "}", ""]

    def _ahead_member(self, one: AheadKey, mine: list[tuple[str, AheadKey]]) -> str:
        """A member for the key: of the same table (of a sketch, the same hash), where every key that the handler has
        there so far, which is `mine`, is the same or one that no packet needs besides."""
        for member, known in self.ahead.items():
            if known.value != one.value if one.sketch or known.sketch else known.table != one.table:
                continue
            if all(other.value == one.value or other.excludes(one) for name, other in mine if name == member):
                return member
        what = "hash" if one.sketch else "row" if one.config else "key"
        member = f"{identifier(one.index or one.state)}_{what}_{len(self.ahead)}"
        self.ahead[member] = one
        return member

    def _dispatch(self) -> list[str]:
        program = self.program
        lines = [
            "template <class F>",
            "[[gnu::always_inline]] Verdict handle(const F& f, Edits& e, const Ahead& a) {",
        ]
        if program.contract is not None:
            s = Statements(self.shared)
            s.depth = 0
            lines.append("    if (!passes(f)) [[unlikely]] {")
            lines += [INDENT * 2 + line for line in s.function((program.contract.orelse,))]
            lines.append("    }")
        lines.append("    switch (f.in_port) {")
        for i, handler in enumerate(program.packet_handlers):
            *others, last = self._cases(handler)
            lines += [*others, f"{last} return packet_{self.names[i]}(f, e, a);"]
        return [*lines, NO_OTHER, "    }", "}", ""]

    def _cases(self, handler: ir.PacketHandler) -> list[str]:
        return [f"        case {port_names(self.program)[port]}:" for port in handler.ports]

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
            if one.sketch:
                lines.append(f"    SipMessage<{canonical_size(one.key.type)}> {member};")
            elif one.config:
                lines.append(f"    {_row_cpp(self.program, one.state)} {member};")
            elif isinstance(self.program.state[one.state], ir.KindDecl):
                lines.append(f"    Sought<std::array<uint64_t, {words(one.key.type)}>> {member};")
            else:
                lines.append(f"    Sought<{key_cpp(one.key.type)}> {member};")
        lines += [
            "",
            "    /// No keys.",
            "    void clear() {",
            *(INDENT * 2 + line for line in self._cleared("", set())),
            "    }",
        ]
        return [*lines, "};", ""]

    def _cleared(self, ahead: str, there: set[str]) -> list[str]:
        """Clears the members but those in `there`."""
        sought = (member for member, one in self.ahead.items() if not (one.sketch or one.config))
        keys = [member for member in sought if member not in there]
        return [f"{ahead}{member}.clear();" for member in keys]

    def prepare(self) -> list[str]:
        lines = [
            "/// Computes the keys of a parsed packet and fetches the buckets they are in.",
            "[[gnu::always_inline]] void prepare(Packet& p) const {",
            "    with_fields(p, [&](const auto& f) __attribute__((always_inline)) { prepare(f, p.ahead); });",
            "}",
            "template <class F>",
            "[[gnu::always_inline]] void prepare([[maybe_unused]] const F& f, [[maybe_unused]] Ahead& a) const {",
        ]
        if self.ahead:
            lines += ["    if (!passes(f)) return a.clear();", "    switch (f.in_port) {"]
            for handler, members in zip(self.program.packet_handlers, self.of_handler, strict=True):
                lines += self._cases(handler)
                always = {member for member, one in members if not one.guard}
                lines += [INDENT * 3 + line for line in self._cleared("a.", always)]
                # Rows last: what they wait for must not keep buckets from being fetched.
                order = sorted(range(len(members)), key=lambda n: members[n][1].config)
                lines += [INDENT * 3 + line for n in order for line in self._prepare_key(members, n)]
                lines.append("            break;")
            lines += [NO_OTHER, "    }"]
        return [*lines, "}", "", *self._hash(), "", *self._prefetch()]

    def _prepare_key(self, members: list[tuple[str, AheadKey]], n: int) -> list[str]:
        """The statements for one of a handler's keys."""
        member, one = members[n]
        e = Expressions(self.shared, in_function, arrival=False)
        self.shared.types.setdefault(one.key.type)
        name = f"state.{identifier(one.state)}"
        if one.sketch:
            there = any(m == member and set(k.conditions) <= set(one.conditions) for m, k in members[:n])
            written = e.written([(one.key.type, e.code(one.key))], f"a.{member}.bytes()", e.temp("writer"))
            lines = [] if there else ["{", *(INDENT + line for line in written), "}"]
        elif one.config:
            s = Statements(self.shared)
            s.put_line(f"a.{member} = {s.row(one.state, one.key)};")
            lines = ["{", *s.lines, "}"]
        else:
            prefix, suffix = self._of_index(one)
            lines = [
                f"a.{member} = {name}.{prefix}sought{suffix}(pack({e.code(one.key)}));",
                f"{name}.{prefix}prefetch{suffix}(a.{member});",
            ]
        tests = [e.condition(c) if yes else f"!({e.condition(c)})" for c, yes in one.guard]
        if not tests:
            return lines
        whole = tests[0] if len(tests) == 1 else " && ".join(f"({test})" for test in tests)
        return [f"if ({whole}) {{", *(INDENT + line for line in lines), "}"] if lines else []

    def _hash(self) -> list[str]:
        """What sketches hash is hashed for several packets at once; a packet without a key has whatever was there."""
        return [
            "/// Hashes the keys of sketches, of several packets at once: `ahead(i)` is that of packet i.",
            "template <class AheadOf>",
            "[[gnu::always_inline]] static void hash_together([[maybe_unused]] AheadOf ahead) {",
            *(
                f"    siphash_together(SEED, [&](size_t i) -> auto& {{ return ahead(i).{member}; }});"
                for member, one in self.ahead.items()
                if one.sketch
            ),
            "}",
        ]

    def _prefetch(self) -> list[str]:
        lines = [
            "/// Fetches the entries; the buckets are there by now. No branch: whatever bucket 0 holds is at hand.",
            "[[gnu::always_inline]] void prefetch_entries([[maybe_unused]] Packet& p) const {",
            *(f"    state.{name}.prefetch(p.ahead.{member}.hash);" for name, member in self._hashed_states()),
        ]
        for member, one in self.ahead.items():
            if not isinstance(self.program.state.get(one.state), ir.MapDecl):
                continue
            prefix, suffix = self._of_index(one)
            name = f"state.{identifier(one.state)}"
            lines.append(f"    {name}.{prefix}expect{suffix}(p.ahead.{member});")
        return [*lines, "}"]

    def _hashed_states(self) -> list[tuple[str, str]]:
        """The sketches larger than a cache, and the members that they are asked with."""
        found: dict[tuple[str, str], None] = {}
        for member, one in (pair for members in self.of_handler for pair in members):
            decl = self.program.state.get(one.state)
            if one.sketch and isinstance(decl, ir.KindDecl) and native_of(decl.kind).prefetched:
                found[identifier(one.state), member] = None
        return list(found)

    def _of_index(self, one: AheadKey) -> tuple[str, str]:
        """What the names of a map's functions have before and behind them."""
        if one.index is None:
            return "", ""
        decl = self.program.state[one.state]
        assert isinstance(decl, ir.MapDecl)
        return "index_", f"<{[i.name for i in decl.indexes].index(one.index)}>"


def handler_name(program: ir.Program, handler: ir.PacketHandler) -> str:
    ports = [program.ports[port] for port in handler.ports]
    whole = "_or_".join(ports)
    return f"from_{whole if len(whole) <= 40 else f'{ports[0]}_or_{len(ports) - 1}_others'}"


def _row_cpp(program: ir.Program, table: str) -> str:
    """The type of what a lookup in a config table gives."""
    type = program.config[table].type
    assert isinstance(type, t.Table)
    return "std::optional<Row>" if TABLE_KINDS[type.kind].identity else f"const {cpp(type.value)}*"


def _pure_locals(program: ir.Program, handler: ir.PacketHandler, written: set[tuple[int, int]]) -> dict[int, str]:
    """Locals of a handler that are set once, to what is known ahead, by the text of that."""
    sets = Counter(node.slot for node in walk(handler.body) if isinstance(node, ir.SetLocal | ir.Lookup))
    follower = MainLine(program, written)
    list(follower.body(handler.body, ()))
    return {slot: canonical_text(e, {}) for slot, e in follower.ever.items() if sets[slot] == 1}


def in_function(reason: str) -> str:
    """The statement that ends a function or value which its caller then looks at."""
    return f"{{ trapped = {reason}; return {{}}; }}"
