"""What generated C++ calls by name instead of number: ports, drop reasons, headers, their fields and instances."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable
from functools import lru_cache

from polysome.backends.nf_cpp.lines import WIDTH
from polysome.backends.nf_cpp.names import identifier, unique
from polysome.ir import program as ir

BUILT_IN = (
    *("", "no handler", "short frame", "empty port set"),
    *("policed", "longer than burst", "rate too low", "no free class", "queue full", "buffer full"),
)
_LONGEST = 60  # characters of a name that is made of words of the spec


class Reasons:
    """Drop reasons and their names, in the order of their numbers; first the machine's and the schedule's."""

    def __init__(self) -> None:
        self.names: dict[str, str] = {}
        for text in BUILT_IN:
            self.name(text)

    def name(self, text: str) -> str:
        """The constant of a reason: `no free port` is Drop::no_free_port."""
        if text not in self.names:
            words = re.sub(r"[^a-z0-9]+", "_", text.lower())
            short = words if len(words) <= _LONGEST else words[:_LONGEST].rpartition("_")[0] or words[:_LONGEST]
            self.names[text] = identifier(short if text else "none", self.names.values())
        return f"Drop::{self.names[text]}"

    def code(self) -> list[str]:
        lines = [
            "/// Why packets are dropped: places in Nf::reasons. The first ones are the machine's and the schedule's."
        ]
        return [*lines, *_scope("Drop", [enumeration("uint16_t", self.names.values())])]


@lru_cache(maxsize=256)
def port_names(program: ir.Program) -> tuple[str, ...]:
    return tuple(f"Port::{name}" for name in unique(program.ports))


def ports_code(program: ir.Program) -> list[str]:
    numbered = ", ".join(f"{name.removeprefix('Port::')} = {n}" for n, name in enumerate(port_names(program)))
    return ["/// Logical ports.", *_scope("Port", [[f"inline constexpr uint16_t {numbered};"]])]


def instance_name(parser: ir.Parser, i: int) -> str:
    """The constant of a header as the parser names it."""
    return f"Instance::{identifier(parser.instances[i].name)}"


def instances_code(program: ir.Program) -> list[str]:
    names = [identifier(instance.name) for instance in program.parser.instances]
    return ["/// Headers as the parser names them.", *_scope("Instance", [enumeration("size_t", names)])]


@lru_cache(maxsize=256)
def header_names(program: ir.Program) -> dict[str, str]:
    """The constants of header types."""
    return {header: f"Header::{name}" for header, name in zip(program.headers, unique(program.headers), strict=True)}


@lru_cache(maxsize=256)
def field_names(program: ir.Program) -> dict[tuple[str, int], str]:
    """The constants of header types' fields, by header and number: `Field::ipv4_src`."""
    places = {(h.name, n): f"{h.name}_{f.name}" for h in program.headers.values() for n, f in enumerate(h.fields)}
    return {place: f"Field::{name}" for place, name in zip(places, unique(places.values()), strict=True)}


def headers_code(program: ir.Program) -> list[str]:
    named = field_names(program)
    fields = [
        enumeration("uint16_t", (named[h.name, n].removeprefix("Field::") for n in range(len(h.fields))))
        for h in program.headers.values()
        if h.fields
    ]
    headers = enumeration("uint16_t", (name.removeprefix("Header::") for name in header_names(program).values()))
    return ["/// Header types.", *_scope("Header", [headers]), "/// Fields of each.", *_scope("Field", fields)]


def enumeration(type: str, names: Iterable[str]) -> list[str]:
    """The constants 0, 1, … of a scope."""
    text = ", ".join(names)
    if len(text) < WIDTH - 30:
        return [f"enum : {type} {{ {text} }};"]
    return [f"enum : {type} {{", *textwrap.wrap(text, WIDTH, initial_indent="    ", subsequent_indent="    "), "};"]


def _scope(name: str, parts: Iterable[list[str]]) -> list[str]:
    return [f"namespace {name} {{", *(line for part in parts for line in part), f"}}  // namespace {name}", ""]
