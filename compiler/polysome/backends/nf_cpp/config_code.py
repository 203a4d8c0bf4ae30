"""The config as C++: from a blob (`config_blob`) to tables, all of it at one instant, and what a blob may not hold."""

from __future__ import annotations

from polysome.backends.nf_cpp.config_blob import size_of
from polysome.backends.nf_cpp.expression_code import Shared
from polysome.backends.nf_cpp.names import identifier
from polysome.backends.nf_cpp.table_code import table_cpp
from polysome.backends.nf_cpp.types_code import cpp
from polysome.ir import types as t


def wire_type(type: t.Type) -> str:
    """What the config blob is decoded to before anything is replaced."""
    match type:
        case t.ListOf(item) | t.SetOf(item):
            return f"std::vector<{cpp(item)}>"
        case t.Table():
            return f"std::vector<{table_cpp(type).row(type)}>"
        case _:
            return cpp(type)


def configure_function(shared: Shared) -> list[str]:
    program = shared.program
    lines = [
        "/// New values for config items, at one instant; false if the blob is malformed, or has values that are none",
        "/// of their types: then nothing changed.",
        "bool configure(std::span<const uint8_t> blob) {",
        "    Reader reader(blob);",
    ]
    items = list(program.config.values())
    lines += [f"    std::optional<{wire_type(d.type)}> new_{identifier(d.name)};" for d in items]
    lines += ["    while (reader.ok() && !reader.done()) {", "        uint16_t item = 0;", "        reader.get(item);"]
    lines.append("        switch (item) {")
    for number, d in enumerate(items):
        new = f"new_{identifier(d.name)}.emplace()"
        read = table_cpp(d.type).read(d.type, new) if isinstance(d.type, t.Table) else f"reader.get({new});"
        lines.append(f"            case {number}: {read} break;")
    lines += ["            default: return false;", "        }", "    }", "    if (!reader.ok()) return false;"]
    for d in items:  # all that may be wrong, before anything is replaced
        if condition := sound(d.type, f"(*new_{identifier(d.name)})"):
            lines.append(f"    if (new_{identifier(d.name)} && !({condition})) return false;")
        if isinstance(d.type, t.Table) and (more := table_cpp(d.type).acceptable(d)) is not None:
            name = identifier(d.name)
            lines.append(f"    if (new_{name} && !config.{name}.acceptable(*new_{name}{more})) return false;")
    unset = "".join(f'!new_{identifier(d.name)} ? "{d.name}" : ' for d in items)
    lines.append(f"    unset_ = {unset}std::string_view();")
    for d in items:
        name = identifier(d.name)
        more = table_cpp(d.type).replaced(d) if isinstance(d.type, t.Table) else ""
        replace = f"config.{name}.replace(std::move(*new_{name}){more});"
        if not isinstance(d.type, t.ListOf | t.SetOf | t.Table):
            replace = f"config.{name} = *new_{name};"
        lines.append(f"    if (new_{name}) {{ {replace} }}")
    lines += ["    reload_pools();", "    return true;", "}"]
    lines += ["/// The first item that the last blob did not have; empty: none.", "std::string_view unset() const {"]
    return [*lines, "    return unset_;", "}"]


def sound(type: t.Type, value: str) -> str:
    """The condition under which a decoded value is one of its type; empty: it always is."""
    match type:
        case t.Bool():
            return ""
        case t.Port():
            return f"{value} < port_names.size()"
        case t.Struct(_, fields):
            return _all([sound(member, f"{value}.{identifier(name)}") for name, member in fields])
        case t.Tuple(items):
            return _all([sound(item, f"std::get<{i}>({value})") for i, item in enumerate(items)])
        case t.ListOf(item) | t.SetOf(item):
            return _each(value, sound(item, "x"))
        case t.Table():
            return _each(value, _all([sound(part, at) for part, at in table_cpp(type).values(type)]))
    bits, size = t.width(type), size_of(type)
    if bits is None or size is None or bits == 8 * size:
        return ""
    return f"{value} >> {bits} == 0"


def _all(conditions: list[str]) -> str:
    return " && ".join(filter(None, conditions))


def _each(values: str, condition: str) -> str:
    return f"std::ranges::all_of({values}, [](const auto& x) {{ return {condition}; }})" if condition else ""
