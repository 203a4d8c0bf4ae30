"""`polysome fmt`: specs in their one form."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer

from polysome.cli import common
from polysome.cli.common import COMMAND_LINE, ENVIRONMENT, SPEC, fail
from polysome.syntax.diagnostics import Report

STDIN = "<stdin>"


def fmt(
    paths: Annotated[
        list[Path] | None, typer.Argument(metavar="[FILE|FOLDER]...", help="Specs; of a folder, all .nf files in it.")
    ] = None,
    check: Annotated[
        bool,
        typer.Option("--check", help="Change nothing; list what is not formatted, and end with 1 if there is any."),
    ] = False,
    stdin: Annotated[bool, typer.Option("--stdin", help="Format standard input to standard output.")] = False,
) -> None:
    """Format specs in place: blanks, indentation, lines above 120 columns. Comments and meaning stay."""
    if stdin and paths:
        fail(COMMAND_LINE, "--stdin takes no files", "Leave `--stdin` away, or the files.")
    if stdin:
        _stream(check)
        return
    if not paths:
        fail(COMMAND_LINE, "no file and no folder is given", "Write `polysome fmt .` for all specs in this folder.")
    files = _files(paths)
    changed, wrong = [], False
    for path in files:
        data = _read(path)
        done = _formatted(str(path), data)
        wrong |= done is None
        if done is not None and done != data:
            changed.append(path)
            if not check:
                _replace(path, done)
            print(path if check else f"formatted {path}")
    if check and changed:
        few = f"{len(changed)} of {len(files)} files are" if len(files) > 1 else "the file is"
        fail(SPEC, f"{few} not formatted", "Run `polysome fmt` without `--check`.")
    if wrong:
        raise SystemExit(SPEC)


def _stream(check: bool) -> None:
    data = sys.stdin.buffer.read()
    done = _formatted(STDIN, data)
    if done is None:
        raise SystemExit(SPEC)
    if check and done != data:
        fail(SPEC, "standard input is not formatted")
    if not check:
        sys.stdout.buffer.write(done)
        sys.stdout.buffer.flush()


def _files(paths: list[Path]) -> list[Path]:
    """The files named, and all specs in the folders named, each once; hidden folders in these are left out."""
    found: dict[Path, Path] = {}
    for path in paths:
        if not path.exists():
            fail(COMMAND_LINE, f"there is no file {path}")
        inside = sorted(_specs(path)) if path.is_dir() else [path]
        if not inside:
            fail(COMMAND_LINE, f"there is no .nf file in {path}")
        for file in inside:
            found.setdefault(file.resolve(), file)
    return list(found.values())


def _specs(folder: Path) -> Iterator[Path]:
    for path in folder.rglob("*.nf"):
        if path.is_file() and not any(part.startswith(".") for part in path.relative_to(folder).parts):
            yield path


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        fail(COMMAND_LINE, f"{path} cannot be read: {error.strerror}")


def _formatted(name: str, data: bytes) -> bytes | None:
    """A file's formatted content, with lines that end as its first does; None if it has errors, which were shown."""
    from polysome.syntax.formatter import FormatterError, formatted  # ANTLR is slow to import
    from polysome.syntax.text import decoded

    report = Report()
    text = decoded(name, data, report)
    try:
        done = formatted(name, text, report) if text is not None else None
    except FormatterError as error:
        fail(
            ENVIRONMENT,
            f"{error}, so nothing was written",
            "This is a bug of the formatter, not of the spec: report it, with the file.",
        )
    if done is None:
        common.show(report.diagnostics, report.sources)
        return None
    end = "\r\n" if data[: data.find(b"\n") + 1].endswith(b"\r\n") else "\n"
    return done.replace("\n", end).encode("utf-8")


def _replace(path: Path, data: bytes) -> None:
    """Put `data` in the place of a file, all or nothing; the file's mode stays, and a link to it stays a link."""
    target = path.resolve()
    scratch: str | None = None
    try:
        handle, scratch = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            os.fchmod(handle, target.stat().st_mode & 0o7777)
            file.flush()
            os.fsync(handle)
        os.replace(scratch, target)
    except OSError as error:
        if scratch is not None:
            with suppress(OSError):
                os.unlink(scratch)
        fail(ENVIRONMENT, f"{path} cannot be written: {error.strerror}", "It was left as it was.")
