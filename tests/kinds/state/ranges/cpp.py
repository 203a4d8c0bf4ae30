"""`config ranges` as C++: ranges.hpp."""

from __future__ import annotations

from pathlib import Path

from polysome.backends.nf_cpp.table_code import Encode, Encoder, TableCpp
from polysome.backends.nf_cpp.types_code import cpp
from polysome.ir import program as ir
from polysome.ir import types as t


class RangesCpp(TableCpp):
    """A row of the blob is the least key, the greatest and the value."""

    names = ("Ranges",)
    header = Path(__file__).with_name("ranges.hpp")

    def table(self, type: t.Table) -> str:
        return f"Ranges<{cpp(type.key)}, {cpp(type.value)}>"

    def row(self, type: t.Table) -> str:
        return f"std::tuple<{cpp(type.key)}, {cpp(type.key)}, {cpp(type.value)}>"

    def encoded(self, type: t.Table, encoder: Encoder) -> Encode:
        encode = encoder(t.Tuple((type.key, type.key, type.value)))
        return lambda row: encode((*row[0], row[1]))

    def values(self, type: t.Table) -> list[tuple[t.Type, str]]:
        return [(part, f"std::get<{i}>(x)") for i, part in enumerate((type.key, type.key, type.value))]

    def acceptable(self, decl: ir.ConfigDecl) -> str:
        return ""


CPP = RangesCpp()
