"""What commands share: reading a spec, showing errors, ending with the right code."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, NoReturn

import typer

from polysome.analysis.all import analyse
from polysome.config.items import ConfigFileError, Rejected
from polysome.ir import program as ir
from polysome.semantics.check import Options, check
from polysome.syntax.diagnostics import Diagnostic, Report, SpecError, render
from polysome.syntax.spans import Source, Span

if TYPE_CHECKING:
    from polysome.plan.site import Site

SPEC, COMMAND_LINE, ENVIRONMENT, UNTESTED, INTERRUPTED = 1, 2, 3, 4, 130
_MOST_DIGITS = 19  # of a u64


def fail(code: int, message: str, mend: str = "") -> NoReturn:
    """Print one error without a place in a file, and end."""
    print(f"error: {message}" + (f"\n  mend: {mend}" if mend else ""), file=sys.stderr)
    raise SystemExit(code)


def finite(value: float | None) -> float | None:
    """Of an option in seconds: NaN is neither below nor above any limit."""
    if value is not None and not math.isfinite(value):
        raise typer.BadParameter(f"{value:g} is no number of seconds.")
    return value


def warn(message: str, mend: str) -> None:
    """Print one warning without a place in a file."""
    print(f"warning: {message}\n  mend: {mend}", file=sys.stderr)


def colored() -> bool:
    """May errors have colours? Only on a terminal, and not if NO_COLOR is set (no-color.org)."""
    return sys.stderr.isatty() and not os.environ.get("NO_COLOR")


def show(diagnostics: Sequence[Diagnostic], sources: Mapping[str, Source]) -> None:
    """Print diagnostics, and how many errors there are."""
    for diagnostic in diagnostics:
        print(render(diagnostic, sources, colored()) + "\n", file=sys.stderr)
    errors = sum(not d.warning for d in diagnostics)
    if errors:
        codes = sorted({d.code for d in diagnostics if not d.warning})
        plural = "s" if errors > 1 else ""
        print(f"{errors} error{plural}; `polysome explain {codes[0]}` says more", file=sys.stderr)


def spec(
    path: Path,
    params: Sequence[str],
    capacities: Sequence[str] = (),
    report: Report | None = None,
    places: Mapping[str, Span] = MappingProxyType({}),
) -> ir.Program:
    """The checked and analysed program; ends with code 1 and all errors, or 2 if the file cannot be read.

    `places`: of the params that are given in a file; what is wrong with their values is shown there.
    """
    report = report if report is not None else Report()
    sizes = {name: _number(name, text) for name, text in pairs("--capacity", capacities).items()}
    try:
        program = check(path, report, Options(pairs("--param", params), sizes, places))
        analyse(program, report)
        report.stop_on_errors()
    except SpecError as error:
        found = [_placed(d, places) for d in error.diagnostics]
        show([*found, *report.warnings], error.sources)
        given = all(d.span is None or d.span.file.startswith("--param") or d.span in places.values() for d in found)
        raise SystemExit(COMMAND_LINE if given else SPEC) from None
    except FileNotFoundError:
        fail(COMMAND_LINE, f"there is no file {path}")
    except IsADirectoryError:
        fail(COMMAND_LINE, f"{path} is a folder; name a spec, a file that ends in .nf")
    except OSError as error:
        fail(COMMAND_LINE, f"{path} cannot be read: {error.strerror}")
    _check_capacities(program, sizes)
    return program


def _placed(diagnostic: Diagnostic, places: Mapping[str, Span]) -> Diagnostic:
    """In the file that gives a param, if it is about the param's text."""
    name = diagnostic.span.file.removeprefix("--param ") if diagnostic.span is not None else ""
    return replace(diagnostic, span=places[name]) if name in places else diagnostic


def sited(
    path: Path,
    site: Path,
    params: Sequence[str],
    capacities: Sequence[str] = (),
    architecture: str | None = None,
) -> tuple[ir.Program, Site]:
    """The program, with the params that a site file gives, and that site; ends with code 2 if the file is wrong.

    `architecture` goes before what the file says.
    """
    from polysome.plan.site_file import open_site, site_of

    with right_files() as report:
        file = open_site(str(site), report)
        places = {name: span for name, span in file.places.items() if name not in pairs("--param", params)}
        program = spec(path, [*file.params, *params], capacities, report, places)
        return program, site_of(file, program.ports, report, architecture)


@contextmanager
def right_files() -> Iterator[Report]:
    """For what reads a site file and its config; ends with code 2 and all errors if something is wrong there."""
    report = Report()
    try:
        yield report
    except ConfigFileError as error:
        fail(COMMAND_LINE, str(error))
    except Rejected:
        show(report.diagnostics, report.sources)
        raise SystemExit(COMMAND_LINE) from None
    except SpecError as error:
        show(error.diagnostics, error.sources)
        raise SystemExit(COMMAND_LINE) from None


def _check_capacities(program: ir.Program, sizes: Mapping[str, int]) -> None:
    maps = [name for name, decl in program.state.items() if isinstance(decl, ir.MapDecl)]
    for name in sizes:
        if name not in maps:
            fail(
                COMMAND_LINE,
                f"--capacity {name}: the NF has no map or set of that name",
                f"It has: {', '.join(maps) or 'none'}.",
            )


def pairs(option: str, items: Sequence[str]) -> dict[str, str]:
    """`name=value` options as a dict."""
    found: dict[str, str] = {}
    for item in items:
        name, equals, value = item.partition("=")
        if not equals or not name:
            fail(
                COMMAND_LINE,
                f"{option} {item}: this is not NAME=VALUE",
                f"Write for example `{option} {name or 'x'}=1`.",
            )
        found[name] = value
    return found


def _number(name: str, text: str) -> int:
    if not text.isdecimal() or not 1 <= len(text.lstrip("0")) <= _MOST_DIGITS:
        fail(COMMAND_LINE, f"--capacity {name}={text}: a number of entries was expected", "Write for example `4`.")
    return int(text)
