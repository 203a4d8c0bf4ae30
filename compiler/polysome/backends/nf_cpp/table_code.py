"""Config tables as C++, as far as kinds of tables have it in common.

A kind of table says in its folder's `cpp.py` how it is in C++: its `CPP` is a `TableCpp`. Without it the interpreter
has the kind; what needs C++ refuses it.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

from polysome.backends.nf_cpp.types_code import Unsupported, cpp
from polysome.ir import program as ir
from polysome.ir import types as t
from polysome.kinds.state import brought

Encode = Callable[[Any], bytes]
Encoder = Callable[[t.Type], Encode]


class Function(Protocol):
    """The C++ function that a lookup stands in."""

    def temp(self, name: str) -> str:
        """A name for a local that is not taken."""

    def put_line(self, line: str) -> None:
        """A further line of it."""


class TableCpp:
    """A kind of config table as C++: a class template that takes rows from the config's blob and answers lookups.

    A row of the blob is read by `Reader` (runtime/nf/reader.hpp) into a value of the type `row`. The class has
    `replace(std::vector<row>&&, …)`, `size()`, and `get(key, …)`, a pointer to the value, null if no row is found; if
    every hash has a row, `at(hash)` instead. With identities these give an optional `Row`, and it has `value(row)`,
    `live(row)` and `carry` (nf/archive.hpp); a mapping has `contains(key)` and `entries()`, pairs of key and row.

    `names`: those of C++ that it declares in the name space of NFs, its own first. `header`: the file in the kind's
    folder that has the class, whose text becomes part of an NF's that uses the kind; None: it is one of those in
    runtime/nf that `generated.hpp` includes.
    """

    names: tuple[str, ...] = ()
    header: Path | None = None

    def table(self, type: t.Table) -> str:
        """The class of a table of a type."""
        return f"{self.names[0]}<{cpp(type.value)}>"

    def row(self, type: t.Table) -> str:
        """The type of a row as it is read; this one, and what follows of it, if rows are (key, value)."""
        return f"std::pair<{cpp(type.key)}, {cpp(type.value)}>"

    def encoded(self, type: t.Table, encoder: Encoder) -> Encode:
        """The function that gives a row's bytes; `encoder` gives those for values of a type."""
        key, value = encoder(type.key), encoder(type.value)
        return lambda row: key(row[0]) + value(row[1])

    def values(self, type: t.Table) -> list[tuple[t.Type, str]]:
        """What of a row `x` must be checked to be a value of its type, and how it is reached."""
        return [(type.key, "x.first"), (type.value, "x.second")]

    def read(self, type: t.Table, rows: str) -> str:
        """The statement that reads all rows."""
        return f"reader.get({rows});"

    def acceptable(self, decl: ir.ConfigDecl) -> str | None:
        """What `acceptable(rows, …)` takes beside the rows, with a comma in front; None: there are no wrong rows."""
        return None

    def replaced(self, decl: ir.ConfigDecl) -> str:
        """What `replace(rows, …)` takes beside the rows, with a comma in front."""
        return ""

    def lookup(self, at: Function, table: str, key: str, type: t.Type) -> str:
        """What a lookup finds for a key of this type, as an expression of C++."""
        return f"{table}.get({key})"


def table_cpp(type: t.Table) -> TableCpp:
    """How a kind of table is in C++; Unsupported if it is not."""
    found: TableCpp | None = brought("cpp").get(type.kind)
    if found is None:
        raise Unsupported(f"a config table of kind {type.kind}")
    return found
