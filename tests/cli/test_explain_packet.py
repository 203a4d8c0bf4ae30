"""`polysome run --explain-packet N`: why a packet got its verdict."""

from __future__ import annotations

import json
import re
from pathlib import Path

from typer.testing import CliRunner, Result

from polysome.cli.main import app

NAT = Path(__file__).resolve().parents[2] / "examples" / "nat"


def explained(number: object, *more: object) -> Result:
    arguments = ["run", NAT / "nat.nf", "--in", f"inside={NAT / 'inside_only.pcap'}"]
    arguments += ["--in", f"outside={NAT / 'outside_only.pcap'}", "--config", NAT / "config.toml"]
    result = CliRunner().invoke(app, [*map(str, arguments), "--explain-packet", str(number), *map(str, more)])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


def test_the_path_through_the_spec_with_values() -> None:
    """The second packet of the merged input is the answer from outside: an action, an index, a write."""
    result = explained(2)
    assert result.exit_code == 0
    lines = result.output.splitlines()
    assert lines[0].startswith("packet 2  +174.37us  outside  198.51.100.20:80 > 203.0.113.1:1024 TCP SYN ACK")
    assert "headers: ethernet / ipv4 / tcp" in lines
    statement = r'nat\.nf:\d+ +let m = back\[by_public\(answer\)\] else drop "unsolicited";'
    assert any(re.fullmatch(statement, line) for line in lines)
    assert any("ipv4.dst: 203.0.113.1 -> 192.168.1.10" in line for line in lines)
    assert any(line.startswith("sent to inside as ") for line in lines)
    assert max(map(len, lines)) <= 100


def test_json() -> None:
    found = json.loads(explained(1, "--json").output)
    assert (found["packet"], found["port"], found["ports"], found["dropped"]) == (1, "inside", ["outside"], None)
    step = found["steps"][0]
    assert re.fullmatch(r"nat\.nf:\d+", step["place"])
    assert step == {
        "place": step["place"],
        "source": 'require ipv4.fragment_offset == 0 else drop "later fragment";',
        "values": ["ipv4.fragment_offset = 0", "so it is met"],
    }
    assert found["data"] != found["leaves"]


def test_the_capture_is_still_written(tmp_path: Path) -> None:
    out = tmp_path / "out.pcapng"
    assert explained(1, "--out", out).exit_code == 0 and out.is_file()


def test_a_number_that_no_packet_has() -> None:
    result = explained(20000)
    assert result.exit_code == 2
    assert "error: --explain-packet 20000: the input has 71 packets" in result.output
    assert "give a number up to 71" in result.output
    assert explained(0).exit_code == 2 and explained("x").exit_code == 2
