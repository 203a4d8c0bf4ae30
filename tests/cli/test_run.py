"""`polysome run` as its users meet it: results, exit codes, and what happens to bad input."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from polysome.captures.read import open_capture
from polysome.cli.main import app

ROOT = Path(__file__).resolve().parents[2]
LB = ROOT / "examples" / "load_balancer"
SPEC, CAPTURE, CONFIG = LB / "load_balancer.nf", LB / "clients.pcap", LB / "config.toml"


def polysome(*arguments: object) -> Result:
    result = CliRunner().invoke(app, [str(a) for a in arguments])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


def run(*more: object) -> Result:
    return polysome("run", SPEC, "--in", f"clients={CAPTURE}", "--config", CONFIG, *more)


def test_the_table_says_what_happened() -> None:
    lines = [line.split() for line in run().output.splitlines()]
    assert ["load_balancer"] in lines
    assert ["packets", "in", "222", "clients", "222"] in lines
    assert ["sent", "220"] in lines
    assert ["not", "TCP", "or", "UDP", "over", "IPv4", "2"] in lines


def test_json_is_one_object_with_the_promised_keys() -> None:
    found = json.loads(run("--json").output)
    assert found["packets_in"] == 222
    assert found["sent"] == 220
    assert found["dropped"] == {"not TCP or UDP over IPv4": 2}
    assert found["held"] == 0
    assert found["ports"]["clients"] == {"in": 222, "out": 0}


def test_the_output_has_an_interface_per_port_and_right_times(tmp_path: Path) -> None:
    out = tmp_path / "out.pcapng"
    assert run("--out", out).exit_code == 0
    capture = open_capture(out)
    packets = list(capture)
    assert len(packets) == 220
    assert capture.interfaces == ("clients", "servers")
    assert {p.interface for p in packets} == {1}
    assert [p.time for p in packets] == sorted(p.time for p in packets)
    arrivals = {p.time for p in open_capture(CAPTURE)}
    assert {p.time for p in packets} <= arrivals  # fifo: a packet leaves when it arrives, to the nanosecond


def test_params_capacities_and_gaps_can_be_given() -> None:
    found = json.loads(run("--json", "--param", "vip=10.0.0.101", "--capacity", "sticky=1", "--max-gap", "1ms").output)
    assert found["dropped"]["not for the VIP"] == 220
    assert found["gaps_shortened"] > 0


def test_config_changes_over_time(tmp_path: Path) -> None:
    """All backends leave at the first packet's instant, so before it (L2.3); the reason names the line."""
    events = tmp_path / "events.jsonl"
    events.write_text('{"at": "0s", "set": {"backends": []}}\n')
    found = json.loads(run("--json", "--events", events).output)
    assert found["dropped"]["division by zero (load_balancer.nf:23)"] == 220
    assert found["sent"] == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--in", f"client={CAPTURE}"), "no port `client`"),
        (("--in", "nowhere.pcap"), "nowhere.pcap"),
        (("--in", SPEC), "load_balancer.nf"),
        (("--max-gap", "1..2s"), "--max-gap 1..2s: a duration was expected"),
        (("--max-gap", "1.2.3s"), "a duration was expected"),
        (("--max-gap", "²s"), "a duration was expected"),
        (("--capacity", "sticky=²"), "--capacity sticky=²: a number of entries was expected"),
        (("--capacity", f"sticky={'9' * 5000}"), "a number of entries was expected"),
        (("--capacity", "sticky=0"), "a number of entries was expected"),
        (("--config", "nowhere.toml"), "nowhere.toml"),
        (("--config", SPEC), "load_balancer.nf"),
        (("--events", "nowhere.jsonl"), "nowhere.jsonl"),
        (("--param", "vip"), "NAME=VALUE"),
        (("--param", "vop=1.2.3.4"), "no param `vop`"),
        (("--param", "vip=1.2.3"), "vip"),
        (("--param", "vip=7"), "ipv4 was expected"),
        (("--capacity", "turn=3"), "no map or set"),
        (("--capacity", "sticky=none"), "number of entries"),
        (("--max-gap", "5"), "duration was expected"),
        (("--max-gap", "0s"), "duration was expected"),
        (("--out", CAPTURE), "clients.pcap"),
        (("--engine", "magic"), "magic"),
    ],
)
def test_a_wrong_command_line_is_one_clear_error_and_code_2(arguments: tuple[object, ...], message: str) -> None:
    result = run(*arguments)
    assert result.exit_code == 2
    assert message in result.output
    assert "Traceback" not in result.output


