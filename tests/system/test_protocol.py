"""The worked examples of runtime/PROTOCOL.md are what the system says for the packet that the page begins with."""

from __future__ import annotations

import re
import struct
from collections.abc import Mapping
from pathlib import Path

import pytest
from typer.testing import CliRunner

from polysome.backends.nf_cpp.build import missing
from polysome.captures.merge import merge
from polysome.cli.main import app

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "runtime" / "PROTOCOL.md"
LB = ROOT / "examples" / "load_balancer"
BLOCK = re.compile(r"```hex (\w+)\n(.*?)```", re.DOTALL)

pytestmark = pytest.mark.slow


def blocks() -> dict[str, bytes]:
    """The examples by name; `…` stands for the rest of the packet."""
    return {name: bytes.fromhex(re.sub(r"\|.*|…", "", text)) for name, text in BLOCK.findall(PAGE.read_text("utf-8"))}


def capture(path: Path, frame: bytes) -> None:
    head = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1)
    path.write_bytes(head + struct.pack("<IIII", 1, 0, len(frame), len(frame)) + frame)


def frames(path: Path) -> list[bytes]:
    return [captured.data for _, captured in merge([(None, path)])]


def rewritten(text: str, found: Mapping[str, bytes]) -> str:
    """The page with the bytes of these frames, as many in each line as there were; comments stay as they are."""

    def block(match: re.Match[str]) -> str:
        rest, lines = found.get(match[1], b""), []
        for line in match[2].splitlines():
            octets, bar, comment = line.partition("|")
            size = len(bytes.fromhex(octets))
            lines.append(f"{rest[:size].hex()}   |{comment}" if rest and bar else line)
            rest = rest[size:]
        return f"```hex {match[1]}\n" + "\n".join(lines) + "\n```"

    return BLOCK.sub(block, text)


def test_the_examples_are_what_is_said(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    if (lacking := missing()) is not None:
        pytest.skip(lacking)
    said = blocks()
    packet = said["packet"] + bytes(range(100))
    capture(tmp_path / "in.pcap", packet)
    arguments = ["run", str(LB / "load_balancer.nf"), "--in", f"clients={tmp_path / 'in.pcap'}"]
    arguments += ["--config", str(LB / "config.toml"), "--engine", "system", "--out", str(tmp_path / "out.pcapng")]
    done = CliRunner().invoke(app, [*arguments, "--capture-links", str(tmp_path / "links")])
    assert done.exit_code == 0, done.output
    found = [f for name in ("nf", "server0", "server1") for f in frames(tmp_path / "links" / f"{name}.pcapng")]
    found += frames(tmp_path / "out.pcapng")
    if request.config.getoption("--update-golden"):
        by_name = dict(zip(("fields", "edits", "write", "read", "response", "merged"), found, strict=True))
        PAGE.write_text(rewritten(PAGE.read_text("utf-8"), by_name), "utf-8")
        said = blocks()
    for name, example in said.items():
        if name == "packet":
            continue
        assert any(frame.startswith(example) for frame in found), (name, [f[: len(example)].hex() for f in found])
    assert len(found) == 6  # fields, edits, WRITE, READ, response, the packet that leaves
