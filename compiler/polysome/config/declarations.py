"""Is what the program declares as config something that files can give?"""

from __future__ import annotations

from collections.abc import Iterator

from polysome.config.rows import rows_of
from polysome.config.shapes import unusable
from polysome.ir import program as ir
from polysome.ir import types as t
from polysome.kinds.state import TABLE_KINDS
from polysome.syntax.diagnostics import Report


def check_declarations(program: ir.Program, report: Report) -> None:
    """Raises SpecError with E1015 or E1016 for config items that no file can fill.

    Makes the spec's files known to `report`, since messages about configuration point at declarations.
    """
    for name, source in program.sources.items():
        report.sources.setdefault(name, source)
    *first, last = TABLE_KINDS
    for decl in program.config.values():
        part = unusable(decl.type)
        if part is not None:
            report.add(
                "E1016",
                f"config `{decl.name}` cannot be given in a file",
                decl.span,
                label=f"holds {part}",
                why="A file gives scalars, structs, tuples, lists and sets of these; "
                f"{', '.join(first)} and {last} only as a whole item{''.join(_keys())}.",
                mend="Make the table a config item of its own, or use another type.",
            )
        elif isinstance(decl.type, t.Table):
            rows_of(decl.type).check(decl, report)
    report.stop_on_errors()


def _keys() -> Iterator[str]:
    """Which tables take only some keys."""
    for kind in TABLE_KINDS.values():
        if kind.keys_are:
            yield f", {kind.name} only with keys of {kind.keys_are}"