@pytest.mark.parametrize(
    ("text", "code"),
    [("nf x {", "E0111"), ("", "E0216"), ("nf x { port p; }", "E0222"), ("use net.l5; nf x {}", "E0201")],
)
def test_a_wrong_spec_is_code_1(tmp_path: Path, text: str, code: str) -> None:
    spec = tmp_path / "x.nf"
    spec.write_text(text)
    result = polysome("run", spec, "--in", CAPTURE)
    assert result.exit_code == 1
    assert code in result.output


def test_a_spec_that_is_no_text_is_code_1(tmp_path: Path) -> None:
    spec = tmp_path / "x.nf"
    spec.write_bytes(b"\xff\xfe\x00nf")
    result = polysome("run", spec, "--in", CAPTURE)
    assert result.exit_code == 1
    assert "x.nf:1:1" in result.output and "UTF-8" in result.output


def test_a_spec_that_is_not_there_is_code_2(tmp_path: Path) -> None:
    assert polysome("run", tmp_path / "y.nf", "--in", CAPTURE).exit_code == 2
    assert polysome("run", tmp_path, "--in", CAPTURE).exit_code == 2


def test_a_cut_capture_is_run_up_to_the_cut_and_nothing_is_lost(tmp_path: Path) -> None:
    whole = CAPTURE.read_bytes()
    cut, out = tmp_path / "cut.pcap", tmp_path / "out.pcapng"
    cut.write_bytes(whole[:-1])
    result = polysome("run", SPEC, "--in", f"clients={cut}", "--config", CONFIG, "--out", out)
    assert result.exit_code == 2
    assert "221" in result.output
    assert "cut.pcap" in result.output
    assert len(list(open_capture(out))) in (219, 220, 221)


def test_several_captures_are_merged_by_time(tmp_path: Path) -> None:
    found = json.loads(
        polysome(
            "run", ROOT / "examples/nat/nat.nf", "--json",
            "--in", f"inside={ROOT}/examples/nat/inside_only.pcap",
            "--in", f"outside={ROOT}/examples/nat/outside_only.pcap",
            "--config", ROOT / "examples/nat/config.toml",
        ).output
    )  # fmt: skip
    assert found["ports"]["inside"]["in"] == 38
    assert found["ports"]["outside"]["in"] == 33
    assert found["dropped"] == {"unsolicited": 1}


def test_a_capture_without_packets(tmp_path: Path) -> None:
    empty = tmp_path / "empty.pcap"
    empty.write_bytes(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1))
    found = json.loads(polysome("run", SPEC, "--in", empty, "--config", CONFIG, "--json").output)
    assert (found["packets_in"], found["sent"], found["held"]) == (0, 0, 0)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_a_full_disk_is_code_3_in_the_middle_and_at_the_end(tmp_path: Path) -> None:
    header, packets = CAPTURE.read_bytes()[:24], CAPTURE.read_bytes()[24:]
    long = tmp_path / "long.pcap"
    long.write_bytes(header + packets * 60)  # more than the writer's buffer holds
    for capture in (CAPTURE, long):
        result = polysome("run", SPEC, "--in", f"clients={capture}", "--config", CONFIG, "--out", "/dev/full")
        assert result.exit_code == 3
        assert result.output.count("No space left on device") == 1
