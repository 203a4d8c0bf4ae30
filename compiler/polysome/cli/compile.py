"""`polysome compile`: an NF as C++ sources that build by themselves, or with a site a whole deployment."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any

import typer

from polysome.cli import common
from polysome.cli.architecture import option
from polysome.cli.common import COMMAND_LINE, ENVIRONMENT, SPEC, fail
from polysome.config.items import ConfigFileError
from polysome.config.load import load_config
from polysome.ir import program as ir
from polysome.passes import PASSES
from polysome.syntax.diagnostics import Report, SpecError, did_you_mean


def compile_(
    spec: Annotated[Path, typer.Argument(metavar="SPEC", help="The NF, a file that ends in .nf.")],
    out: Annotated[
        Path | None,
        typer.Option("-o", "--out", metavar="FOLDER", help="Where the sources go; made if it is not there."),
    ] = None,
    site: Annotated[
        Path | None,
        typer.Option(
            "--site", metavar="FILE", help="Write a bundle: all that the machines of this site need, a TOML file."
        ),
    ] = None,
    architecture: Annotated[str | None, option("With --site: ")] = None,
    config: Annotated[
        list[str] | None,
        typer.Option(
            "--config", metavar="[NAME=]FILE", help="Config for config.bin: TOML, or one table as NAME=FILE.csv."
        ),
    ] = None,
    profile: Annotated[
        list[str] | None,
        typer.Option(
            "--profile",
            metavar="[PORT=]FILE",
            help="Run this capture (131072 packets of it at most) with that config, and give the folder a profile "
            "for clang if that proves to be faster. Ports and several captures as with `run --in`.",
        ),
    ] = None,
    param: Annotated[list[str] | None, typer.Option("--param", metavar="NAME=VALUE", help="Override a param.")] = None,
    capacity: Annotated[
        list[str] | None, typer.Option("--capacity", metavar="MAP=N", help="Override the capacity of a map or set.")
    ] = None,
    no_proof: Annotated[
        bool,
        typer.Option("--no-proof", help="Write a bundle without proving its P4 program first; the manifest says so."),
    ] = False,
    print_after: Annotated[
        str | None,
        typer.Option("--print-after", metavar="PASS", help=f"Print a pass's result instead: {', '.join(PASSES)}."),
    ] = None,
) -> None:
    """Write an NF as C++: a library, programs for captures, interfaces and DPDK, a FastClick element.

    With --site, write a bundle instead: that, and all else that a deployment consists of, once it is proved that the
    switch's program does what the spec says (see `polysome prove`).
    """
    if print_after is not None and print_after not in PASSES:
        fail(COMMAND_LINE, f"--print-after {print_after}: there is no such pass", did_you_mean(print_after, PASSES))
    if out is None and print_after is None:
        fail(COMMAND_LINE, "no folder is given for the sources", f"Write for example `-o {spec.stem}_cpp`.")
    if architecture is not None and site is None:
        fail(COMMAND_LINE, "--architecture: only bundles have one", "Give --site, or leave it out.")
    if no_proof and site is None:
        fail(COMMAND_LINE, "--no-proof: only bundles are proved", "Give --site, or leave it out.")
    if site is not None:
        for option, given in (("--profile", profile), ("--print-after", print_after)):
            if given:
                fail(COMMAND_LINE, f"--site and {option}: a bundle is made without it", "Give one of them.")
        assert out is not None
        from polysome.cli.bundling import Given, bundle  # reads targets and templates that plain folders do not need

        bundle(spec, site, out, Given(config or [], param or [], capacity or [], architecture, not no_proof))
        return
    program = common.spec(spec, param or [], capacity or [])
    if print_after is not None:
        print(PASSES[print_after](program), end="")
        return
    assert out is not None
    values = _config(program, config or [], whole=bool(profile))
    from polysome.backends.folder import contents
    from polysome.backends.manifest import NotOurs, write
    from polysome.backends.nf_cpp.config_blob import encode
    from polysome.backends.nf_cpp.types_code import Unsupported

    try:
        files = contents(program, encode(program, values), _profile(program, values, profile or []))
        write(out, files, {"nf": program.name, "polysome": version("polysome")})
    except Unsupported as error:
        fail(SPEC, f"{spec} has no C++ yet: {error}")
    except NotOurs as error:
        fail(COMMAND_LINE, str(error), "Move it away, or choose another folder with `-o FOLDER`.")
    except OSError as error:
        fail(ENVIRONMENT, f"{error.filename or out} cannot be written: {error.strerror}")
    print(f"wrote {len(files)} files to {out}")
    print(f"next: cmake -S {out} -B {out}/build && cmake --build {out}/build; {out}/README.md says more")


def _config(program: ir.Program, files: list[str], whole: bool) -> Mapping[str, Any]:
    """The values of all config items; without any file, those that have no default are left out unless `whole`."""
    report = Report(dict(program.sources))
    try:
        values = load_config(program, files, report) if files or whole else {}
        report.stop_on_errors()
    except SpecError as error:
        common.show(error.diagnostics, error.sources)
        raise SystemExit(COMMAND_LINE) from None
    except ConfigFileError as error:
        fail(COMMAND_LINE, str(error))
    return values


def _profile(program: ir.Program, values: Mapping[str, Any], captures: list[str]) -> bytes | None:
    """The profile that the captures give, if there are any and it is of use."""
    if not captures:
        return None
    from polysome.cli.profiling import host  # builds and runs programs: other commands do not need it

    return host(program, values, captures)
