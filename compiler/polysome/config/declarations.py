"""Is what the program declares as config something that files can give?"""

from __future__ import annotations

from polysome.config.shapes import unusable
from polysome.ir import program as ir
from polysome.ir import types as t
from polysome.kinds.hashing import encoder
from polysome.kinds.state.maglev import SIZE, Maglev
from polysome.syntax.diagnostics import Report


def check_declarations(program: ir.Program, report: Report) -> None:
    """Raises SpecError with E1015 or E1016 for config items that no file can fill.

    Makes the spec's files known to `report`, since messages about configuration point at declarations.
    """
    for name, source in program.sources.items():
        report.sources.setdefault(name, source)
    for decl in program.config.values():
        part = unusable(decl.type)
        if part is not None:
            report.add(
                "E1016",
                f"config `{decl.name}` cannot be given in a file",
                decl.span,
                label=f"holds {part}",
                why="A file gives scalars, structs, tuples, lists and sets of these; map, lpm, acl and maglev only as "
                "a whole item, lpm only with keys of the types ipv4, ipv6 or prefix.",
                mend="Make the table a config item of its own, or use another type.",
            )
        elif isinstance(decl.type, t.Table) and decl.type.kind == "maglev":
            _check_maglev(decl, decl.type, report)
    report.stop_on_errors()


def _check_maglev(decl: ir.ConfigDecl, type: t.Table, report: Report) -> None:
    try:
        Maglev(decl.name, (), int.from_bytes, encoder(type.value), decl.options.get("size", SIZE))
    except ValueError as error:
        why = "Each row walks through the places in steps of its own; with a prime it reaches all of them."
        mend = "Choose a prime, for example 251, 4093 or 65537: at least a hundred times the number of rows."
        report.add("E1015", str(error), decl.span, why=why, mend=mend)
    except TypeError as error:
        why = "Maglev hashes its rows, so they have a fixed size."
        report.add("E1016", f"config `{decl.name}`: {error}", decl.span, why=why, mend="Use a row without lists.")
