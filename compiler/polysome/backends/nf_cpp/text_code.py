"""Values as text in C++, on runtime/nf/text.hpp: what `analysis.values_text` writes."""

from __future__ import annotations

from polysome.backends.nf_cpp.names import identifier
from polysome.backends.nf_cpp.types_code import members
from polysome.ir import types as t

_SCALES = {
    "bytes": ((10**9, "GB"), (2**30, "GiB"), (10**6, "MB"), (2**20, "MiB"), (10**3, "KB"), (2**10, "KiB"), (1, "B")),
    "bitrate": ((10**9, "Gbps"), (10**6, "Mbps"), (10**3, "Kbps"), (1, "bps")),
    "packetrate": ((10**6, "Mpps"), (10**3, "Kpps"), (1, "pps")),
}
_ADDRESSES = {32: "ipv4", 48: "mac", 128: "ipv6"}
_TEXT = "polysome::text"


def value_text(type: t.Type, value: str) -> str:
    """The std::string of a C++ expression of `type`, which is evaluated once, in a member function of the NF."""
    return _of(type, value, 0)


def _of(type: t.Type, value: str, depth: int) -> str:
    match type:
        case t.Ref(table, row):
            return _of(row, f"config.{identifier(table)}.value({value})", depth)
        case t.FromPool(_, item):
            return _of(item, f"{value}.value", depth)
        case t.Struct(name, fields):
            return _several(type, [f"{n}: " for n, _ in fields], value, (f"{name} {{ ", " }"), ", ", depth)
        case t.Tuple(items):
            return _several(type, [""] * len(items), value, ("(", ")"), ", ", depth)
        case t.Entry(key, held):
            return _several(t.Tuple((key, held)), ["", ""], value, ("", ""), " -> ", depth)
        case t.SetOf(t.Port()):
            return f"{_TEXT}::ports(port_names, {value})"
        case _:
            return _scalar(type, value)


def _several(type: t.Type, names: list[str], value: str, around: tuple[str, str], between: str, depth: int) -> str:
    inner = f"part_{depth}"
    parts = [_of(m, text, depth + 1) for text, m in members(type, inner)]
    heads = [f"{between if i else ''}{name}" for i, name in enumerate(names)]
    texts = [f'"{head}" + {part}' for head, part in zip(heads, parts, strict=True)]
    joined = " + ".join([f'std::string("{around[0]}")', *texts, f'"{around[1]}"'])
    return f"[&](const auto& {inner}) {{ (void){inner}; return {joined}; }}({value})"


def _scalar(type: t.Type, value: str) -> str:
    match type:
        case t.Bool():
            return f"{_TEXT}::boolean({value})"
        case t.Address(_, width):
            return f"{_TEXT}::{_ADDRESSES[width]}({value})"
        case t.Quantity("time"):
            return f"{_TEXT}::moment({value})"
        case t.Quantity("duration"):
            return f"{_TEXT}::duration({value})"
        case t.Quantity(name) if name in _SCALES:
            units = ", ".join(f'{{{scale}u, "{unit}"}}' for scale, unit in _SCALES[name])
            return f"{_TEXT}::scaled({value}, {{{units}}})"
        case t.Port():
            return f"{_TEXT}::port(port_names, {value})"
        case t.Enum(name, found):
            listed = ", ".join(f'{{{number}u, "{name}.{member}"}}' for member, number in found)
            return f"{_TEXT}::member({value}, {{{listed}}})"
        case t.Bits() | t.Literal():
            return f"{_TEXT}::number({value})"
        case _:
            # Buckets, byte strings and tables: their text would say nothing that helps.
            return f'((void){value}, std::string("a {type}"))'
