"""The protocol as C++: constants, and a type of each header with its fields (field.hpp)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from polysome_protocol import HEADERS, TOLD
from polysome_protocol.headers import Field, Header

WIDTHS = (8, 16, 32, 64)
ENUMERATIONS = {"roles": "PortRole"}
_BEGIN = """\
// Written by `make protocol` from polysome_protocol/protocol.toml: change that, not this.
#pragma once

#include <cstddef>
#include <cstdint>

#include "protocol/field.hpp"

namespace polysome::protocol {
"""
_END = """

}  // namespace polysome::protocol
"""


def text() -> str:
    """The header, formatted as `.clang-format` asks."""
    parts = [line for name, told in TOLD.items() if name != "headers" for line in _numbers(name, told)]
    parts += [line for header in HEADERS.values() for line in _header(header)]
    return _BEGIN + "\n".join(parts) + _END


def _numbers(section: str, told: Mapping[str, Any]) -> Iterator[str]:
    """A namespace with the section's numbers and texts, or an enumeration."""
    if section in ENUMERATIONS:
        yield f"\nenum class {ENUMERATIONS[section]} : uint8_t {{"
        yield from (f"    {name} = {value}," for name, value in told.items())
        yield "};"
        return
    yield f"\nnamespace {section} {{"
    yield from (f"inline constexpr {_constant(name, value)};" for name, value in told.items())
    yield f"}}  // namespace {section}"


def _constant(name: str, value: int | str) -> str:
    if isinstance(value, str):
        return f'const char* {name} = "{value}"'
    width = next(width for width in WIDTHS if value < 1 << width)
    return f"uint{width}_t {name} = {value if value < 4096 else hex(value)}"


def _header(header: Header) -> Iterator[str]:
    yield f"\nstruct {type_of(header)} {{"
    yield f"    static constexpr size_t size = {header.size};"
    yield from (f"    using {field.name} = {_field(field)};" for field in header.fields)
    yield "};"


def type_of(header: Header) -> str:
    """Its type's name."""
    return "".join(word.capitalize() for word in header.name.split("_"))


def _field(field: Field) -> str:
    numbers = (field.first, field.bits, *([field.spare] if field.spare else []))
    return f"Field<{', '.join(map(str, numbers))}>"
