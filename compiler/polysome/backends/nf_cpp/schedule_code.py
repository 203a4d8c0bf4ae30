"""The schedule as C++: the policy's type and settings, the order class and the values of each packet."""

from __future__ import annotations

from polysome.backends.nf_cpp.expression_code import Shared
from polysome.backends.nf_cpp.sizes import SCHEDULE, of_state
from polysome.backends.nf_cpp.state_expressions import Expressions
from polysome.backends.nf_cpp.types_code import Unsupported, canonical, canonical_size, words
from polysome.ir import program as ir
from polysome.kinds.policy import POLICIES


def schedule_functions(shared: Shared) -> list[str]:
    """Types and functions of `Nf` that the machine needs for the schedule."""
    schedule = shared.program.schedule
    e = Expressions(shared, lambda reason: f"return {reason};", arrival=True)
    cls = e.code(schedule.cls)
    shared.types.setdefault(schedule.cls.type)
    place = sum(len(of_state(decl)) for decl in shared.program.state.values())
    lines = [
        "// ---- the schedule",
        f"using ClassKey = std::array<uint64_t, {words(schedule.cls.type)}>;",
        f"using Policy = {_policy(schedule)};",
        "static Settings settings(std::span<const uint64_t> sizes) {",
        f"    const auto of = (sizes.empty() ? std::span<const uint64_t>(default_sizes) : sizes).subspan({place});",
        f"    return {{{', '.join(f'.{name} = of[{i}]' for i, name in enumerate(SCHEDULE))}, "
        f".when_full = WhenFull::{schedule.options.get('when_full', 'drop')}, "
        f".packets = {str(schedule.options.get('unit') == 'packets').lower()}}};",
        "}",
        "template <class F>",
        "ClassKey class_of([[maybe_unused]] const F& f) const {",
        f"    return pack({cls});",
        "}",
        "/// The order class's canonical bytes (LANGUAGE.md L3.12); returns how many.",
        f"static constexpr size_t most_class_bytes = {max(1, canonical_size(schedule.cls.type))};",
        "size_t class_bytes(const Packet& p, uint8_t* bytes) const {",
        "    return with_fields(p, [&]([[maybe_unused]] const auto& f) -> size_t {",
        f"        const auto cls = {cls};",
        "        Writer writer(bytes);",
        *("        " + line for line in canonical(schedule.cls.type, "cls", "writer")),
        "        return writer.size();",
        "    });",
        "}",
        "/// The policy's values, after the handler; the reason of a drop if one cannot be computed, else 0.",
        "template <class F>",
        "uint16_t args_of([[maybe_unused]] const F& f, [[maybe_unused]] const Edits& e,",
        "                 [[maybe_unused]] uint64_t args[2]) {",
    ]
    args = Expressions(shared, lambda reason: f"return {reason};")
    for number, arg in enumerate(schedule.args):
        lines.append(f"    args[{number}] = {args.code(arg)};")
    return [
        *lines,
        "    return 0;",
        "}",
    ]


def _policy(schedule: ir.Schedule) -> str:
    kind = POLICIES[schedule.policy]
    name = kind.native_served if "serve" in schedule.options and kind.native_served else kind.native
    if not name:
        raise Unsupported(f"schedule policy {kind.name}")
    return name
