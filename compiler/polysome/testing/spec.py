"""A spec under test: loaded, checked, and with its state shrunk where a test wants that."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from polysome.analysis.all import analyse
from polysome.config.load import load_config
from polysome.engines.shrunk import shrunk
from polysome.ir import program as ir
from polysome.semantics.check import Options, check
from polysome.syntax.diagnostics import Report

SMALL = 3  # entries: enough for a first, a last and one between


@dataclass(frozen=True, eq=False, repr=False)
class Spec:
    """A checked NF and what a test holds fixed about it. Compares by identity.

    `config`: values of config items that every trace starts with, in the form of `config.load.load_config`; the others
    are made up. None: all are made up.
    """

    path: Path
    program: ir.Program
    params: Mapping[str, str] = field(default_factory=dict)
    config: Mapping[str, Any] | None = None

    def __repr__(self) -> str:
        """Short, for messages of tests: nobody reads a whole program."""
        return f"<Spec {self.program.name} of {self.path}>"

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """For Hypothesis, which shows what it made a value from."""
        printer.text(repr(self))

    def small(self, entries: int = SMALL) -> Spec:
        """The same NF with room for a few entries, classes and packets only."""
        return dataclasses.replace(self, program=shrunk(self.program, entries))


def load(
    path: str | Path,
    params: Mapping[str, str] | None = None,
    config: list[str] | None = None,
    texts: Mapping[Path, str] | None = None,
) -> Spec:
    """The NF in a file that ends in .nf.

    `params` as `--param` takes them, `config` as `--config`: TOML files, or `NAME=FILE.csv`; `texts`: what stands in
    some files, by absolute path, whatever the disk says. Raises SpecError with all that is wrong in the spec or the
    config, OSError if a file cannot be read.
    """
    report = Report()
    program = check(Path(path), report, Options(dict(params or {}), {}, texts=texts or {}))
    analyse(program, report)
    report.stop_on_errors()
    values = None
    if config:
        values = load_config(program, config, report)
        report.stop_on_errors()
    return Spec(Path(path), program, dict(params or {}), values)
