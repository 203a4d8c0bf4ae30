"""The typed program to one C++ header: `polysome::nf::NAME::Nf`, on `runtime/nf`.

The text depends on the program alone: capacities and other sizes are arguments of the constructor, with the spec's as
defaults, so one build serves a test with small state too.
"""

from __future__ import annotations

from functools import lru_cache

from polysome.analysis.layout import Carry
from polysome.backends.nf_cpp.carry_code import carry_function, carry_structure
from polysome.backends.nf_cpp.config_code import configure_function
from polysome.backends.nf_cpp.constants_code import field_names, instance_name, instances_code, ports_code
from polysome.backends.nf_cpp.edit_code import edit_functions
from polysome.backends.nf_cpp.expression_code import Shared
from polysome.backends.nf_cpp.frames_code import frame_functions
from polysome.backends.nf_cpp.function_code import functions_of_fns, functions_of_values
from polysome.backends.nf_cpp.handler_code import Handlers
from polysome.backends.nf_cpp.kind_headers import own_headers
from polysome.backends.nf_cpp.lines import fitted
from polysome.backends.nf_cpp.names import identifier, word
from polysome.backends.nf_cpp.packet_code import classes_test, edits_struct, extraction, fields_struct
from polysome.backends.nf_cpp.parse_code import parse_function
from polysome.backends.nf_cpp.protocols_code import protocols_code
from polysome.backends.nf_cpp.reads import field_name
from polysome.backends.nf_cpp.schedule_code import schedule_functions
from polysome.backends.nf_cpp.shape_code import choice, parse_shapes, shape_structs
from polysome.backends.nf_cpp.shapes import common_shapes
from polysome.backends.nf_cpp.shard_code import shard_functions
from polysome.backends.nf_cpp.sizes import of_state, sizes
from polysome.backends.nf_cpp.state_code import (
    axes,
    config_struct,
    map_spec,
    state_struct,
    timeout_functions,
)
from polysome.backends.nf_cpp.statement_code import INDENT
from polysome.backends.nf_cpp.types_code import Unsupported, cpp, packed, places, structures, unpacking, words
from polysome.ir import program as ir
from polysome.ir import types as t
from polysome.ir.walk import walk, written_fields


def namespace(program: ir.Program) -> str:
    """The C++ namespace, in `polysome::nf`, and the name of the header without .hpp."""
    return word(program.name)


@lru_cache(maxsize=256)
def generate(program: ir.Program, defaults: bool = True, carry: Carry = "fields") -> str:
    """The header's text. Raises Unsupported for what has no C++ yet.

    Without `defaults`, programs that differ in room only have the same text, and sizes must be given at the start.
    `carry`: what fields frames have (analysis/layout.py).
    """
    return _Generator(program, defaults, carry).text()


