"""`config lpm` as C++: runtime/nf/lpm.hpp."""

from __future__ import annotations

from polysome.backends.nf_cpp.table_code import Encode, Encoder, Function, TableCpp
from polysome.backends.nf_cpp.types_code import cpp
from polysome.ir import program as ir
from polysome.ir import types as t


class LpmCpp(TableCpp):
    """A row of the blob is a prefix and the value."""

    names = ("Lpm",)

    def row(self, type: t.Table) -> str:
        return f"std::pair<Prefix, {cpp(type.value)}>"

    def encoded(self, type: t.Table, encoder: Encoder) -> Encode:
        return encoder(t.Tuple((t.PREFIX, type.value)))

    def values(self, type: t.Table) -> list[tuple[t.Type, str]]:
        return [(type.value, "x.second")]

    def acceptable(self, decl: ir.ConfigDecl) -> str:
        return ""

    def lookup(self, at: Function, table: str, key: str, type: t.Type) -> str:
        return f"{table}.get({key}, {t.width(type)})"


CPP = LpmCpp()
