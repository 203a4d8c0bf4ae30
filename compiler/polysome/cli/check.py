"""`polysome check`: is the spec right, and what did the compiler find out about it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from polysome.cli import common
from polysome.cli.common import COMMAND_LINE, SPEC, fail
from polysome.ir import program as ir
from polysome.passes import PASSES
from polysome.syntax.diagnostics import Report, did_you_mean
from polysome.syntax.spans import Source, Span


def check(
    spec: Annotated[Path, typer.Argument(help="The NF, a file that ends in .nf.")],
    param: Annotated[list[str] | None, typer.Option("--param", metavar="NAME=VALUE", help="Override a param.")] = None,
    deny: Annotated[
        list[str] | None,
        typer.Option("--deny", metavar="WARNING", help="Make a warning (W0801, …) an error, or `all` of them."),
    ] = None,
    print_after: Annotated[
        str | None,
        typer.Option("--print-after", metavar="PASS", help=f"Print a pass's result instead: {', '.join(PASSES)}."),
    ] = None,
    cost: Annotated[
        bool,
        typer.Option(
            "--cost",
            help="Also build the NF, and print the cycles and cache lines of each path through its handlers. "
            "Needs clang++ and LLVM's tools on x86-64 Linux, and takes some seconds.",
        ),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as one JSON object.")] = False,
) -> None:
    """Check a spec, and show what it needs: bytes per packet, state with its memory, verdicts, schedule."""
    denied = _denied(deny or [])
    if print_after is not None and print_after not in PASSES:
        fail(COMMAND_LINE, f"--print-after {print_after}: there is no such pass", did_you_mean(print_after, PASSES))
    if cost and print_after is not None:
        fail(COMMAND_LINE, "--cost and --print-after print different things", "Give one of them.")
    report = Report()
    try:
        program = common.spec(spec, param or [], report=report)
    except SystemExit as end:
        if as_json and end.code == SPEC:
            print(json.dumps({"ok": False, "diagnostics": _diagnostics(report)}, indent=2))
        raise
    refused = [d for d in report.warnings if "all" in denied or d.code in denied]
    if as_json:
        from polysome.cli.findings import findings

        found = {"ok": not refused, "diagnostics": _diagnostics(report), **findings(program)}
        if cost:
            found["cost"] = _cost(spec, program)
        print(json.dumps(found, indent=2))
    else:
        common.show(report.diagnostics, report.sources)
        print(PASSES[print_after](program) if print_after else report_of(program), end="")
        if cost:
            from polysome.cli.cost_text import text_of

            print("\n" + text_of(_cost(spec, program)), end="")
    if refused:
        codes = ", ".join(sorted({d.code for d in refused}))
        fail(SPEC, f"denied by --deny: {codes}", "Mend what the warnings say, or do not deny them.")


def _cost(spec: Path, program: ir.Program) -> dict[str, Any]:
    """Loaded only if asked for: it needs what tests need."""
    from polysome.cli.cost import cost

    return cost(spec, program)


def report_of(program: ir.Program) -> str:
    """What the compiler found out, as text for a terminal of 100 columns."""
    from polysome.cli.findings import findings
    from polysome.cli.findings_text import text_of

    return text_of(findings(program))


def _denied(codes: Sequence[str]) -> set[str]:
    """The codes of `--deny`, also several in one, `W0201,W0801`."""
    found = {code.strip() for item in codes for code in item.split(",")}
    for code in sorted(found):
        if code != "all" and not re.fullmatch(r"W\d{4}", code):
            fail(COMMAND_LINE, f"--deny {code}: this is no warning", "Name a code such as W0801, or `all`.")
    return found


def _diagnostics(report: Report) -> list[dict[str, Any]]:
    """Each with `code`, `severity`, `message`, `label`, `why`, `mend`, its place, and other places in `also`."""
    return [
        {
            "code": d.code,
            "severity": "warning" if d.warning else "error",
            "message": d.message,
            "label": d.label,
            "why": d.why,
            "mend": d.mend,
            **_place(d.span, report.sources),
            "also": [{**_place(span, report.sources), "label": label} for span, label in d.also],
        }
        for d in report.diagnostics
    ]


def _place(span: Span | None, sources: Mapping[str, Source]) -> dict[str, Any]:
    """File, line and column (from 1), the end excluded; nulls where there is no place, as for an option."""
    if span is None or span.file not in sources:
        return {"file": span.file if span else None, "line": None, "column": None, "end_line": None, "end_column": None}
    line, column = sources[span.file].position(span.start)
    end_line, end_column = sources[span.file].position(span.end)
    return {"file": span.file, "line": line, "column": column, "end_line": end_line, "end_column": end_column}
