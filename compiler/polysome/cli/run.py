"""`polysome run`: an NF on captures."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from polysome.analysis.sharding import sharding
from polysome.captures.errors import CaptureError
from polysome.captures.merge import Merged
from polysome.captures.write import PcapngWriter, check_output
from polysome.cli import common
from polysome.cli.architecture import option
from polysome.cli.common import COMMAND_LINE, ENVIRONMENT, fail
from polysome.cli.engine import OPTION, having, refuse, start
from polysome.cli.feeding import Feed
from polysome.cli.inputs import open_captures
from polysome.cli.link_captures import LinkCaptures
from polysome.cli.plan import Carried
from polysome.cli.results import Output, print_explanation, print_json, print_table
from polysome.config.events import ConfigChange, load_events
from polysome.config.items import ConfigFileError
from polysome.config.load import load_config
from polysome.engines import ENGINES
from polysome.engines.feed import Gaps, Turns
from polysome.engines.options import Ability, RunOptions, Sample
from polysome.ir import program as ir
from polysome.resources import MEANING
from polysome.syntax.diagnostics import Report, SpecError
from polysome.syntax.literals import quantity

if TYPE_CHECKING:
    from polysome.plan.site import Site

_INSIDE = f"With {having(Ability.machines)}"


def run(
    spec: Annotated[Path, typer.Argument(metavar="SPEC", help="The NF, a file that ends in .nf.")],
    inputs: Annotated[
        list[str],
        typer.Option(
            "--in",
            metavar="[PORT=]FILE",
            help="A capture (pcap, pcapng); several are merged by time. "
            "Without a port it feeds all handled ports in turn, by conversation.",
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", metavar="FILE", help="What leaves, as pcapng: one interface per port, times of leaving in ns."
        ),
    ] = None,
    config: Annotated[
        list[str] | None,
        typer.Option("--config", metavar="[NAME=]FILE", help="Config: a TOML file, or one table as NAME=FILE.csv."),
    ] = None,
    events: Annotated[
        Path | None, typer.Option("--events", metavar="FILE", help="Config changes over time, JSON lines.")
    ] = None,
    param: Annotated[list[str] | None, typer.Option("--param", metavar="NAME=VALUE", help="Override a param.")] = None,
    capacity: Annotated[
        list[str] | None, typer.Option("--capacity", metavar="MAP=N", help="Override the capacity of a map or set.")
    ] = None,
    engine: Annotated[str, OPTION] = MEANING,
    cores: Annotated[
        int,
        typer.Option(
            "--cores",
            metavar="N",
            min=1,
            max=256,
            help="Cores that share the work, as far as `polysome check` says. Each has all state of its own.",
        ),
    ] = 1,
    profile: Annotated[
        list[str] | None,
        typer.Option(
            "--profile",
            metavar="[PORT=]FILE",
            help=f"With {having(Ability.profile)}: optimize for this capture (131072 packets of it at most), with "
            "clang and llvm-profdata, if that proves to be faster on it. Several are merged as with --in.",
        ),
    ] = None,
    max_gap: Annotated[
        str, typer.Option("--max-gap", metavar="DURATION", help="Longer gaps between packets are shortened to this.")
    ] = "1h",
    explain_packet: Annotated[
        int | None,
        typer.Option(
            "--explain-packet",
            metavar="N",
            min=1,
            help="Say instead why packet N of the merged input got its verdict: every statement that ran, with its "
            "values. Counts from 1, as Wireshark does.",
        ),
    ] = None,
    site: Annotated[
        Path | None,
        typer.Option(
            "--site",
            metavar="FILE",
            help=f"{_INSIDE}: where it runs; else on a site made for the spec's traffic.",
        ),
    ] = None,
    architecture: Annotated[str | None, option(f"{_INSIDE}: ")] = None,
    servers: Annotated[
        int | None, typer.Option("--servers", metavar="N", min=1, max=32, help=f"{_INSIDE}: RDMA servers.")
    ] = None,
    queue_pairs: Annotated[
        int | None,
        typer.Option("--queue-pairs", metavar="N", min=1, max=256, help=f"{_INSIDE}: of each RDMA server."),
    ] = None,
    carry: Annotated[Carried | None, typer.Option("--carry", help=f"{_INSIDE}: what travels to the NF.")] = None,
    faults: Annotated[
        str | None,
        typer.Option(
            "--faults",
            metavar="TEXT",
            help=f"With {having(Ability.faults)}: what goes wrong inside, as in `server0:loss=1e-3;nf:stuck@1ms..3ms` "
            "or `mix`.",
        ),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option("--seed", metavar="N", min=0, help=f"{_INSIDE}: what chance does, 0 if not given."),
    ] = None,
    capture_links: Annotated[
        Path | None,
        typer.Option("--capture-links", metavar="DIR", help=f"{_INSIDE}: a capture of each link inside."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as one JSON object.")] = False,
) -> None:
    """Run an NF on captures and say what happened to every packet."""
    chosen = ENGINES[engine]
    given = {
        "--cores": (cores if cores > 1 else None, Ability.cores),
        "--profile": (profile or None, Ability.profile),
        "--explain-packet": (explain_packet, Ability.explanation),
        "--faults": (faults, Ability.faults),
        "--site": (site, Ability.machines),
        "--architecture": (architecture, Ability.machines),
        "--servers": (servers, Ability.machines),
        "--queue-pairs": (queue_pairs, Ability.machines),
        "--carry": (carry, Ability.machines),
        "--seed": (seed, Ability.faults),
        "--capture-links": (capture_links, Ability.machines),
    }
    refuse(chosen, given)
    if explain_packet is not None and cores > 1:
        fail(COMMAND_LINE, "--explain-packet: only one core can say why", "Leave out --cores.")
    if site is not None and servers is not None:
        fail(COMMAND_LINE, "--site and --servers: the site file names its RDMA servers", "Give one of them.")
    program, place = on_site(spec, site, param or [], capacity or [], architecture)
    values, changes = configuration(program, config or [], events)
    merged = open_captures(program, "--in", inputs)
    gaps = Gaps(_gap(max_gap))
    if out is not None:
        _check(out, inputs)
    options = RunOptions(
        cores=_cores(program, cores),
        faults=frozenset({faults} if faults else ()),
        seed=seed or 0,
        site=place,
        architecture=architecture,
        servers=servers,
        queue_pairs=queue_pairs,
        carry="fields" if carry is None else carry.value,
        capture=capture_links is not None,
        profile=_sample(program, values, profile) if profile else None,
        explain=None if explain_packet is None else explain_packet - 1,
    )
    with start(chosen, program, values, options) as running, ExitStack() as files:
        for note in running.notes:
            print(note, file=sys.stderr)
        output = Output(program, None if out is None else files.enter_context(_writer(program, out)))
        captures = None if capture_links is None else LinkCaptures(capture_links, running.links)
        links = None if captures is None else files.enter_context(captures)
        feed = Feed(running, chosen, Turns.of(program, values), gaps, output, links)
        with _progress(merged) as advance:
            feed.all(merged, changes, advance)
        if explain_packet is not None:
            print_explanation(output, running.explanation, explain_packet, feed.start, as_json)
        elif as_json:
            print_json(output, chosen.name, running.report, gaps, out)
        else:
            print_table(output, running.report, gaps, out)
    if feed.problem is not None:
        fail(COMMAND_LINE, f"{feed.problem}", "The packets before this place were run; the result above counts them.")


def on_site(
    spec: Path, site: Path | None, param: list[str], capacity: list[str], architecture: str | None
) -> tuple[ir.Program, Site | None]:
    """The program, and the site of a file; ends with all that is wrong, code 1 for the spec, 2 for the site."""
    if site is None:
        return common.spec(spec, param, capacity), None
    return common.sited(spec, site, param, capacity, architecture)


def _sample(program: ir.Program, values: dict[str, Any], captures: list[str]) -> Sample:
    from polysome.cli.profiling import sample  # for start-up time

    return sample(program, values, captures)


def _cores(program: ir.Program, cores: int) -> int:
    if cores > 1 and not sharding(program).spreads:
        print(f"--cores {cores}: this NF runs on one core; `polysome check` says why", file=sys.stderr)
        return 1
    return cores


# ---------------------------------------------------------------- inputs


def configuration(
    program: ir.Program, files: list[str], events: Path | None
) -> tuple[dict[str, Any], list[ConfigChange]]:
    """The config at the start and its changes; ends with code 2 if something is wrong with them."""
    report = Report(dict(program.sources))
    try:
        values = load_config(program, files, report)
        changes = load_events(program, str(events), report) if events is not None else []
        report.stop_on_errors()
        return values, changes
    except SpecError as error:
        common.show(error.diagnostics, error.sources)
        raise SystemExit(COMMAND_LINE) from None
    except ConfigFileError as error:
        fail(COMMAND_LINE, str(error))


def _check(out: Path, inputs: list[str]) -> None:
    try:
        check_output(out, [Path(i.partition("=")[2] if "=" in i and not Path(i).exists() else i) for i in inputs])
    except CaptureError as error:
        fail(COMMAND_LINE, str(error))


def _writer(program: ir.Program, out: Path) -> PcapngWriter:
    try:
        return PcapngWriter(out, program.ports)
    except CaptureError as error:
        fail(ENVIRONMENT, str(error))


def _gap(text: str) -> int:
    found = quantity(text) if not text.isdigit() else "no duration"
    if isinstance(found, str) or found[1] != "duration" or found[0] == 0:
        fail(COMMAND_LINE, f"--max-gap {text}: a duration was expected", "Write for example `30s` or `1h`.")
    return found[0]


@contextmanager
def _progress(merged: Merged) -> Iterator[Any]:
    """A progress bar on the terminal for captures above a megabyte."""
    if not sys.stderr.isatty() or merged.size < 1_000_000:
        yield lambda: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TimeRemainingColumn

    with Progress(
        "running",
        BarColumn(),
        TaskProgressColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    ) as bar:
        task = bar.add_task("", total=merged.size)
        seen = 0

        def advance() -> None:
            nonlocal seen
            seen += 1
            if seen % 512 == 0:
                bar.update(task, completed=merged.position)

        yield advance
