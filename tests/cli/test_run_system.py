"""`polysome run --engine system` as its users meet it: what leaves, the report, captures of links, and bad input."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from polysome.backends.nf_cpp.build import missing
from polysome.captures.read import open_capture
from polysome.cli.main import app

ROOT = Path(__file__).resolve().parents[2]
LB = ROOT / "examples" / "load_balancer"
SPEC, CAPTURE, CONFIG = LB / "load_balancer.nf", LB / "clients.pcap", LB / "config.toml"
SITE = """
[switch]
model = "software"
[ports]
clients = 0
servers = 1
[[nf_servers]]
name = "nf0"
switch_port = 32
[[rdma_servers]]
name = "memory0"
switch_port = 40
memory = "64MiB"
"""

built = pytest.mark.skipif(missing() is not None, reason=str(missing()))


def run(*more: object, engine: str = "system") -> Result:
    arguments = ["run", SPEC, "--in", f"clients={CAPTURE}", "--config", CONFIG, "--engine", engine, *more]
    result = CliRunner().invoke(app, [str(a) for a in arguments], env={"NO_COLOR": "1"})
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


def found(*more: object) -> dict[str, Any]:
    result = run("--json", *more)
    assert result.exit_code == 0, result.output
    parsed: dict[str, Any] = json.loads(result.output)
    return parsed


# ---------------------------------------------------------------- what happens


@built
@pytest.mark.slow
def test_what_leaves_is_what_the_interpreter_sends(tmp_path: Path) -> None:
    """Byte for byte: what follows packets on the wire is cut off."""
    here, there = tmp_path / "system.pcapng", tmp_path / "interp.pcapng"
    assert run("--out", here).exit_code == 0
    assert run("--out", there, engine="interp").exit_code == 0
    ours, theirs = [list(open_capture(path)) for path in (here, there)]
    assert len(ours) == len(theirs) == 220
    assert sorted((p.interface, p.data) for p in ours) == sorted((p.interface, p.data) for p in theirs)


@built
@pytest.mark.slow
def test_the_report_counts_frames_of_every_kind() -> None:
    plain = run().output
    for line in (
        ["sent", "220"],
        ["system:", "2", "RDMA", "servers,", "2", "queue", "pairs,", "seed", "0"],
        ["nf,", "from", "the", "switch", "fields", "41", "2,460", "60.0", "B"],
    ):
        assert line in [text.split() for text in plain.splitlines()], plain
    told = found()
    system = told["system"]
    assert told["packets_in"] == 222 and told["sent"] == 220 and told["held"] == 0 and system["lost"] == {}
    link = {(one["link"], one["kind"]): one for one in system["nf_link"]}
    fields, edits = link["nf out", "fields"], link["nf in", "edits"]
    assert fields["each"] == edits["each"] == 60.0, "Ribosome: 76"
    assert fields["frames"] + link["nf out", "whole"]["frames"] == 222
    events, counters = system["events"], system["counters"]
    assert events["parked"] == events["write"] == events["fields"] == fields["frames"]
    assert events["edits"] == events["read"] == events["merged"] == edits["frames"]
    assert sum(counters[f"server{i} writes"] for i in (0, 1)) == events["write"]
    assert sum(counters[f"server{i} reads"] for i in (0, 1)) == events["read"]
    assert system["overtakings"] == system["restores"] == 0


@built
@pytest.mark.slow
def test_faults_lose_packets_and_every_one_is_counted() -> None:
    told = found("--faults", "all:loss=0.1,corrupt=0.05", "--seed", "7")
    lost = sum(told["system"]["lost"].values())
    assert lost > 0
    assert told["packets_in"] == told["sent"] + sum(told["dropped"].values()) + told["held"] + lost
    assert told == found("--faults", "all:loss=0.1,corrupt=0.05", "--seed", "7"), "the seed says what chance does"
    assert told["system"]["lost"] != found("--faults", "all:loss=0.1,corrupt=0.05", "--seed", "8")["system"]["lost"]


@built
@pytest.mark.slow
def test_a_server_that_dies_costs_what_is_on_the_way(tmp_path: Path) -> None:
    told = found("--faults", "server0:dead@0ms..", "--servers", "2")
    assert told["system"]["counters"]["server0 writes"] == 0
    assert told["sent"] > 180, "the other server takes over"


@built
@pytest.mark.slow
def test_servers_and_queue_pairs_can_be_given() -> None:
    system = found("--servers", "3", "--queue-pairs", "2")["system"]
    assert (system["servers"], system["queue_pairs"]) == (3, 6)
    assert all(system["counters"][f"server{i} writes"] > 0 for i in range(3))


@built
@pytest.mark.slow
def test_a_site_file_says_where(tmp_path: Path) -> None:
    site = tmp_path / "site.toml"
    site.write_text(SITE)
    told = found("--site", site)
    assert told["system"]["servers"] == 1 and told["sent"] == 220


@built
@pytest.mark.slow
def test_all_headers_may_travel_instead() -> None:
    link = {(one["link"], one["kind"]): one for one in found("--carry", "headers")["system"]["nf_link"]}
    assert link["nf out", "fields"]["each"] > 60.0


@built
@pytest.mark.slow
def test_links_are_captured_as_analysers_read_them(tmp_path: Path) -> None:
    folder = tmp_path / "links"
    told = found("--capture-links", folder)
    assert sorted(path.name for path in folder.iterdir()) == ["nf.pcapng", "server0.pcapng", "server1.pcapng"]
    counters = told["system"]["counters"]
    for name in ("nf", "server0", "server1"):
        capture = open_capture(folder / f"{name}.pcapng")
        frames = list(capture)
        assert capture.interfaces == (f"{name} out", f"{name} in")
        for way, link in enumerate(capture.interfaces):
            assert sum(f.interface == way for f in frames) == counters[f"{link} sent"]
        assert [f.time for f in frames] == sorted(f.time for f in frames)
    if shutil.which("tshark") is None:
        pytest.skip("tshark is not installed (apt install tshark); the files were read without it")
    command = ["tshark", "-r", str(folder / "server0.pcapng"), "-T", "fields", "-e", "_ws.col.Protocol"]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    assert said and set(said) == {"RRoCE"}


# ---------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("--servers", 2),
        ("--queue-pairs", 2),
        ("--faults", "loss"),
        ("--seed", 1),
        ("--carry", "headers"),
        ("--site", "site.toml"),
        ("--capture-links", "links"),
    ],
)
@pytest.mark.parametrize("engine", ["interp", "native"])
def test_options_of_the_system_need_it(option: str, value: object, engine: str) -> None:
    result = run(option, value, engine=engine)
    assert result.exit_code == 2
    assert result.stderr.startswith(f"error: {option}: only the engine `system` has ")
    assert result.stderr.endswith(f", not `{engine}`\n  mend: Leave it out, or use --engine system.\n")


@built
@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--faults", "server2:loss=1"), "--faults: there is no RDMA server 2 (column 1)"),
        (("--faults", "clients:lost=1"), "--faults: `lost=1` is no fault (column 9)"),
        (("--queue-pairs", 3), "--queue-pairs: 3 is no power of two"),
        (("--cores", 2), "--cores: only the engines `interp` and `native` have several cores, not `system`"),
        (("--site", "site.toml", "--servers", 2), "--site and --servers: the site file names its RDMA servers"),
        (("--site", "no/such/site.toml"), "no/such/site.toml"),
        (("--explain-packet", 1), "--explain-packet: only the engine `interp` has an explanation of a packet"),
    ],
)
def test_what_makes_no_sense_is_one_error(options: tuple[object, ...], said: str) -> None:
    result = run(*options)
    assert result.exit_code == 2, result.output
    assert result.stderr.count("error:") == 1 and said in result.stderr


@built
def test_a_site_with_two_servers_of_one_name_is_refused(tmp_path: Path) -> None:
    site = tmp_path / "site.toml"
    site.write_text(SITE + SITE[SITE.index("[[rdma_servers]]") :].replace("40", "41"))
    result = run("--site", site)
    assert result.exit_code == 2 and "E1301" in result.stderr


@built
def test_a_plan_that_does_not_fit_is_the_specs_fault(tmp_path: Path) -> None:
    site = tmp_path / "site.toml"
    site.write_text(SITE.replace('"software"', '"software"\nport_rate = "100Gbps"', 1))
    result = run("--site", site)
    assert result.exit_code == 1 and "error[E1403]" in result.stderr


@built
def test_a_folder_for_captures_that_cannot_be_leaves_nothing_behind(tmp_path: Path) -> None:
    taken = tmp_path / "taken"
    taken.write_text("")
    result = run("--capture-links", taken, "--out", tmp_path / "out.pcapng")
    assert result.exit_code == 3 and result.stderr.count("error:") == 1
    assert not list(tmp_path.glob(".*"))  # of what was begun
