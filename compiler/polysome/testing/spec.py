"""A spec under test: loaded, checked, and with its state shrunk where a test wants that."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from polysome.analysis.all import analyse
from polysome.config.load import load_config
from polysome.interp.code import Generated, generate
from polysome.ir import program as ir
from polysome.kinds.state import STATE_KINDS
from polysome.semantics.check import Options, check
from polysome.syntax.diagnostics import Report

SMALL = 3  # entries: enough for a first, a last and one between
FRAME = 1514  # bytes of the largest usual Ethernet frame, without its checksum


@dataclass(frozen=True, eq=False)
class Spec:
    """A checked NF and what a test holds fixed about it. Compares by identity.

    `config`: values of config items that every trace starts with, in the form of `config.load.load_config`; the others
    are made up. None: all are made up.
    """

    path: Path
    program: ir.Program
    params: Mapping[str, str] = field(default_factory=dict)
    config: Mapping[str, Any] | None = None

    def small(self, entries: int = SMALL) -> Spec:
        """The same NF with room for a few entries, classes and packets only."""
        return dataclasses.replace(self, program=shrunk(self.program, entries))


def load(
    path: str | Path,
    params: Mapping[str, str] | None = None,
    config: list[str] | None = None,
) -> Spec:
    """The NF in a file that ends in .nf.

    `params` as `--param` takes them, `config` as `--config`: TOML files, or `NAME=FILE.csv`. Raises SpecError with all
    that is wrong in the spec or the config, OSError if a file cannot be read.
    """
    report = Report()
    program = check(Path(path), report, Options(dict(params or {}), {}))
    analyse(program, report)
    report.stop_on_errors()
    values = None
    if config:
        values = load_config(program, config, report)
        report.stop_on_errors()
    return Spec(Path(path), program, dict(params or {}), values)


@lru_cache(maxsize=256)
def shrunk(program: ir.Program, entries: int) -> ir.Program:
    """The program with room for `entries` in all state that has some, and for as many classes and waiting frames."""
    state = {name: _smaller(decl, entries) for name, decl in program.state.items()}
    limits = {"classes": entries, "queue": entries * FRAME, "buffer": entries * FRAME}
    options: dict[str, int | str] = {
        name: min(value, limits[name]) if name in limits and isinstance(value, int) else value
        for name, value in program.schedule.options.items()
    }
    schedule = dataclasses.replace(program.schedule, options=options)
    return dataclasses.replace(program, state=state, schedule=schedule)


@lru_cache(maxsize=256)
def code(program: ir.Program) -> Generated:
    """What the interpreter runs, made once per program."""
    return generate(program)


def _smaller(decl: ir.AnyState, entries: int) -> ir.AnyState:
    match decl:
        case ir.MapDecl():
            return dataclasses.replace(decl, capacity=min(decl.capacity, entries))
        case ir.PoolDecl():
            axes = tuple(a if isinstance(a, str) else (a[0], min(a[1], a[0] + entries - 1)) for a in decl.axes)
            return dataclasses.replace(decl, axes=axes)
        case ir.KindDecl(kind=kind, options=options):
            rooms = {option.name for option in STATE_KINDS[kind].options if option.room}
            smaller = {name: min(value, entries) if name in rooms else value for name, value in options.items()}
            return dataclasses.replace(decl, options=smaller)
        case _:
            return decl
