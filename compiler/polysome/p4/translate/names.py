"""Names and types in the C++ of a translated program."""

from __future__ import annotations

import re

from polysome.p4.types import Bits, Bool, Composite, Type

_RESERVED = frozenset(
    [
        "alignas",
        "alignof",
        "and",
        "asm",
        "auto",
        "bitand",
        "bitor",
        "bool",
        "break",
        "case",
        "catch",
        "char",
        "class",
        "compl",
        "concept",
        "const",
        "constexpr",
        "continue",
        "decltype",
        "default",
        "delete",
        "do",
        "double",
        "else",
        "enum",
        "explicit",
        "export",
        "extern",
        "false",
        "float",
        "for",
        "friend",
        "goto",
        "if",
        "inline",
        "int",
        "long",
        "mutable",
        "namespace",
        "new",
        "noexcept",
        "not",
        "nullptr",
        "operator",
        "or",
        "private",
        "protected",
        "public",
        "register",
        "requires",
        "return",
        "short",
        "signed",
        "sizeof",
        "static",
        "struct",
        "switch",
        "template",
        "this",
        "throw",
        "true",
        "try",
        "typedef",
        "typeid",
        "typename",
        "union",
        "unsigned",
        "using",
        "valid",
        "virtual",
        "void",
        "volatile",
        "while",
        "xor",
        "in",
        "out",
        "end",
        "p",
        "error",
    ]
)


class Names:
    """C++ names for full names of P4: always the same one for the same name, never one for two."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}
        self._used: set[str] = set()

    def of(self, full: str) -> str:
        if full not in self._names:
            base = re.sub(r"\W", "_", full).strip("_") or "x"
            name, count = base, 1
            while name in self._used or name in _RESERVED:
                count += 1
                name = f"{base}_{count}"
            self._names[full] = name
            self._used.add(name)
        return self._names[full]


def member(field: str) -> str:
    """A field of a struct."""
    return f"{field}_" if field in _RESERVED else field


def struct(of: Composite) -> str:
    return f"t_{of.name}"


def ctype(of: Type) -> str:
    match of:
        case Bool():
            return "bool"
        case Bits() if of.width > 128:
            return f"Bytes<{of.width // 8}>"
        case Bits():
            return storage(of.width)
        case Composite():
            return struct(of)
        case _:
            raise AssertionError(of)


def storage(bits: int) -> str:
    for size in (8, 16, 32, 64):
        if bits <= size:
            return f"std::uint{size}_t"
    return "u128"


def literal(value: int, of: Type) -> str:
    """A constant, of its own storage type where that is wider than an int."""
    if isinstance(of, Bool):
        return "true" if value else "false"
    assert isinstance(of, Bits)
    if of.width > 128:
        data = value.to_bytes(of.width // 8, "big")
        return f"Bytes<{of.width // 8}>{{{{{', '.join(map(hex, data)) if value else ''}}}}}"
    shown = str(value) if value < 10 else hex(value)
    if of.width <= 32:
        return f"{shown}u"
    if of.width <= 64:
        return f"{shown}ull"
    if value < 1 << 64:
        return f"u128{{{shown}ull}}"
    return f"(u128{{{hex(value >> 64)}ull}} << 64 | {hex(value & (1 << 64) - 1)}ull)"
