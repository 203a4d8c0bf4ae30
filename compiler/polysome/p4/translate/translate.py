"""Typed program to C++20: one header with `struct Program`, what `polysome::p4::Switch` runs (runtime/switch)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from polysome.p4 import program as pr
from polysome.p4.architecture import ARCHITECTURES, BLOCKS, PARAMS
from polysome.p4.limits import ChipLimits
from polysome.p4.points import Points
from polysome.p4.scope import composites
from polysome.p4.translate.names import Names, ctype, struct
from polysome.p4.translate.objects import composite, parameter, register, table
from polysome.p4.translate.parser import ParserCode
from polysome.p4.translate.statements import STEP, Statements
from polysome.p4.types import Composite
from polysome.p4.walk import expressions, statements


def translate(program: pr.Program, chip: ChipLimits, points: Points | None = None) -> str:
    """The C++ of a program that has passed the checks, for a chip that counts as `chip` says.

    `points`: the program's, to be counted (runtime/switch/coverage.hpp); without them the code does not count.
    The header defines `polysome::p4::generated::Program`; include it from where runtime/ is on the include path.
    """
    return "\n".join(_Translation(program, chip, points).lines()) + "\n"


class _Translation:
    def __init__(self, program: pr.Program, chip: ChipLimits, points: Points | None) -> None:
        self.program, self.chip, self.points, self.names = program, chip, points, Names()

    def lines(self) -> Iterator[str]:
        name = re.sub(r"[^ -~]", "?", self.program.name)
        yield f"// The P4 program `{name}`, for {self.chip.name}. Generated: changes are lost."
        yield "#pragma once"
        yield ""
        if self.points is not None:
            yield '#include "switch/coverage.hpp"'
        yield '#include "switch/hash.hpp"'
        yield '#include "switch/objects.hpp"'
        yield '#include "switch/pass.hpp"'
        yield '#include "switch/table.hpp"'
        yield ""
        yield "namespace polysome::p4::generated {"
        yield ""
        for kind in self._types():
            yield from composite(kind)
        for t in self.program.tables.values():
            yield from table(t, self.program.actions, self.names)
        for r in self.program.registers.values():
            yield from register(r, self.names)
        yield ""
        yield from self._program()
        yield ""
        yield "}  // namespace polysome::p4::generated"

    def _types(self) -> Iterable[Composite]:
        """Every composite, what it contains before it."""
        found: dict[str, Composite] = {}
        roots = [kind for g in (self.program.ingress, self.program.egress) for kind in self._roots(g).values()]
        elements = [r.element for r in self.program.registers.values() if isinstance(r.element, Composite)]
        variables = [v.type for g in (self.program.ingress, self.program.egress) for v in g.variables]
        for kind in [*roots, *elements, *(v for v in variables if isinstance(v, Composite))]:
            for part in reversed(list(composites(kind))):
                found.setdefault(part.name, part)
        return found.values()

    def _roots(self, g: pr.Gress) -> dict[str, Composite]:
        """What is stored during a pass: also the metadata of the chip that the program does not name."""
        arch, given = ARCHITECTURES[self.program.arch], dict(g.roots)
        for role in BLOCKS:
            if role.startswith(g.name):
                for root in PARAMS[role]:
                    if root not in ("pkt", "hdr", "md"):
                        given.setdefault(root, arch.structs[arch.intrinsic(role, root)])
        return given

    # ------------------------------------------------------------ struct Program

    def _program(self) -> Iterator[str]:
        chip = self.chip
        yield "class Program {"
        yield "  public:"
        yield f"    static constexpr std::uint32_t length_extra = {chip.length_extra};"
        yield f"    static constexpr std::uint32_t mirror_length_extra = {chip.mirror_length_extra};"
        yield f"    static constexpr bool mirror_cuts_header = {'true' if chip.mirror_cuts_header else 'false'};"
        yield f"    static constexpr std::uint32_t mirror_cuts_fcs = {chip.mirror_cuts_fcs};"
        yield f"    static constexpr std::uint16_t mirror_sessions = {chip.mirror_sessions};"
        yield f"    static constexpr std::uint32_t queue_cell = {chip.queue_cell};"
        yield ""
        yield "    Program() {"
        for kind, objects in (
            ("tables", self.program.tables),
            ("registers", self.program.registers),
            ("counters", self.program.counters),
            ("meters", self.program.meters),
        ):
            if objects:
                yield f"        objects_.{kind} = {{{', '.join('&' + self.names.of(n) for n in objects)}}};"
        yield "    }"
        yield "    Program(const Program&) = delete;"
        yield "    Program& operator=(const Program&) = delete;"
        yield "    Objects& objects() { return objects_; }"
        if self.points is not None:
            yield "    const auto& coverage() const { return coverage_; }"
        yield ""
        yield from self._gress(self.program.ingress)
        yield ""
        yield from self._gress(self.program.egress)
        yield ""
        yield "  private:"
        yield "    static constexpr std::uint16_t error_rejected = 0x8000;  // the program's own `reject`"
        yield from self._members()
        yield "};"

    def _members(self) -> Iterator[str]:
        of = self.names.of
        for t in self.program.tables.values():
            yield f"    Table<table_{of(t.name)}> {of(t.name)};"
        for r in self.program.registers.values():
            yield f"    Register<register_{of(r.name)}> {of(r.name)};"
        for c in self.program.counters.values():
            counted = ", ".join("true" if what in c.kind else "false" for what in ("PACKETS", "BYTES"))
            yield f'    Counter {of(c.name)}{{"{c.name}", {c.size}, {c.width}, {counted}}};'
        for m in self.program.meters.values():
            yield f'    Meter {of(m.name)}{{"{m.name}", {m.size}, {"true" if m.bytes else "false"}}};'
        yield "    Objects objects_;"
        if self.points is not None:
            yield f"    Coverage<{len(self.points.outcomes)}> coverage_;"
        yield "    std::uint64_t random_ = 0x9e3779b97f4a7c15ull;"
        yield "    std::uint64_t random() {"
        yield "        random_ ^= random_ << 13, random_ ^= random_ >> 7;"
        yield "        return random_ ^= random_ << 17;"
        yield "    }"

    # ------------------------------------------------------------ a pass

    def _gress(self, g: pr.Gress) -> Iterator[str]:
        title = g.name.capitalize()
        yield f"    void {g.name}(const {title}Input& in, {title}Output& out) {{"
        for line in self._pass(g):
            yield STEP * 2 + line if line else ""
        yield "    }"

    def _pass(self, g: pr.Gress) -> Iterator[str]:
        code = Statements(self.program, self.names, g.name, points=self.points)
        for root, kind in self._roots(g).items():
            yield f"[[maybe_unused]] {struct(kind)} {root};"
        for v in g.variables:
            yield f"[[maybe_unused]] {ctype(v.type)} {code.place(v)}{{}};"
        yield from self._intrinsic(g)
        yield from ParserCode(code, g.parser).lines()
        reads_error = any(
            isinstance(e, pr.Place) and e.key == ("prsr", "parser_err")
            for s in statements(self.program, (*g.control, *g.deparser))
            for e in expressions(self.program, s)
        )
        if reads_error:
            yield "prsr.parser_err = error;"
            yield "if (error == error_rejected) { out.cause = Cause::parser; return; }"
        else:
            yield "if (error != 0) { out.cause = Cause::parser; return; }"
        yield from self._lambdas(g, code)
        yield from code.block(g.control, 0)
        yield from self._results(g)
        yield "std::uint8_t* w = out.front.head;"
        yield from code.block(g.deparser, 0)
        yield "out.front.emitted = static_cast<std::uint32_t>(w - out.front.head);"

    def _intrinsic(self, g: pr.Gress) -> Iterator[str]:
        stamp = "cut<48>(in.now)"
        yield f"prsr.global_tstamp = {stamp};"
        if g.name == "ingress":
            yield "ig_intr_md.ingress_port = in.port;"
            yield f"ig_intr_md.ingress_mac_tstamp = {stamp};"
            yield "tm.ucast_egress_port = no_port;"
            return
        stamp_bits = 18 if self.program.arch == "tna" else 32
        yield "eg_intr_md.egress_port = in.port;"
        yield "eg_intr_md.egress_rid = in.rid;"
        yield "eg_intr_md.egress_rid_first = in.first_copy;"
        yield "eg_intr_md.egress_qid = in.queue;"
        yield "eg_intr_md.pkt_length = in.length;"
        yield "eg_intr_md.enq_qdepth = cut<19>(in.enqueued_depth);"
        yield "eg_intr_md.deq_qdepth = cut<19>(in.dequeued_depth);"
        yield f"eg_intr_md.enq_tstamp = cut<{stamp_bits}>(in.enqueued);"
        yield f"eg_intr_md.deq_timedelta = cut<{stamp_bits}>(in.now - in.enqueued);"

    def _results(self, g: pr.Gress) -> Iterator[str]:
        if g.name == "ingress":
            for field, source in (
                ("port", "ucast_egress_port"), ("group_a", "mcast_grp_a"), ("group_b", "mcast_grp_b"), ("rid", "rid"),
                ("queue", "qid"),
            ):  # fmt: skip
                yield f"out.{field} = tm.{source};"
            yield "out.bypass = tm.bypass_egress != 0;"
        yield "if (dprsr.drop_ctl & 1) out.cause = Cause::program;"

    def _lambdas(self, g: pr.Gress, code: Statements) -> Iterator[str]:
        """Register actions and tables that this gress uses, each a function within the function."""
        found = list(statements(self.program, (*g.control, *g.deparser)))
        executed = {e.action for s in found for e in expressions(self.program, s) if isinstance(e, pr.Execute)}
        for name, action in self.program.register_actions.items():
            if name in executed:
                yield from self._register_action(action, code)
        applied = {s.table for s in found if isinstance(s, pr.Apply | pr.ApplySwitch)}
        applied |= {e.table for s in found for e in expressions(self.program, s) if isinstance(e, pr.Hit)}
        for name, t in self.program.tables.items():
            if name in applied:
                yield from self._table(t, code)

    def _register_action(self, a: pr.RegisterAction, code: Statements) -> Iterator[str]:
        """The body works on `value` in place; what it declares is a variable of the pass."""
        result = ctype(a.result)
        root = a.value.root
        inner = Statements(
            self.program, self.names, code.gress, {root: "sal_"}, not self.chip.stateful_wraps, self.points
        )
        yield f"auto run_{self.names.of(a.name)} = [&](std::size_t index) POLYSOME_INLINE -> {result} {{"
        yield f"{STEP}auto& sal_value = {self.names.of(a.register)}[index];"
        yield f"{STEP}[[maybe_unused]] {result} sal_rv{{}};"
        if self.points is not None:
            yield STEP + code.reached(self.points.runs(a)).rstrip()
        yield from inner.block(a.body, 1)
        yield f"{STEP}return sal_rv;"
        yield "};"

    def _table(self, t: pr.Table, code: Statements) -> Iterator[str]:
        name = self.names.of(t.name)
        keys = ", ".join(f"static_cast<{_key_type(k)}>({code.of(k.value)})" for k in t.keys)
        yield f"auto apply_{name} = [&]() POLYSOME_INLINE -> Ran {{"
        yield f"{STEP}auto applied = {name}.apply({{{keys}}});"
        yield f"{STEP}[[maybe_unused]] auto& d = applied.data;"
        yield f"{STEP}switch (d.action) {{"
        for i, action_name in enumerate(t.actions):
            action = self.program.actions[action_name]
            root = f"${action.name}"
            places = {root: f"d.{parameter(i, '')}"}
            inner = Statements(self.program, self.names, code.gress, places, points=self.points)
            yield f"{STEP * 2}case {i}: {{"
            if self.points is not None:
                yield STEP * 3 + self._ran(self.points, t, action_name)
            yield from inner.block(action.body, 3)
            yield f"{STEP * 2}}} break;"
        yield f"{STEP * 2}default: break;"
        yield f"{STEP}}}"
        yield f"{STEP}return {{applied.hit, d.action}};"
        yield "};"

    def _ran(self, points: Points, t: pr.Table, action: str) -> str:
        """Counts an action; by an entry only if that is an outcome."""
        by_entry, by_default = points.by_entry(t, action), points.by_default(t)
        if by_entry is None:
            return f"if (!applied.hit) coverage_.count({by_default});"
        return f"coverage_.count(applied.hit ? {by_entry} : {by_default});"


def _key_type(k: pr.Key) -> str:
    return ctype(k.value.type) if ctype(k.value.type) != "bool" else "std::uint8_t"
