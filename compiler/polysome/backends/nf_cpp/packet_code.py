"""The structs between parse, decide and apply: Fields, Edits, and which parse classes pass."""

from __future__ import annotations

from polysome.backends.nf_cpp.constants_code import instance_name
from polysome.backends.nf_cpp.expression_code import Shared
from polysome.backends.nf_cpp.reads import Place, field_name, found_place, instance_of, leaf_type, load
from polysome.backends.nf_cpp.types_code import cpp
from polysome.ir import program as ir


def fields_struct(shared: Shared) -> list[str]:
    """`struct Fields`: what decide sees of a packet. Those of headers that are not valid have no meaning."""
    lines = [
        "/// What decide sees of a packet. Members of headers that are not valid have no meaning.",
        "struct Fields {",
        "    typename Headers::Mask valid;",
        "    uint64_t len;",
        "    uint16_t in_port;",
    ]
    for leaf in shared.leaves.values():
        lines.append(f"    {leaf_type(leaf.e)} {leaf.name}{{}};")
    return [*lines, "", "    bool has(size_t instance) const { return valid >> instance & 1; }", "};", ""]


def extraction(shared: Shared) -> list[str]:
    """`static void extract(const Headers&, Fields&)`."""
    parser = shared.program.parser
    lines = [
        "static void extract(const Headers& h, Fields& f) {",
        "    f.valid = h.valid;",
        "    f.len = h.length();",
        "    f.in_port = h.in_port;",
    ]
    by_instance: dict[int | None, list[str]] = {}
    for leaf in shared.leaves.values():
        i = instance_of(leaf.e)
        place = Place("h", "", "", "") if i is None else found_place(parser, i, "at")
        by_instance.setdefault(i, []).append(f"f.{leaf.name} = {load(leaf.e, parser, place)};")
    for i, loads in sorted(by_instance.items(), key=lambda item: -1 if item[0] is None else item[0]):
        if i is None:
            lines += [f"    {line}" for line in loads]
            continue
        name = instance_name(parser, i)
        lines.append(f"    if (h.has({name})) {{")
        if any("at " in line or "at)" in line or "(at" in line for line in loads):
            lines.append(f"        [[maybe_unused]] const uint8_t* const at = h.data + h.offset[{name}];")
        lines += [f"        {line}" for line in loads]
        lines.append("    }")
    return [*lines, "}"]


def edits_struct(shared: Shared, operations: bool) -> list[str]:
    """`struct Edits`: the fields that handlers write, and which of them this packet's handler wrote; with `operations`
    also pushes, pops and truncations."""
    written = sorted(shared.written)
    names = []
    lines = ["/// What decide wants changed.", "struct Edits {"]
    for i, n in written:
        instance = shared.program.parser.instances[i]
        f = instance.header.fields[n]
        names.append(field_name(shared.program.parser, i, n))
        lines.append(f"    {cpp(f.type)} {names[-1]};")
    lines += [f"    bool has_{name};" for name in names]
    if operations:
        lines.append("    Operations operations;")
    cleared = "".join(f"has_{name} = " for name in names)
    lines += ["", "    void clear() {"]
    if names:
        lines.append(f"        {cleared}false;")
    if operations:
        lines.append("        operations.clear();")
    return [*lines, "    }", "};", ""]


# ---------------------------------------------------------------- which classes pass


def classes_test(program: ir.Program) -> list[str]:
    """`static bool passes(const Fields&)`: does a packet have what the NF demands (L6.2)?"""
    test, where = "true", ""
    if program.contract is not None:
        where = f" ({program.place(program.contract.span)})" if program.contract.span is not None else ""
        classes = [frozenset(c) for c in program.parser.classes]
        yes = {c for n, c in enumerate(classes) if program.contract.passing >> n & 1}
        no = {c for n, c in enumerate(classes) if not program.contract.passing >> n & 1}
        test = _tree(yes, no - yes, program)
    return [
        f"/// Does the packet have the headers that `relevant` demands{where}?",
        "template <class F>",
        f"static bool passes([[maybe_unused]] const F& f) {{ return {test}; }}",
    ]


def _tree(yes: set[frozenset[int]], no: set[frozenset[int]], program: ir.Program) -> str:
    """A decision tree over valid headers: true for the classes `yes`, false for `no`."""
    if not no:
        return "true"
    if not yes:
        return "false"
    best = max(sorted(set().union(*yes, *no)), key=lambda i: _purity(i, yes, no))
    has = f"f.has({instance_name(program.parser, best)})"
    a = _tree({c for c in yes if best in c}, {c for c in no if best in c}, program)
    b = _tree({c for c in yes if best not in c}, {c for c in no if best not in c}, program)
    if (a, b) == ("true", "false"):
        return has
    if b == "false":
        return f"({has} && {a})"
    if a == "true":
        return f"({has} || {b})"
    return f"({has} ? {a} : {b})"


def _purity(i: int, yes: set[frozenset[int]], no: set[frozenset[int]]) -> float:
    """How well instance `i` tells both sets apart (Gini)."""
    score = 0.0
    for inside in (True, False):
        a = sum((i in c) == inside for c in yes)
        b = sum((i in c) == inside for c in no)
        if a + b == 0:
            return -1.0
        score += (a * a + b * b) / (a + b)
    return score
