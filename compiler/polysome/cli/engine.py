"""Engines on the command line: the choice of one, and its errors with their exit codes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import typer

from polysome.cli import common
from polysome.cli.common import COMMAND_LINE, ENVIRONMENT, SPEC, fail
from polysome.engines import ENGINES, Engine
from polysome.engines.options import Ability, BadOption, Failed, RunOptions, Unsupported
from polysome.engines.run import Run
from polysome.ir import program as ir
from polysome.resources import MEANING
from polysome.syntax.diagnostics import SpecError


def _known(name: str) -> str:
    if name not in ENGINES:
        raise typer.BadParameter(f"{name!r} is not one of {', '.join(map(repr, ENGINES))}.")
    return name


OPTION = typer.Option("--engine", metavar="|".join(ENGINES), callback=_known, help="What runs the NF.")


def having(ability: Ability) -> str:
    """`--engine system`: the engines for an option."""
    names = [engine.name for engine in ENGINES.values() if ability in engine.abilities]
    return f"--engine {' or '.join(names)}"


def refuse(engine: Engine, given: Mapping[str, tuple[Any, Ability]]) -> None:
    """Ends with code 2 for an option, with its value and what it needs, that the engine does not have."""
    for option, (value, ability) in given.items():
        if value is not None and (said := engine.lacks(ability)):
            fail(COMMAND_LINE, f"{option}: {said}", f"Leave it out, or use {having(ability)}.")


def start(engine: Engine, program: ir.Program, config: Mapping[str, Any], options: RunOptions) -> Run:
    """The engine at work. Ends with code 1 if the program fits nowhere, 2 for bad options, 3 if it cannot run here."""
    if (lacking := engine.missing()) is not None:
        fail(ENVIRONMENT, f"--engine {engine.name}: {lacking}")
    with failing(engine):
        try:
            return engine.start(program, config, options)
        except BadOption as error:
            fail(COMMAND_LINE, f"--{error.option.replace('_', '-')}: {error.message}", error.mend)
        except SpecError as error:
            common.show(error.diagnostics, error.sources)
            raise SystemExit(SPEC) from None


@contextmanager
def failing(engine: Engine) -> Iterator[None]:
    """Ends with code 3 if the engine cannot do what it is asked for, or fails."""
    try:
        yield
    except Unsupported as unsupported:
        fail(ENVIRONMENT, f"--engine {engine.name}: {unsupported}", f"Use `--engine {MEANING}`.")
    except Failed as error:
        fail(ENVIRONMENT, f"--engine {engine.name}: {error}")
