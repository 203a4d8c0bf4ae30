"""`polysome fmt` as its users meet it: files, folders, standard input, `--check`, exit codes."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from polysome.cli import fmt as command
from polysome.cli.main import app

UGLY = "nf wire{port a,b;\n\n\n// c\non packet from a{send b;}}\n"
FINE = "nf wire {\n  port a, b;\n\n  // c\n  on packet from a { send b; }\n}\n"
WRONG = "nf wire { port a b; }\n"


def polysome(*arguments: object, given: str | bytes | None = None) -> Result:
    result = CliRunner().invoke(app, ["fmt", *map(str, arguments)], input=given)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


@pytest.fixture
def spec(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = Path("wire.nf")
    path.write_text(UGLY, encoding="utf-8")
    return path


def test_a_file_is_formatted_in_place_and_only_once(spec: Path) -> None:
    result = polysome(spec)
    assert result.exit_code == 0 and result.stdout == "formatted wire.nf\n" and result.stderr == ""
    assert spec.read_text(encoding="utf-8") == FINE
    again = polysome(spec)
    assert again.exit_code == 0 and again.output == ""


def test_check_changes_nothing_and_lists(spec: Path) -> None:
    Path("fine.nf").write_text(FINE, encoding="utf-8")
    result = polysome("--check", ".")
    assert result.exit_code == 1 and result.stdout == "wire.nf\n"
    assert result.stderr == "error: 1 of 2 files are not formatted\n  mend: Run `polysome fmt` without `--check`.\n"
    assert spec.read_text(encoding="utf-8") == UGLY
    assert polysome("--check", "fine.nf").exit_code == 0


def test_folders_are_searched_but_for_hidden_ones(spec: Path) -> None:
    for folder in ("a/b", ".hidden"):
        Path(folder).mkdir(parents=True)
        (Path(folder) / "x.nf").write_text(UGLY, encoding="utf-8")
    Path("a/notes.txt").write_text(UGLY, encoding="utf-8")
    assert polysome("a", ".", "a/b/x.nf").stdout.splitlines() == ["formatted a/b/x.nf", "formatted wire.nf"]
    assert Path(".hidden/x.nf").read_text(encoding="utf-8") == Path("a/notes.txt").read_text(encoding="utf-8") == UGLY


def test_a_file_with_errors_is_left_alone_and_the_others_are_formatted(spec: Path) -> None:
    Path("a.nf").write_text(WRONG, encoding="utf-8")
    Path("latin.nf").write_bytes(b"// \xe4\n")
    result = polysome(".")
    assert result.exit_code == 1 and result.stdout == "formatted wire.nf\n"
    assert "a.nf:1:18" in result.stderr and "error[E0110]: this file is no text in UTF-8" in result.stderr
    assert Path("a.nf").read_text(encoding="utf-8") == WRONG


def test_standard_input(spec: Path) -> None:
    result = polysome("--stdin", given=UGLY)
    assert result.exit_code == 0 and result.stdout == FINE
    checked = polysome("--stdin", "--check", given=UGLY)
    assert checked.exit_code == 1 and checked.stdout == "" and "not formatted" in checked.stderr
    assert polysome("--stdin", "--check", given=FINE).exit_code == 0
    wrong = polysome("--stdin", given=WRONG)
    assert wrong.exit_code == 1 and wrong.stdout == "" and "<stdin>:1:18" in wrong.stderr


def test_line_ends_mode_and_links_stay(spec: Path) -> None:
    spec.write_bytes(UGLY.replace("\n", "\r\n").encode())
    spec.chmod(0o640)
    Path("link.nf").symlink_to(spec)
    assert polysome("link.nf").exit_code == 0
    assert spec.read_bytes() == FINE.replace("\n", "\r\n").encode()
    assert stat.S_IMODE(spec.stat().st_mode) == 0o640 and Path("link.nf").is_symlink()
    assert polysome("--check", "link.nf").exit_code == 0
    spec.write_bytes(b"\xef\xbb\xbf" + FINE.encode())
    assert polysome(spec).exit_code == 0 and spec.read_bytes() == FINE.encode()


def test_a_write_that_fails_leaves_the_file_as_it_was(spec: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    result = polysome(spec)
    assert result.exit_code == 3 and "wire.nf cannot be written: No space left on device" in result.stderr
    assert spec.read_text(encoding="utf-8") == UGLY and os.listdir() == ["wire.nf"]


def test_a_formatter_that_is_wrong_writes_nothing(spec: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from polysome.syntax import formatter

    monkeypatch.setattr(formatter, "_written", lambda _: FINE.replace("send b", "send a"))
    result = polysome(spec)
    assert (
        result.exit_code == 3
        and "would change its meaning" in result.stderr
        and "bug of the formatter" in result.stderr
    )
    assert spec.read_text(encoding="utf-8") == UGLY


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([], "no file and no folder is given"),
        (["nowhere.nf"], "there is no file nowhere.nf"),
        (["empty"], "there is no .nf file in empty"),
        (["--stdin", "wire.nf"], "--stdin takes no files"),
    ],
)
def test_mistakes_on_the_command_line(spec: Path, arguments: list[str], says: str) -> None:
    Path("empty").mkdir()
    result = polysome(*arguments)
    assert result.exit_code == 2 and says in result.stderr
    assert command.STDIN not in result.stderr and spec.read_text(encoding="utf-8") == UGLY
