"""`polysome`: one command per module. The exit codes of all are in the epilog of its help."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from polysome.cli import (
    certificates,
    check,
    compile,
    diff,
    explain,
    fmt,
    interrupts,
    new,
    operate,
    plan,
    prove,
    run,
    status,
    streams,
    test,
    top,
    trace,
    up,
)
from polysome.cli.common import ENVIRONMENT, INTERRUPTED, fail

app = typer.Typer(
    name="polysome",
    help="Declare a network function in one file; check it, run it on captures, compile it.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Exit codes: 0 fine, 1 the spec or a property is wrong, 2 the command line or an input, "
    "3 the environment: something is missing, or an output cannot be written; 4 nothing that was asked for was tested.",
)
app.command("check")(check.check)
app.command("run")(run.run)
app.command("explain")(explain.explain)
app.command("test")(test.test)
app.command("fmt")(fmt.fmt)
app.command("plan")(plan.plan)
app.command("prove")(prove.prove)
app.command("compile")(compile.compile_)
app.command("diff")(diff.diff)
app.command("new")(new.new)
app.command("up")(up.up)
app.command("status")(status.status)
app.command("top")(top.top)
app.command("trace")(trace.trace)
app.command("config")(operate.config)
app.command("drain")(operate.drain)
app.command("undrain")(operate.undrain)
app.add_typer(certificates.app, name="certificates")


def _version(show: bool) -> None:
    if show:
        from importlib.metadata import version

        typer.echo(f"polysome {version('polysome')}")
        raise typer.Exit


@app.callback()
def _common(
    version: Annotated[
        bool | None, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = None,
) -> None:
    pass


def main() -> None:
    """The entry point; an interrupt ends it quietly."""
    interrupts.hear()
    output = streams.guard()
    code: str | int | None = 0
    try:
        app()
    except SystemExit as end:
        code = end.code
    except KeyboardInterrupt:
        code = INTERRUPTED
    sys.stdout.flush()
    if output.failed:
        fail(ENVIRONMENT, f"standard output cannot be written: {output.failed}")
    sys.exit(code)


if __name__ == "__main__":
    main()
