"""Programs and their configuration from texts."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from polysome.config.load import load_config
from polysome.ir.program import Program
from polysome.semantics.check import check
from polysome.syntax.diagnostics import Report, SpecError

TYPES = """
struct Backend { ip: ipv4, mac: mac, uplink: port }
struct Pair { low: u8, high: u8 }
struct Nested { ends: Pair, at: port }
struct Keyed { key: u8, value: u8 }
struct Ends { src: ipv4, dst: ipv6, dport: u16, kind: Kind }
enum Kind { first, second, third }
enum Coded: u8 { a = 7, b }
"""


@cache
def nf(config: str) -> Program:
    """An NF with ports `left` and `right` that declares this config."""
    spec = f"use net.l4;\n{TYPES}\nnf test {{ port left, right; {config} on packet {{ send right; }} }}\n"
    with TemporaryDirectory() as folder:
        path = Path(folder) / "test.nf"
        path.write_text(spec, encoding="utf-8")
        return check(path, Report())


def load(folder: Path, config: str, toml: str) -> dict[str, Any]:
    """What a TOML text gives the NF that declares `config`."""
    path = folder / "config.toml"
    path.write_text(toml, encoding="utf-8")
    return load_config(nf(config), [str(path)], Report())


def load_csv(folder: Path, config: str, csv: str) -> Any:
    """What a CSV text gives `x`."""
    path = folder / "x.csv"
    path.write_text(csv, encoding="utf-8")
    return load_config(nf(config), [f"x={path}"], Report())["x"]


def said(error: SpecError) -> list[tuple[str, int, int]]:
    """Code, line and column of each diagnostic."""
    found = []
    for d in error.diagnostics:
        assert d.span is not None
        found.append((d.code, *error.sources[d.span.file].position(d.span.start)))
    return found
