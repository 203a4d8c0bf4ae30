"""The functions of a spec and the values of its parser, as C++ functions."""

from __future__ import annotations

from polysome.backends.nf_cpp.expression_code import Shared
from polysome.backends.nf_cpp.handler_code import in_function
from polysome.backends.nf_cpp.names import identifier
from polysome.backends.nf_cpp.state_expressions import Expressions
from polysome.ir import program as ir
from polysome.ir import types as t
from polysome.ir.walk import walk


def functions_of_fns(shared: Shared) -> list[str]:
    """`fn_NAME` for each fn."""
    lines: list[str] = []
    for fn in shared.program.fns.values():
        e = Expressions(shared, in_function)
        traps = e.traps(f"fn {fn.name}", fn.body)
        types = _argument_types(shared.program, fn)
        names = []
        for slot in fn.slots:
            if slot not in types:  # nothing reads it
                names.append("const auto&")
                continue
            name = e.local(slot, *types[slot])
            names.append(f"[[maybe_unused]] const {shared.cpp(types[slot][1])}& {name}")
        if traps:
            names.append("[[maybe_unused]] uint16_t& trapped")
        code = e.code(fn.body)
        lines += [
            f"/// {shared.program.place(fn.span)}: fn {fn.name}.",
            f"{shared.cpp(fn.body.type)} fn_{identifier(fn.name)}({', '.join(names)}) const {{",
            f"    return {code};",
            "}",
            "",
        ]
    return lines


def functions_of_values(shared: Shared) -> list[str]:
    """`value_NAME` for each value of the parser, and `value_NAME_class` for the same in a class."""
    lines: list[str] = []
    done: set[str] = set()
    # A value may use those before it, so the last ones first find out what is used.
    for name, value in shared.program.parser.values.items():
        for suffix, e in (("", value.value), ("_class", value.for_class)):
            plain = identifier(name) + suffix
            if plain in done:
                continue
            done.add(plain)
            x = Expressions(shared, in_function, arrival=True)
            traps = x.traps(f"value {name} {bool(suffix)}", e)
            code = x.code(e)
            more = ", uint16_t& trapped" if traps else ""
            lines += [
                f"/// {shared.program.place(e.span)}: `{name}` of the parser{' in a class' if suffix else ''}.",
                "template <class F>",
                f"{shared.cpp(e.type)} value_{plain}([[maybe_unused]] const F& f{more}) const {{",
                f"    return {code};",
                "}",
                "",
            ]
    return lines


def _argument_types(program: ir.Program, fn: ir.Fn) -> dict[int, tuple[str, t.Type]]:
    return {n.slot: (n.name, n.type) for n in walk(fn.body) if isinstance(n, ir.Local) and n.slot in fn.slots}
