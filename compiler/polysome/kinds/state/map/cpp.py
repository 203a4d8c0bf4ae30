"""`config map` as C++: runtime/nf/map_table.hpp."""

from __future__ import annotations

from polysome.backends.nf_cpp.table_code import TableCpp
from polysome.backends.nf_cpp.types_code import cpp
from polysome.ir import types as t


class MapCpp(TableCpp):
    """A row of the blob is key and value."""

    names = ("MapTable",)

    def table(self, type: t.Table) -> str:
        return f"MapTable<{cpp(type.key)}, {cpp(type.value)}>"


CPP = MapCpp()
