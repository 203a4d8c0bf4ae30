"""TESTING.md says what is so: its files and commands run and print what stands there, and nothing is left out."""

from __future__ import annotations

import dataclasses
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import polysome.testing as pt
from polysome.testing import pytest_plugin

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "compiler" / "polysome" / "testing" / "TESTING.md"
TEXT = PAGE.read_text(encoding="utf-8")
SECTIONS = {part.partition("\n")[0]: part for part in re.split(r"^## ", TEXT, flags=re.MULTILINE)}
BLOCK = re.compile(r"^```(.*)\n((?:.*\n)*?)```$", re.MULTILINE)
# Programs that the commands call, and what they are here.
PROGRAMS = {"python": [sys.executable], "polysome": [sys.executable, "-m", "polysome.cli.main"], "sed": ["sed"]}
BLACK_BOX = "5. A program of one's own as an engine"


def blocks(text: str, language: str) -> list[tuple[str, str]]:
    """(name, content) of the code blocks in a language."""
    found = [(match[1].split(), match[2]) for match in BLOCK.finditer(text)]
    return [(words[1] if len(words) > 1 else "", content) for words, content in found if words[:1] == [language]]


def commands(text: str) -> list[tuple[str, str]]:
    """The command lines of a section with what they print."""
    found = []
    for _, content in blocks(text, "console"):
        for command in re.split(r"^\$ ", content, flags=re.MULTILINE)[1:]:
            line, _, printed = command.partition("\n")
            found.append((line, printed))
    return found


def matches(printed: str, shown: str) -> bool:
    """Is it what the page shows? There, `…` alone on a line stands for any lines, in a line for anything."""
    lines = []
    for line in shown.splitlines():
        parts = [re.escape(part) for part in line.split("…")]
        lines.append(r"(?:.*\n)*?" if line == "…" else ".*".join(parts) + r"[ ]*\n")
    return re.fullmatch("".join(lines), printed) is not None


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """All files of the page, and captures of a firewall."""
    for language in ("nf", "python"):
        for name, content in blocks(TEXT, language):
            (tmp_path / name).write_text(content, encoding="utf-8")
    for side in ("inside", "outside"):
        shutil.copy(ROOT / "examples" / "firewall" / f"{side}.pcap", tmp_path)
    return tmp_path


def sections() -> list[object]:
    """Those with commands."""
    titles = [title for title, text in SECTIONS.items() if commands(text)]
    return [pytest.param(title, marks=[pytest.mark.slow] if title == BLACK_BOX else []) for title in titles]


@pytest.mark.parametrize("section", sections())
def test_commands_print_what_the_page_shows(section: str, folder: Path) -> None:
    if section == BLACK_BOX and (lacking := pt.BlackBox(["true"]).missing()) is not None:
        pytest.skip(lacking)
    environment = os.environ | {"PYTHONPATH": str(ROOT / "compiler"), "NO_COLOR": "1", "COLUMNS": "120"}
    for line, shown in commands(SECTIONS[section]):
        call, _, into = line.partition(" > ")
        program, *words = shlex.split(call)
        command = [*PROGRAMS[program], *words]
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=200)
        assert not done.stderr, done.stderr
        printed = done.stdout
        if into:
            (folder / into).write_text(printed, encoding="utf-8")
            printed = ""
        assert matches(printed, shown), f"$ {line}\n{printed}"
    if section == BLACK_BOX:
        spec = pt.load(folder / "firewall.nf")
        assert len(pt.read_capture(spec, folder / "case.pcapng").arrivals) == 1


def test_a_written_trace_can_be_run_again(folder: Path) -> None:
    spec = pt.load(folder / "firewall.nf")
    trace = pt.read_capture(spec, inside=folder / "inside.pcap", outside=folder / "outside.pcap")
    pt.write_capture(spec, trace, folder / "case.pcapng")
    assert pt.read_capture(spec, folder / "case.pcapng") == trace
    pt.assert_holds(spec, pt.read_capture(spec, folder / "case.pcapng"))


def test_every_block_is_a_file_or_commands() -> None:
    for match in BLOCK.finditer(TEXT):
        assert re.fullmatch(r"(nf \w+\.nf|python \w+\.py|console)", match[1]), match[0]
    assert TEXT.count("```") == 2 * len(BLOCK.findall(TEXT))


def test_the_page_has_all_of_the_api() -> None:
    api = SECTIONS["2. The API"]
    listed = set(re.findall(r"`(\w+)", api))
    assert set(pt.__all__) - {"Spec"} <= listed and "a `Spec`" in api
    for kind in (pt.Trace, pt.Arrival, pt.Change, pt.Record, pt.Fate, pt.Copy, pt.Made):
        row = next(line for line in api.splitlines() if line.startswith(f"| `{kind.__name__}` |"))
        public = [name for name in vars(kind) if isinstance(vars(kind)[name], property)]
        assert {f.name for f in dataclasses.fields(kind)} | set(public) <= set(re.findall(r"`(\w+)", row)), row


def test_the_page_has_all_options() -> None:
    plugin = Path(pytest_plugin.__file__).read_text(encoding="utf-8")
    options = [*re.findall(r'addoption\(\s*"(--[\w-]+)"', plugin), *re.findall(r'addini\("(\w+)"', plugin)]
    assert len(options) == 6
    assert all(f"| `{option}" in SECTIONS["1. pytest collects specs"] for option in options)
    rows = dict(re.findall(r"^\| `(\w+)` \| ([^|]*?) \|", SECTIONS[BLACK_BOX], re.MULTILINE))
    fields = {field.name: field.default for field in dataclasses.fields(pt.BlackBox)}
    assert rows.keys() == fields.keys()
    for name, default in fields.items():
        assert default is dataclasses.MISSING or rows[name].removesuffix(" s") == f"{default}", name


@pytest.mark.parametrize(
    ("printed", "shown", "expected"),
    [
        ("a\nb\nc\n", "a\n…\nc\n", True),
        ("a\nc\n", "a\n…\nc\n", True),
        ("a 1 s\n", "a … s\n", True),
        ("a\nb\n", "a\n", False),
        ("b\na\n", "…\nb\n", False),
        ("a+\n", "a…\n", True),
        ("aa\n", "a+\n", False),
    ],
)
def test_dots_stand_for_what_they_should(printed: str, shown: str, expected: bool) -> None:
    assert matches(printed, shown) == expected
