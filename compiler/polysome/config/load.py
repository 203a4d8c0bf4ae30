"""Configuration files to values: `--config FILE.toml` and `--config NAME=FILE.csv` (LANGUAGE.md L8.1)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from polysome.config.assign import Assignments, unknown_name_hint
from polysome.config.csv_text import read_csv
from polysome.config.declarations import check_declarations
from polysome.config.items import ConfigFileError, Item, Rejected, read_source
from polysome.config.rows import rows_of
from polysome.config.shapes import item_sample
from polysome.config.toml_text import read_toml
from polysome.ir import program as ir
from polysome.ir import types as t
from polysome.kinds.state import TABLE_KINDS
from polysome.syntax.diagnostics import Report

_NAMED = re.compile(r"([A-Za-z_]\w*(?:\.\w+)*)=(.*)", re.DOTALL)


def load_config(program: ir.Program, files: Sequence[str], report: Report) -> dict[str, Any]:
    """The value of every config item of the program, from `files` or else its default.

    Each file is `FILE.toml`, `NAME=FILE.csv` or `NAME=FILE.toml`; `config.tables.Tables` says how values look. Raises
    ConfigFileError if a file cannot be used at all, else SpecError with everything that is wrong in all files.
    """
    check_declarations(program, report)
    loader = Loader(program, report)
    for argument in files:
        loader.file(argument)
    loader.defaults("Put for example `{}` into a TOML file and give it with `--config FILE.toml`.")
    report.stop_on_errors()
    return {name: loader.given.values[name] for name in program.config}


class Loader:
    """Reads one file after the other, and reports what is wrong; ConfigFileError if one cannot be used at all."""

    def __init__(self, program: ir.Program, report: Report) -> None:
        self.program, self.report = program, report
        self.given = Assignments(program, report)
        self.unread = False

    def file(self, argument: str) -> None:
        """One `--config`."""
        found = _NAMED.fullmatch(argument)
        name, path = (found[1], found[2]) if found else (None, argument)
        if name is None and path.lower().endswith(".csv"):
            tables = [n for n, decl in self.program.config.items() if _is_table(decl.type)]
            example = f"{tables[0] if tables else 'NAME'}={path}"
            raise ConfigFileError(path, f"a CSV file fills one table; say which, as in `{example}`")
        if name is not None and name not in self.program.config:
            raise ConfigFileError(path, f"there is no config `{name}`. {unknown_name_hint(name, self.program)}")
        try:
            if name is None:
                self.whole(path)
            else:
                self.only(self.program.config[name], path)
        except Rejected:
            self.unread = True

    def whole(self, path: str) -> None:
        """A TOML file with any items; Rejected if it is none."""
        self.given.all_of(read_toml(read_source(path, self.report), self.report), "toml")

    def only(self, decl: ir.ConfigDecl, path: str) -> None:
        """A file that fills one item; Rejected if it is not of its format."""
        kind = path.lower().rpartition(".")[2]
        if kind not in ("csv", "toml"):
            raise ConfigFileError(path, "is neither a .toml nor a .csv file")
        if kind == "csv" and not _is_table(decl.type):
            example = item_sample(decl.name, decl.type, self.program.ports, "toml")
            raise ConfigFileError(path, f"`{decl.name}` is no table: CSV cannot give it, but TOML can: `{example}`")
        source = read_source(path, self.report)
        if kind == "csv":
            self.given.give(decl, read_csv(source, self.report), "csv")
        else:
            self.given.give(decl, _single(decl, read_toml(source, self.report), path), "toml")

    def defaults(self, mend: str) -> None:
        """Defaults for what no file gave; E1005 where there is none, with an example in `mend`'s braces."""
        for name, decl in self.program.config.items():
            if name in self.given.given:
                continue
            if decl.default is not None:
                self.given.values[name] = _default(decl)
            elif not self.unread:  # it may stand in a file that could not be read: that is one cause
                sample = item_sample(name, decl.type, self.program.ports, "toml")
                why = "Only tables are empty if they are not given; this is none, and has no default."
                message = f"config `{name}` is not given"
                self.report.add("E1005", message, decl.span, why=why, mend=mend.format(sample))


def _is_table(type: t.Type) -> bool:
    return isinstance(type, (t.ListOf, t.SetOf, t.Table))


def _single(decl: ir.ConfigDecl, root: Item, path: str) -> Item:
    """The value in a TOML file for one item: what stands under its name, or if it is a TOML table, the whole file."""
    name = decl.name.rpartition(".")[2]
    if list(root.value) == [name]:
        only: Item = root.value[name]
        return only
    if isinstance(decl.type, t.Struct) or (isinstance(decl.type, t.Table) and rows_of(decl.type).by_key):
        return root
    raise ConfigFileError(path, f"given for `{decl.name}` alone, it must hold `{name} = …` and nothing else")


def _default(decl: ir.ConfigDecl) -> Any:
    """The declared default in the form that files give: an empty table is `()` in the program."""
    match decl.type:
        case t.SetOf():
            return frozenset(decl.default)
        case t.Table(kind):
            return TABLE_KINDS[kind].together(decl.default)
        case t.ListOf():
            return tuple(decl.default)
        case _:
            return decl.default
