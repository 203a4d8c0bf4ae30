"""The examples do what their READMEs say: every command there runs, and prints what is on record."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.semantics.verify import verify
from typer.testing import CliRunner

from polysome.captures.read import open_capture
from polysome.cli.main import app

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = sorted(p.parent.name for p in (ROOT / "examples").glob("*/*.nf"))
GOLDEN = ROOT / "tests" / "golden" / "examples"
WRITTEN = ("out.pcapng", "bundle")  # what the commands write, here in a folder of its own


def commands(example: str) -> list[list[str]]:
    """The `polysome …` command lines in the README's code blocks, without `polysome`."""
    text = (ROOT / "examples" / example / "README.md").read_text(encoding="utf-8")
    found = []
    for block in re.findall(r"```\n(.*?)```", text, re.DOTALL):
        for line in block.replace("\\\n", " ").splitlines():
            if line.startswith("polysome "):
                found.append(shlex.split(line)[1:])
    return found


@pytest.mark.parametrize("example", EXAMPLES)
def test_the_commands_of_the_readme_run(
    example: str, golden: Callable[[Path, str], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    assert commands(example), "the README shows no command"
    printed = []
    for arguments in commands(example):
        shown = " ".join(arguments)
        result = CliRunner().invoke(app, [str(tmp_path / a) if a in WRITTEN else a for a in arguments])
        assert result.exit_code == 0, result.output
        output = re.sub(r"^wrote \d+ files", "wrote N files", result.output.replace(f"{tmp_path}/", ""))
        printed.append(f"$ polysome {shown}\n{output}")
        if "out.pcapng" in arguments:
            assert_right_checksums(tmp_path / "out.pcapng")
    golden(GOLDEN / f"{example}.txt", "\n".join(printed))


def assert_right_checksums(out: Path) -> None:
    """The examples' captures have right checksums only, so what leaves must too."""
    for number, packet in enumerate(open_capture(out)):
        for name, right in verify(packet.data).right.items():
            assert right or name.endswith("has a checksum"), f"packet {number}: {name}"


@pytest.mark.parametrize("example", EXAMPLES)
def test_the_folder_is_complete_and_small(example: str) -> None:
    folder = ROOT / "examples" / example
    captures = list(folder.glob("*.pcap"))
    assert captures and all(c.stat().st_size < 200_000 for c in captures)
    assert all(list(open_capture(c)) for c in captures)
    assert (folder / f"{example}.nf").read_text(encoding="utf-8").startswith("///")
