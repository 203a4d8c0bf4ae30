"""What commands do where standard output is full, closed, or read by nobody any more, or a file cannot be written."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from typer.testing import CliRunner

from polysome.backends.nf_cpp.build import missing
from polysome.cli.main import app

ROOT = Path(__file__).resolve().parents[2]
LB = ROOT / "examples" / "load_balancer"
SPEC, SITE = LB / "load_balancer.nf", LB / "site.toml"
RUN = ("run", SPEC, "--in", f"clients={LB / 'clients.pcap'}", "--config", LB / "config.toml")
ON_SYSTEM = (*RUN, "--engine", "system")
built = pytest.mark.skipif(missing() is not None, reason=str(missing()))
COMMANDS = [
    ("--help",),
    ("--version",),
    ("explain",),
    ("explain", "E0703"),
    ("check", SPEC),
    ("check", SPEC, "--json"),
    RUN,
    (*RUN, "--explain-packet", "1"),
    ("test", SPEC, "--traces", "1", "--seed", "1"),
    ("fmt", "--stdin"),
    ("plan", SPEC, "--site", SITE),
    ("new",),
    ("compile", SPEC, "-o", "cpp"),
]


def started(arguments: tuple[object, ...], folder: Path, out: int, errors: int = subprocess.PIPE) -> tuple[int, str]:
    """The exit code, and what is on standard error."""
    command = [sys.executable, "-m", "polysome.cli.main", *map(str, arguments)]
    with SPEC.open() as spec:
        done = subprocess.run(command, cwd=folder, stdin=spec, stdout=out, stderr=errors, text=True, timeout=120)
    return done.returncode, done.stderr or ""


@contextmanager
def opened(path: str) -> Iterator[int]:
    descriptor = os.open(path, os.O_WRONLY)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


@contextmanager
def unread() -> Iterator[int]:
    """A pipe of which the other end is closed."""
    reading, writing = os.pipe()
    os.close(reading)
    try:
        yield writing
    finally:
        os.close(writing)


@pytest.mark.parametrize("arguments", COMMANDS, ids=lambda a: " ".join(Path(w).name for w in a))
def test_a_full_disk_is_an_error_of_the_environment(arguments: tuple[object, ...], tmp_path: Path) -> None:
    with opened("/dev/full") as full:
        code, said = started(arguments, tmp_path, full)
    assert code == 3 and said.endswith("error: standard output cannot be written: No space left on device\n"), said


@pytest.mark.parametrize("arguments", COMMANDS, ids=lambda a: " ".join(Path(w).name for w in a))
def test_who_reads_no_more_ends_a_command_quietly(arguments: tuple[object, ...], tmp_path: Path) -> None:
    with unread() as pipe:
        code, said = started(arguments, tmp_path, pipe)
    assert code == 0 and "rror" not in said, said


def test_what_is_done_and_found_does_not_depend_on_who_reads_it(tmp_path: Path) -> None:
    """All files are formatted, and the exit code is that of the whole, whenever the reader goes."""
    loose, names = SPEC.read_text().replace("  ", " "), ["a.nf", "b.nf", "c.nf"]
    for name in names:
        (tmp_path / name).write_text(loose)
    with unread() as pipe, opened("/dev/full") as full:
        assert started(("fmt", "--check", "."), tmp_path, pipe)[0] == 1
        assert started(("fmt", *names[:2]), tmp_path, pipe)[0] == 0
        assert started(("fmt", *names[1:]), tmp_path, full)[0] == 3
    assert all((tmp_path / name).read_text() != loose for name in names)


def test_errors_that_cannot_be_written_do_not_change_the_exit_code(tmp_path: Path) -> None:
    with opened("/dev/full") as full, unread() as pipe:
        assert started(("check", "none.nf"), tmp_path, subprocess.PIPE, full)[0] == 2
        assert started(("check", "none.nf"), tmp_path, subprocess.PIPE, pipe)[0] == 2


@pytest.mark.parametrize("closed", [">&-", "<&- >&- 2>&-"])
@pytest.mark.parametrize("arguments", [("explain", "E0703"), ("fmt", "--stdin"), ("check", "none.nf"), RUN])
def test_closed_descriptors_lead_nowhere(arguments: tuple[object, ...], closed: str, tmp_path: Path) -> None:
    """And never to a file that is opened later."""
    command = ["sh", "-c", f'"$@" {closed}', "sh", sys.executable, "-m", "polysome.cli.main", *map(str, arguments)]
    more = ["--out", "out.pcapng"] if arguments is RUN else []
    with SPEC.open() as spec:
        done = subprocess.run([*command, *more], cwd=tmp_path, stdin=spec, capture_output=True, timeout=120)
    assert done.returncode == (2 if "none.nf" in arguments else 0), done.stderr
    assert b"Traceback" not in done.stderr
    if more:
        assert (tmp_path / "out.pcapng").read_bytes().startswith(b"\x0a\x0d\x0d\x0a")


@pytest.mark.parametrize(
    "arguments",
    [
        (*RUN, "--out", "{}.pcapng"),
        pytest.param((*ON_SYSTEM, "--capture-links", "{}"), marks=built),
        ("plan", SPEC, "--site", SITE, "--p4", "{}.p4"),
        ("compile", SPEC, "-o", "{}"),
        ("compile", SPEC, "--site", SITE, "--no-proof", "-o", "{}"),
    ],
)
@pytest.mark.parametrize("place", ["/proc/x", "none.txt/x"])
def test_a_file_that_cannot_be_written_is_an_error_of_the_environment(
    arguments: tuple[object, ...], place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("none.txt").touch()
    done = CliRunner().invoke(app, [str(a).format(place) for a in arguments])
    assert done.exit_code == 3 and done.stderr.startswith("error: ") and place in done.stderr, done.stderr
