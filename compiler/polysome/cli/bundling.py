"""`polysome compile --site`: a bundle."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path

from polysome.backends.bundle.contents import about, contents
from polysome.backends.bundle.inputs import SITE, Inputs, sources
from polysome.backends.manifest import NotOurs, write
from polysome.backends.nf_cpp.config_blob import encode
from polysome.backends.nf_cpp.types_code import Unsupported
from polysome.backends.system.proof import known, remember, results
from polysome.cli import common, proof_text
from polysome.cli.bundle_text import summary
from polysome.cli.common import COMMAND_LINE, ENVIRONMENT, SPEC, fail
from polysome.cli.compare_text import config_rows, described
from polysome.ir import program as ir
from polysome.plan.design import Design, design
from polysome.plan.site import Site
from polysome.plan.site_complete import complete
from polysome.plan.site_config import SiteConfig, config_of
from polysome.plan.site_file import open_site
from polysome.prove.result import Status
from polysome.syntax.diagnostics import SpecError
from polysome.testing.samples import samples
from polysome.testing.spec import Spec

PROVED = "by `polysome prove`"


@dataclass(frozen=True)
class Given:
    """What stands beside SPEC and --site on the command line; it goes before what the site file says."""

    configs: Sequence[str]
    params: Sequence[str]
    capacities: Sequence[str]
    architecture: str | None
    proof: bool


def bundle(spec: Path, site: Path, out: Path, given: Given) -> None:
    """Writes the bundle to `out`, and says what it holds."""
    program, place = common.sited(spec, site, given.params, given.capacities, given.architecture)
    config = _config(program, place, site, given.configs)
    made = _design(program, place)
    proof = _proof(spec, made, given) if given.proof else "none: --no-proof"
    try:
        inputs = Inputs(
            design=made,
            config=encode(program, config.values),
            sources=sources(program, site, config.files | _named(given.configs)),
            about=described(program),
            rows=config_rows(program, config.values),
            samples=_samples(Spec(spec, program), config),
            proof=proof,
        )
        found = contents(inputs)
        write(out, found, about(inputs, version("polysome")))
    except Unsupported as error:
        fail(SPEC, f"{spec} cannot be compiled: {error}")
    except NotOurs as error:
        fail(COMMAND_LINE, str(error), "Move it away, or choose another folder with `-o FOLDER`.")
    except OSError as error:
        fail(ENVIRONMENT, f"{error.filename or out}: {error.strerror}")
    print(summary(inputs, out, len(found)), end="")


def _proof(spec: Path, made: Design, given: Given) -> str:
    """What the manifest says of the proof; ends with code 1, and the packets that break it, if it is none."""
    if known(made):
        return PROVED
    found = []
    with proof_text.progress(made, quiet=False) as seen:
        for result in results(made):
            found.append(seen(result))
            if result.status != Status.proved:
                break  # one is enough for no bundle; `polysome prove` shows all
    remember(made, found)
    failed = proof_text.not_proved(found)
    if failed:
        print(proof_text.stories(Spec(spec, made.program), failed, Path("counterexamples")), end="", file=sys.stderr)
        fail(
            SPEC,
            "the switch's program is not proved to do what the spec says: nothing was written",
            "Report it, with the packets above; `--no-proof` writes the bundle all the same.",
        )
    return PROVED


def _config(program: ir.Program, place: Site, site: Path, configs: Sequence[str]) -> SiteConfig:
    """The config; ends with code 2 if it is wrong, or if the site file lacks what only a bundle needs."""
    with common.right_files() as report:
        file = open_site(str(site), report)
        complete(place, report)
        return config_of(file, program, report, configs)


def _samples(spec: Spec, config: SiteConfig) -> list[tuple[int, bytes]]:
    """By which an NF server tells a config that lets nothing through; without any, it cannot."""
    found = samples(spec, config.values)
    if not found:
        common.warn(
            "with this config no packet gets through, of those that were generated for the spec",
            "Look with `polysome run` why they are dropped, unless that is meant.",
        )
    return found


def _named(configs: Sequence[str]) -> dict[str, Path]:
    """The files of --config, by the names that they have in a bundle."""
    paths = [Path(text.partition("=")[2] or text) for text in configs]
    return {f"config/{path.name}": path for path in paths}


def _design(program: ir.Program, place: Site) -> Design:
    """The paths of the inputs are no part of it: the same inputs elsewhere give the same bundle."""
    try:
        return design(program, replace(place, name=SITE))
    except SpecError as error:
        common.show(error.diagnostics, error.sources)
        raise SystemExit(SPEC) from None
