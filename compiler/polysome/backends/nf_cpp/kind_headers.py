"""The C++ that kinds of state, config tables and policies bring along in their own folders."""

from __future__ import annotations

from pathlib import Path

from polysome.backends.nf_cpp.sizes import native_of
from polysome.backends.nf_cpp.table_code import table_cpp
from polysome.ir import program as ir
from polysome.ir import types as t
from polysome.kinds.policy import POLICIES


def own_headers(program: ir.Program) -> list[str]:
    """The lines of all that the NF uses, each header once: so its text is whole wherever it is compiled."""
    kinds = [native_of(decl.kind).header for decl in program.state.values() if isinstance(decl, ir.KindDecl)]
    tables = [table_cpp(decl.type).header for decl in program.config.values() if isinstance(decl.type, t.Table)]
    headers = dict.fromkeys([*kinds, *tables, POLICIES[program.schedule.policy].header])
    return [line for header in headers if header is not None for line in [*_lines(header), ""]]


def _lines(header: Path) -> list[str]:
    lines = header.read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line != "#pragma once"]
