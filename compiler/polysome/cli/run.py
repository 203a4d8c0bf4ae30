"""`polysome run`: an NF on captures."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from polysome.analysis.layout import Carry
from polysome.analysis.sharding import sharding
from polysome.captures.errors import CaptureError
from polysome.captures.merge import Merged
from polysome.captures.write import PcapngWriter, check_output
from polysome.cli import common
from polysome.cli.common import COMMAND_LINE, ENVIRONMENT, fail
from polysome.cli.inputs import open_captures
from polysome.cli.plan import Carried
from polysome.cli.results import Output, print_explanation, print_json, print_table
from polysome.cli.runner import Runner
from polysome.config.events import ConfigChange, in_order, load_events
from polysome.config.items import ConfigFileError
from polysome.config.load import load_config
from polysome.config.tables import Tables
from polysome.interp.feed import Gaps, Turns
from polysome.interp.machine import Machine
from polysome.interp.sharded import ShardedMachine
from polysome.ir import program as ir
from polysome.syntax.diagnostics import Report, SpecError
from polysome.syntax.literals import quantity

if TYPE_CHECKING:
    from polysome.plan.site import Site


class Engine(StrEnum):
    """What runs the NF."""

    interp = "interp"
    native = "native"
    system = "system"


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
    engine: Annotated[Engine, typer.Option("--engine", help="What runs the NF.")] = Engine.interp,
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
            help="With --engine native: optimize for this capture (131072 packets of it at most), with clang and "
            "llvm-profdata, if that proves to be faster on it. Several are merged as with --in.",
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
            help="With --engine system: where it runs; else on a site made for the spec's traffic.",
        ),
    ] = None,
    servers: Annotated[
        int | None, typer.Option("--servers", metavar="N", min=1, max=32, help="With --engine system: RDMA servers.")
    ] = None,
    queue_pairs: Annotated[
        int | None,
        typer.Option("--queue-pairs", metavar="N", min=1, max=256, help="With --engine system: of each RDMA server."),
    ] = None,
    carry: Annotated[
        Carried | None, typer.Option("--carry", help="With --engine system: what travels to the NF.")
    ] = None,
    faults: Annotated[
        str | None,
        typer.Option(
            "--faults",
            metavar="TEXT",
            help="With --engine system: what goes wrong inside, as in `server0:loss=1e-3;nf:stuck@1ms..3ms` or `mix`.",
        ),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option("--seed", metavar="N", min=0, help="With --engine system: what chance does, 0 if not given."),
    ] = None,
    capture_links: Annotated[
        Path | None,
        typer.Option("--capture-links", metavar="DIR", help="With --engine system: a capture of each link inside."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as one JSON object.")] = False,
) -> None:
    """Run an NF on captures and say what happened to every packet."""
    inside = {
        "--site": site,
        "--servers": servers,
        "--queue-pairs": queue_pairs,
        "--carry": carry,
        "--faults": faults,
        "--seed": seed,
        "--capture-links": capture_links,
    }
    _check_system(engine, inside, cores)
    if explain_packet is not None and engine is not Engine.interp:
        fail(COMMAND_LINE, f"--explain-packet: only the interpreter can say why, not --engine {engine}")
    if explain_packet is not None and cores > 1:
        fail(COMMAND_LINE, "--explain-packet: only one core can say why", "Leave out --cores.")
    if profile and engine is not Engine.native:
        fail(COMMAND_LINE, f"--profile: only --engine native is built, not --engine {engine}")
    program, place = on_site(spec, site, param or [], capacity or [])
    values, changes = configuration(program, config or [], events)
    merged = open_captures(program, "--in", inputs)
    writer = _writer(program, out, inputs)
    output = Output(program, writer)
    machine = _machine(program, values, output, explain_packet)
    if engine is Engine.system:
        from polysome.cli import system_run  # generates code: other runs do not need it

        carried: Carry = "headers" if carry is Carried.headers else "fields"
        asked = system_run.Asked(place, servers, queue_pairs, faults or "", seed or 0, carried, capture_links)
        runner: Runner = system_run.start(program, values, output, asked)
    else:
        runner = _runner(engine, machine, values, output, cores, profile or [])
    gaps = Gaps(_gap(max_gap))
    problem: CaptureError | None = None
    try:
        with _progress(merged) as advance:
            problem = _feed(runner, Turns(machine), merged, gaps, changes, output, advance)
    except CaptureError as error:  # of the output; what is wrong with an input is returned
        with suppress(CaptureError):  # closing keeps what was written, and would fail for the same reason
            if writer is not None:
                writer.close()
        fail(ENVIRONMENT, str(error))
    finally:
        if writer is not None:
            _close(writer)
    if explain_packet is not None:
        print_explanation(machine, explain_packet, as_json)
    else:
        (print_json if as_json else print_table)(runner, output.traffic, gaps, out)
    if problem is not None:
        fail(COMMAND_LINE, f"{problem}", "The packets before this place were run; the result above counts them.")


def _check_system(engine: Engine, inside: Mapping[str, Any], cores: int) -> None:
    """Ends with code 2 for options of another engine, or that contradict each other."""
    if engine is not Engine.system:
        for option, value in inside.items():
            if value is not None:
                fail(COMMAND_LINE, f"{option}: only --engine system has that, not --engine {engine}")
        return
    if cores > 1:
        fail(COMMAND_LINE, "--cores: the NF of --engine system has one core", "Leave out --cores.")
    if inside["--site"] is not None and inside["--servers"] is not None:
        fail(COMMAND_LINE, "--site and --servers: the site file names its RDMA servers", "Give one of them.")


def on_site(spec: Path, site: Path | None, param: list[str], capacity: list[str]) -> tuple[ir.Program, Site | None]:
    """The program, and the site of a file; ends with all that is wrong, code 1 for the spec, 2 for the site."""
    if site is None:
        return common.spec(spec, param, capacity), None
    return common.sited(spec, site, param, capacity)


def _machine(program: ir.Program, values: Mapping[str, Any], output: Output, explain_packet: int | None) -> Machine:
    tables = Tables(program, values)
    if explain_packet is None:
        return Machine(program, tables, output)
    from polysome.testing.counterexample.explain import ExplainingMachine  # only for this option

    return ExplainingMachine(program, tables, output, explain_packet - 1)


def _runner(
    engine: Engine, machine: Machine, values: Mapping[str, Any], output: Output, cores: int, profile: Sequence[str]
) -> Runner:
    """What runs the packets; `machine` itself for the interpreter on one core."""
    program = machine.program
    if cores > 1 and not sharding(program).spreads:
        print(f"--cores {cores}: this NF runs on one core; `polysome check` says why", file=sys.stderr)
        cores = 1
    if engine is Engine.native:
        from polysome.cli.native_run import start  # generates code: other runs do not need it

        return start(program, values, output, cores, profile)
    return machine if cores == 1 else ShardedMachine(program, lambda: Tables(program, values), output, cores)


def _feed(
    runner: Runner,
    turns: Turns,
    merged: Merged,
    gaps: Gaps,
    changes: list[ConfigChange],
    output: Output,
    advance: Any,
) -> CaptureError | None:
    """The whole trace through the NF; a capture that ends badly is returned, after all before it was run."""
    numbers = {name: i for i, name in enumerate(runner.program.ports)}
    problem: CaptureError | None = None
    first = True
    while True:
        try:
            port_name, captured = next(merged)
        except StopIteration:
            break
        except CaptureError as error:
            problem = error
            break
        time = gaps.time(captured.time)
        if first:
            first = False
            for change in in_order(changes, time):
                runner.change_at(change.due(time), change.values)
        port = numbers[port_name] if port_name is not None else turns.port(captured.data)
        output.traffic.arrived[runner.program.ports[port]] += 1
        runner.arrive(port, time, captured.data)
        advance()
    runner.finish()
    return problem


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


def _writer(program: ir.Program, out: Path | None, inputs: list[str]) -> PcapngWriter | None:
    if out is None:
        return None
    try:
        check_output(out, [Path(i.partition("=")[2] if "=" in i and not Path(i).exists() else i) for i in inputs])
    except CaptureError as error:
        fail(COMMAND_LINE, str(error))
    try:
        return PcapngWriter(out, program.ports)
    except CaptureError as error:
        fail(ENVIRONMENT, str(error))


def _close(writer: PcapngWriter) -> None:
    try:
        writer.close()
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
