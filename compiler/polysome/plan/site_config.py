"""`[config]` of a site file: values of the spec's config items, from files beside the site file or written in place.

`file = "config.toml"` is a whole config file; `backends = "backends.csv"` and `limits = "limits.toml"` give one item
from a file; anything else is the item's value, as in a config file. A config item called `file` is that item.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from polysome.config.declarations import check_declarations
from polysome.config.items import ConfigFileError, Item, Rejected
from polysome.config.load import Loader
from polysome.ir import program as ir
from polysome.plan.records import wrong
from polysome.plan.site_file import SiteFile
from polysome.syntax.diagnostics import Report

WHOLE = "file"


@dataclass(frozen=True)
class SiteConfig:
    """`values`: of every config item, as `config.load` gives them; `files`: what was read, by its name in the site."""

    values: dict[str, Any]
    files: dict[str, Path]


def config_of(file: SiteFile, program: ir.Program, report: Report, given: Sequence[str] = ()) -> SiteConfig:
    """The config that the site gives, but for items that `given` does, files as with `config.load`.

    Reports all that is wrong there and in the files; Rejected if anything is. ConfigFileError if a
    file of `given` cannot be used.
    """
    for name, source in program.sources.items():
        report.sources.setdefault(name, source)
    check_declarations(program, report)
    binding = _Binding(Loader(program, report), Path(file.path).parent, report)
    table = file.root.value.get("config")
    if table is not None:
        if not isinstance(table.value, dict):
            wrong(table, "a table for `[config]`", "It has named members.", "Write each as `name = value`.", report)
        binding.all_of(table, program)
    instead = Loader(program, report)
    for argument in given:
        instead.file(argument)
    binding.loader.given.put(instead.given)
    binding.loader.unread |= instead.unread
    binding.loader.defaults("Write for example `{}` under `[config]` of the site file.")
    if report.errors:
        raise Rejected
    values = binding.loader.given.values
    return SiteConfig({name: values[name] for name in program.config}, binding.files)


class _Binding:
    """Takes the members of `[config]`."""

    def __init__(self, loader: Loader, folder: Path, report: Report) -> None:
        self.loader, self.folder, self.report = loader, folder, report
        self.files: dict[str, Path] = {}

    def all_of(self, table: Item, program: ir.Program) -> None:
        members = dict(table.value)
        if not any(name == WHOLE or name.startswith(f"{WHOLE}.") for name in program.config) and WHOLE in members:
            item = members.pop(WHOLE)
            if isinstance(item.value, str) and item.value.lower().endswith(".toml"):
                self._from(item, self.loader.whole)
            else:
                why = "`file` of `[config]` names a TOML file with the values of any config items."
                self._unusable(item, "`file` is no TOML file", why, 'Write for example `file = "config.toml"`.')
        for decl, item in self.loader.given.named(Item(members, table.span), ""):
            if isinstance(item.value, str) and item.value.lower().endswith((".csv", ".toml")):
                self._from(item, lambda path, decl=decl: self.loader.only(decl, path))  # type: ignore[misc]
            else:
                self.loader.given.give(decl, item, "toml")

    def _from(self, item: Item, read: Callable[[str], None]) -> None:
        """Reads a file beside the site file; E1307 at its name if it is of no use."""
        name = PurePosixPath(item.value)
        if name.is_absolute() or ".." in name.parts:
            why = "A bundle takes along what stands beside the site file, under the names that it has there."
            self._unusable(item, f"`{item.value}` is not in the site file's folder", why, "Copy it there.")
            return
        self.files[name.as_posix()] = path = self.folder / name
        try:
            read(str(path))
        except ConfigFileError as error:
            why = "Files of `[config]` are looked for beside the site file."
            self._unusable(item, f"`{path}` {error.message}", why, "Correct the name, or the file.")
        except Rejected:
            self.loader.unread = True

    def _unusable(self, item: Item, message: str, why: str, mend: str) -> None:
        self.loader.unread = True
        self.report.add("E1307", message, item.span, why=why, mend=mend)