class _Generator:
    def __init__(self, program: ir.Program, defaults: bool, carry: Carry) -> None:
        self.program, self.defaults, self.carry = program, defaults, carry
        self.shared = Shared(program)
        self.shared.written = written_fields([h.body for h in program.packet_handlers])
        self.shapes = common_shapes(program, self.shared.written)
        self.handlers = Handlers(self.shared)

    def text(self) -> str:
        members = self._members()  # first: it finds which types, fields and reasons there are
        program = self.program
        lines = [
            f"/// {program.name}: {' '.join(program.doc.split())}" if program.doc else f"/// {program.name}",
            f"/// Generated from {program.file.rsplit('/', 1)[-1]} by Polysome; change that, not this.",
            "#pragma once",
            "",
            '#include "nf/generated.hpp"',
            "",
            *own_headers(program),
            f"namespace polysome::nf::{namespace(program)} {{",
            "",
            protocols_code(program),
            *self._seed(),
            *self._types(),
            *instances_code(program),
            *ports_code(program),
            *self.shared.reasons.code(),
            *members,
            "",
            f"}}  // namespace polysome::nf::{namespace(program)}",
            "",
        ]
        return fitted("\n".join(lines))

    # ------------------------------------------------------------ before the class

    def _seed(self) -> list[str]:
        seed = int(self.program.params["seed"][1])
        return [
            "/// `param seed`: the key of `hash`, of sketches and of the shard a packet belongs to.",
            f"inline constexpr u128 SEED = u128{{{hex(seed >> 64)}}} << 64 | {hex(seed & (1 << 64) - 1)};",
            "",
        ]

    def _types(self) -> list[str]:
        lines: list[str] = []
        for struct in structures(list(self.shared.types)):
            lines += self._structure(struct)
        for decl in self.program.state.values():
            if isinstance(decl, ir.PoolDecl):
                of = cpp(decl.per.type) if decl.per is not None else "None"
                lines.append(f"using {identifier(decl.name)}_partition = {of};")
        lines.append("")
        lines += ["using polysome::pack;", "using polysome::unpack;"]
        seen: set[str] = set()
        for type in self.shared.types:
            if isinstance(type, t.Struct | t.Tuple) and _is_key(type) and cpp(type) not in seen:
                seen.add(cpp(type))
                lines += self._packing(type)
        lines += [
            "template <class K, size_t W>",
            "K unpack_to(const std::array<uint64_t, W>& words) {",
            "    K key{};",
            "    unpack(words, key);",
            "    return key;",
            "}",
            "template <class K, size_t W, KeyPart... parts>",
            "K unpack_to(const CompactKey<W, parts...>& key) { return unpack_to<K>(key.words()); }",
            "",
        ]
        return lines

    def _structure(self, struct: t.Struct) -> list[str]:
        name = identifier(struct.name)
        fields = [(identifier(n), m) for n, m in struct.fields]
        reads = " ".join(f"reader.get(value.{n});" for n, m in fields if not _opaque(m))
        lines = [f"struct {name} {{", *(f"    {cpp(m)} {n}{{}};" for n, m in fields)]
        lines += [f"    auto operator<=>(const {name}&) const = default;", "};"]
        if not any(_opaque(m) for _, m in fields):
            lines.append(f"inline void read(Reader& reader, {name}& value) {{ {reads} }}")
        return [*lines, *carry_structure(struct), ""]

    def _packing(self, type: t.Type) -> list[str]:
        name = cpp(type)
        return [
            f"inline auto pack(const {name}& v) {{ return {packed(type, 'v')}; }}",
            f"inline void unpack(const std::array<uint64_t, {words(type)}>& words, {name}& v) {{",
            *(INDENT + line for line in unpacking(type, "words", "v")),
            "}",
            "",
        ]

    # ------------------------------------------------------------ the class

    def _members(self) -> list[str]:
        program, shared = self.program, self.shared
        handlers = self.handlers.functions()
        functions = functions_of_fns(shared)
        cores = shard_functions(shared)
        schedule = [*schedule_functions(shared), "", *cores]
        values = functions_of_values(shared)  # before what puts the fields that all of these read into structs
        frames = frame_functions(shared, self.carry, self.shapes, sharded=bool(cores))
        maps = [d for d in program.state.values() if isinstance(d, ir.MapDecl)]
        timeouts = [line for d in maps for line in timeout_functions(shared, d)]
        specs = [line for d in maps for line in [*map_spec(shared, d), ""]]
        config = config_struct(shared)
        state, defaults = state_struct(shared)
        configure = configure_function(shared)
        parse = [*parse_function(shared), "", *parse_shapes(shared, self.shapes)]
        prepare = self.handlers.prepare()
        passing = classes_test(program)
        prepare_ahead = self.handlers.ahead_struct()
        public = [
            "/// One NF with all of its state; runtime/nf/machine.hpp drives it.",
            "class Nf {",
            "  public:",
            *_indent(self._constants(defaults)),
            f"    using Headers = Parsed<{len(program.parser.instances)}>;",
            *_indent(fields_struct(shared)),
            *_indent(edits_struct(shared, self._has_operations())),
            *_indent(prepare_ahead),
            "    /// Of a packet of a common shape, `fields` and the places of its headers are not set:",
            "    /// see with_fields and located.",
            "    struct Packet {",
            "        Ahead ahead;",
            "        uint8_t shape;  ///< number of its common shape; 0: it has none",
            "        bool handled;   ///< is there a handler for packets of its port?",
            "        Headers headers;",
            "        Fields fields;",
            "    };",
            f"    using Verdict = {'PortsVerdict' if self._has_sets() else 'PortVerdict'};",
            "",
            "    /// `sizes` empty: those of the spec. `collide`: all keys of a table have one hash, a test option.",
            "    Nf(std::span<const uint64_t> sizes, bool collide, Emitter& emitter)",
            "        : emitter_(emitter), sizes_(given(sizes)), state(*this, sizes_, table_seed(), collide) {}",
            "    Nf(const Nf&) = delete;",
            "",
            *_indent(configure),
            "",
            *_indent(self._ports()),
            "    // ---- parse",
            "    [[gnu::always_inline]] void parse(",
            "            const uint8_t* data, uint32_t size, uint16_t port, Packet& p) const {",
            "        Headers::Front front;",
            "        front.begin(data, size, port);",
            "        p.shape = find_shape(front);",
            "        if (p.shape == 0) [[unlikely]] return parse_any(data, size, port, p);",
            "        p.headers.found(front);",
            "    }",
            "    /// The same for packets of any shape.",
            "    [[gnu::noinline]] void parse_any(",
            "            const uint8_t* data, uint32_t size, uint16_t port, Packet& p) const {",
            "        p.shape = 0;",
            "        p.headers.begin(data, size, port);",
            "        find_headers(p.headers);",
            "        extract(p.headers, p.fields);",
            "    }",
            "    /// In place of parse and prepare: of a packet of a port without handler, nothing is asked.",
            "    static void skip(Packet& p) {",
            "        p.shape = 0;",
            "        p.ahead.clear();",
            "    }",
            *_indent(prepare),
            "",
            *_indent(shape_structs(shared, self.shapes)),
            *_indent(choice(self.shapes)),
            "",
            "    // ---- decide",
            "    bool passes(const Packet& p) const {",
            "        return with_fields(p, [](const auto& f) { return passes(f); });",
            "    }",
            "    /// The verdict on a packet that was parsed and prepared, at clock.now, and what it wants changed.",
            "    template <class F>",
            "    [[gnu::always_inline]] Verdict decide(const F& f, const Packet& p, Edits& e) {",
            "        const Verdict verdict = handle(f, e, p.ahead);",
            "        settle();",
            "        return verdict;",
            "    }",
            "    /// The same, and `seen.look(state, operation, key, found)` for each look at the state, as texts.",
            "    template <class F, class Seen>",
            "    Verdict decide_traced(const F& f, const Packet& p, Seen& seen) {",
            "        Edits edits;",
            "        edits.clear();",
            "        const Verdict verdict = handle_traced(f, edits, p.ahead, seen);",
            "        settle();",
            "        return verdict;",
            "    }",
            "",
            *_indent(self._apply()),
            "",
            *_indent(self._time(maps)),
            "",
            *_indent(carry_function(program, self.defaults)),
            "",
            *_indent(schedule),
            "",
            *_indent(frames),
            "    Clock clock;",
            "",
            "  private:",
            "    Emitter& emitter_;",
            "    std::vector<uint64_t> sizes_;",
            "    std::vector<uint8_t> made_;",
            "    std::string_view unset_;",
            "",
            "    static std::vector<uint64_t> given(std::span<const uint64_t> sizes) {",
            "        if (sizes.empty()) return {default_sizes.begin(), default_sizes.end()};",
            "        return {sizes.begin(), sizes.end()};",
            "    }",
            "",
            "  public:",
            *_indent(specs),
            *_indent(config),
            *_indent(state),
            "    Config config;",
            "    State state;",
            "",
            "  private:",
            *_indent(parse),
            "",
            *_indent(extraction(shared)),
            "",
            *_indent(edit_functions(shared, self.shapes)),
            "",
            *_indent(passing),
            "",
            *_indent(values),
            *_indent(functions),
            *_indent(timeouts),
            *_indent(handlers),
            *_indent(self._support(maps)),
            "};",
        ]
        return public

    def _constants(self, defaults: list[int]) -> list[str]:
        every = list(sizes(self.program))
        assert every[: len(defaults)] == defaults
        quoted = [_quote(text) for text in self.shared.reasons.names]
        periods = ", ".join(f"{timer.period}u" for timer in self.program.timers)
        return [
            f"static constexpr std::string_view name = {_quote(self.program.name)};",
            f"static constexpr std::array<std::string_view, {len(self.program.ports)}> port_names = "
            f"{{{', '.join(map(_quote, self.program.ports))}}};",
            "/// Why packets are dropped, by Drop.",
            f"static constexpr std::array<std::string_view, {len(quoted)}> reasons = {{",
            *(f"    {text}," for text in quoted),
            "};",
            f"static constexpr std::array<uint64_t, {len(self.program.timers)}> periods = {{{periods}}};",
            f"static constexpr std::array<uint64_t, {len(every)}> default_sizes = "
            f"{{{', '.join(f'{n}u' for n in every) if self.defaults else ''}}};",
            "",
        ]

    def _ports(self) -> list[str]:
        handled = sorted({p for h in self.program.packet_handlers for p in h.ports})
        mask = hex(sum(1 << p for p in handled))
        first = handled == list(range(len(handled)))
        test = f"port < {len(handled)}" if first else f"port < 64 && {mask}ull >> port & 1"
        return [
            "/// Is there a handler for packets of this port?",
            f"bool handles(uint16_t port) const {{ return {test}; }}",
            "",
        ]

    # ------------------------------------------------------------ the rest

    def _apply(self) -> list[str]:
        written = sorted(self.shared.written)
        operations = self._has_operations()
        shaped = ["edit(f, e, frame);", "return {frame, p.headers.end};"]
        if operations:
            shaped = ["if (e.operations.empty()) {", *_indent(shaped), "}"]
        lines = [
            "// ---- apply",
            "/// The packet as it leaves: `frame`, as it arrived, is changed in place, or `scratch` is filled.",
            "template <class F>",
            "[[gnu::always_inline]] std::span<const uint8_t> apply([[maybe_unused]] const F& f, const Edits& e,",
            "        const Packet& p, uint8_t* frame, std::vector<uint8_t>& scratch) const {",
            *(
                ["    if constexpr (!std::same_as<F, Fields>) {", *_indent(_indent(shaped)), "    }"]
                if self.shapes
                else []
            ),
            "    return applied(e, p, frame, scratch);",
            "}",
            "/// The same for packets of any shape.",
            "[[gnu::noinline]] std::span<const uint8_t> applied([[maybe_unused]] const Edits& e, const Packet& p,",
            "        uint8_t* frame, [[maybe_unused]] std::vector<uint8_t>& scratch) const {",
        ]
        edits = "std::span<const FieldEdit>{}"
        if written:
            lines += [f"    FieldEdit edits[{len(written)}];", "    size_t count = 0;"]
            for i, n in written:
                parser, name = self.program.parser, field_name(self.program.parser, i, n)
                place = f"{instance_name(parser, i)}, {field_names(self.program)[parser.instances[i].header.name, n]}"
                lines.append(f"    if (e.has_{name}) edits[count++] = {{{place}, e.{name}}};")
            edits = "std::span<const FieldEdit>(edits, count)"
        if operations:
            lines += [
                "    if (!e.operations.empty()) {",
                f"        rebuild(protocols, located(p), {edits}, e.operations, frame, scratch);",
                "        return scratch;",
                "    }",
            ]
        return [*lines, f"    return {{frame, polysome::apply(protocols, p.headers, {edits}, frame)}};", "}"]

    def _has_sets(self) -> bool:
        """Does a packet leave at a set of ports?"""
        bodies = [h.body for h in self.program.packet_handlers]
        return any(isinstance(n, ir.Send) and not isinstance(n.target.type, t.Port) for n in walk(bodies))

    def _has_operations(self) -> bool:
        bodies = [h.body for h in self.program.packet_handlers]
        return any(isinstance(n, ir.Push | ir.Pop | ir.Truncate) for n in walk(bodies))

    def _time(self, maps: list[ir.MapDecl]) -> list[str]:
        lines = [
            "/// Bytes of the entries there are, about: what lookups read.",
            f"size_t remembered() const {{ return {' + '.join(map(_remembered, maps)) or '0'}; }}",
            "",
            "// ---- time",
            "/// When the entry that ends first ends, if at or before `by`; else NEVER. Maps in declaration order.",
            "uint64_t next_due([[maybe_unused]] uint64_t by) {",
            "    uint64_t best = NEVER;",
        ]
        ends = ["/// Ends the entry that next_due found.", "void expire_one() {"]
        ending = [d for d in maps if d.idle is not None or d.age is not None]
        if ending:
            ends.append("    switch (ending_) {")
        for number, decl in enumerate(ending):
            lines += [
                f"    if (const uint64_t due = state.{identifier(decl.name)}.next_due(by); due < best) {{",
                "        best = due;",
                f"        ending_ = {number};",
                "    }",
            ]
            ends.append(f"        case {number}: state.{identifier(decl.name)}.expire_one(); break;")
        if ending:
            ends += ["        default: break;", "    }"]
        lines += [
            "    return best;",
            "}",
            *ends,
            "    settle();",
            "}",
            "",
            "/// Runs an `every`.",
            "void every([[maybe_unused]] size_t i) {",
        ]
        for i in range(len(self.program.timers)):
            lines.append(f"    if (i == {i}) every_{i}();")
        return [*lines, "    settle();", "}"]

    def _support(self, maps: list[ir.MapDecl]) -> list[str]:
        pools = [d for d in self.program.state.values() if isinstance(d, ir.PoolDecl)]
        lines = ["/// The end of a handler: values taken from pools and stored nowhere go back.", "void settle() {"]
        lines += [f"    state.{identifier(d.name)}.settle();" for d in pools]
        lines += ["}", "/// The config changed: pools have a new domain.", "void reload_pools() {"]
        place = 0
        for decl in self.program.state.values():
            if isinstance(decl, ir.PoolDecl):
                listed = ", ".join(axes(decl, "config", f"std::span(sizes_).subspan({place})"))
                lines.append(f"    state.{identifier(decl.name)}.reload({listed});")
            place += len(of_state(decl))
        lines += [
            "}",
            "void emit(const Operations& headers, std::span<const uint8_t> payload, uint16_t port) {",
            "    make(protocols, headers, payload, made_);",
            "    emitter_.emitted(port, made_.data(), made_.size());",
            "}",
        ]
        if any(d.idle is not None or d.age is not None for d in maps):
            lines.append("int ending_ = -1;")
        return lines


def _remembered(decl: ir.MapDecl) -> str:
    name = f"state.{identifier(decl.name)}"
    return f"{name}.size() * {name}.bytes_per_entry()"


def _is_key(type: t.Type) -> bool:
    try:
        places(type, "v")
    except Unsupported:
        return False
    return True


def _opaque(type: t.Type) -> bool:
    return isinstance(type, t.Ref | t.Bucket | t.FromPool) or (
        isinstance(type, t.Struct) and any(_opaque(m) for _, m in type.fields)
    )


def _quote(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _indent(lines: list[str]) -> list[str]:
    return [INDENT + line if line else line for line in lines]
