"""What tests of plans share."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from polysome.analysis.all import analyse
from polysome.config.items import Rejected
from polysome.ir import program as ir
from polysome.plan.model import Plan
from polysome.plan.site import Site
from polysome.plan.site_complete import complete
from polysome.plan.site_config import config_of
from polysome.plan.site_file import open_site, site_of
from polysome.plan.split import plan
from polysome.semantics.check import check
from polysome.syntax.diagnostics import Diagnostic, Report, SpecError
from polysome.syntax.spans import Source

ROOT = Path(__file__).resolve().parents[2]
FAIL = Path(__file__).parent / "fail"


def program_of(spec: Path) -> ir.Program:
    report = Report()
    program = check(spec, report)
    analyse(program, report)
    report.stop_on_errors()
    return program


@cache
def example(name: str) -> ir.Program:
    return program_of(ROOT / "examples" / name / f"{name}.nf")


def read_site(path: str, ports: tuple[str, ...], report: Report) -> Site:
    return site_of(open_site(path, report), ports, report)


def told(spec: Path, site: str) -> tuple[list[Diagnostic], Mapping[str, Source]]:
    """What a user is told who plans the spec on the site, or if it has `[config]`, who makes a bundle for it."""
    report = Report()
    program = program_of(spec)
    try:
        file = open_site(site, report)
        read = site_of(file, program.ports, report)
        plan(program, read)
        if "config" in file.root.value:
            config_of(file, program, report)
            complete(read, report)
    except Rejected:
        return report.diagnostics, report.sources
    except SpecError as error:
        return list(error.diagnostics), error.sources
    return report.diagnostics, report.sources


def made(name: str, site: Site) -> Plan:
    return plan(example(name), site)
