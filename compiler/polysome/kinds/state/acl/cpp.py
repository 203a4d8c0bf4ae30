"""`config acl` as C++: runtime/nf/acl.hpp."""

from __future__ import annotations

from polysome.backends.nf_cpp.table_code import Encode, Encoder, Function, TableCpp
from polysome.backends.nf_cpp.types_code import cpp, members
from polysome.ir import types as t
from polysome.kinds.state.acl import AclRow, Matcher, Range, components
from polysome.kinds.values import Prefix


class AclCpp(TableCpp):
    """A row of the blob: for each component 0 (any), 1 and 16 bytes (exact), 2 and twice 16 bytes (a range), 3 and a
    prefix; then a signed 64-bit priority, and the value.
    """

    names = ("Acl", "AclRow")

    def row(self, type: t.Table) -> str:
        return f"AclRow<{cpp(type.value)}>"

    def encoded(self, type: t.Table, encoder: Encoder) -> Encode:
        value, prefix = encoder(type.value), encoder(t.PREFIX)

        def encode(row: AclRow) -> bytes:
            matchers = b"".join(_matcher(matcher, prefix) for matcher in row.matchers)
            return matchers + row.priority.to_bytes(8, "big", signed=True) + value(row.value)

        return encode

    def values(self, type: t.Table) -> list[tuple[t.Type, str]]:
        return [(type.value, "x.value")]

    def read(self, type: t.Table, rows: str) -> str:
        return f"read_rows(reader, {len(components(type.key))}, {rows});"

    def lookup(self, at: Function, table: str, key: str, type: t.Type) -> str:
        value = at.temp("parts")
        at.put_line(f"const auto {value} = {key};")
        parts = members(type, value) if isinstance(type, t.Struct | t.Tuple) else [(value, type)]
        at.put_line(f"const u128 components[] = {{{', '.join(text for text, _ in parts)}}};")
        widths = ", ".join(str(t.width(part)) for _, part in parts)
        at.put_line(f"static constexpr uint8_t widths[] = {{{widths}}};")
        return f"{table}.get(components, widths)"


def _matcher(matcher: Matcher, prefix: Encode) -> bytes:
    match matcher:
        case None:
            return b"\0"
        case Prefix():
            return b"\3" + prefix(matcher)
        case Range(low, high):
            return b"\2" + low.to_bytes(16, "big") + high.to_bytes(16, "big")
        case exact:
            return b"\1" + exact.to_bytes(16, "big")


CPP = AclCpp()
