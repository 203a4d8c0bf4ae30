"""What of an NF's inputs people compare, as text by name: params, fields that matter, rows of the config."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from polysome.analysis.effects import effects
from polysome.analysis.layout import layout
from polysome.analysis.values_text import text
from polysome.cli.packet_findings import reads, writes
from polysome.ir import program as ir
from polysome.ir import types as t


def described(program: ir.Program) -> dict[str, Any]:
    """For a bundle's manifest: what `polysome diff` tells about two of them."""
    return {
        "params": {name: text(value, type, program) for name, (type, value) in program.params.items()},
        "relevant": _relevant(program),
        "written": [f"{row['header']}.{row['field']}" for row in writes(program, effects(program))],
    }


def config_rows(program: ir.Program, values: Mapping[str, Any]) -> dict[str, list[str]]:
    """The config, row by row."""
    return {name: _rows(program, program.config[name].type, value) for name, value in values.items()}


def _relevant(program: ir.Program) -> list[str]:
    """Fields, or bytes of what is no field, in wire order."""
    found: dict[str, None] = {}
    for row in reads(program, layout(program)):
        ranges = ", ".join(str(low) if low == high else f"{low}-{high}" for low, high in row["ranges"])
        names = row["fields"] or [f"bytes {ranges}"]
        for name in names:
            found[f"{row['header']}.{name}" if row["header"] and row["fields"] else f"{row['header'] or ''} {name}"] = (
                None
            )
    return [name.strip() for name in found]


def _rows(program: ir.Program, type: t.Type, value: Any) -> list[str]:
    """One text for each row of a table, in file order; one for anything else."""
    match type:
        case t.ListOf(item):
            return [text(row, item, program) for row in value]
        case t.SetOf(item):
            return [text(row, item, program) for row in sorted(value)]
        case t.Table():
            rows = [{k: v} for k, v in value.items()] if isinstance(value, Mapping) else [(row,) for row in value]
            return [text(row, type, program)[1:-1] for row in rows]
        case _:
            return [text(value, type, program)]
