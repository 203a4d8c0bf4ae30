"""`config maglev` as C++: runtime/nf/maglev.hpp."""

from __future__ import annotations

from polysome.backends.nf_cpp.table_code import Encode, Encoder, TableCpp
from polysome.backends.nf_cpp.types_code import canonical, canonical_size, cpp
from polysome.ir import program as ir
from polysome.ir import types as t
from polysome.kinds.state.maglev import places


class MaglevCpp(TableCpp):
    """A row of the blob is the value and its weight, of 64 bits."""

    names = ("Maglev",)

    def row(self, type: t.Table) -> str:
        return f"std::pair<{cpp(type.value)}, uint64_t>"

    def encoded(self, type: t.Table, encoder: Encoder) -> Encode:
        return encoder(t.Tuple((type.value, t.U64)))

    def values(self, type: t.Table) -> list[tuple[t.Type, str]]:
        return [(type.value, "x.first")]

    def acceptable(self, decl: ir.ConfigDecl) -> str:
        return f", {places(decl.options)}"

    def replaced(self, decl: ir.ConfigDecl) -> str:
        """The function that hashes a row, and the size."""
        assert isinstance(decl.type, t.Table)
        value = decl.type.value
        body = " ".join(canonical(value, "row", "writer"))
        hashing = (
            f"[&](const {cpp(value)}& row) {{ uint8_t bytes[{canonical_size(value)}]; Writer writer(bytes); {body} "
            f"return siphash(SEED, bytes, writer.size()); }}"
        )
        return f", {hashing}, {places(decl.options)}"


CPP = MaglevCpp()
