"""One run of a bundle: what it claims, makes and takes away again.

A run's folder has `up.json`, which says what was made, from before it is made until it is gone; the file `lock`, which
says whose folder it is, is locked as long as the run lives. /run/polysome/NF leads to the folder.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from polysome.deploy import namespaces, processes
from polysome.deploy.bundle import Bundle
from polysome.deploy.errors import DeployError
from polysome.deploy.layout import INNER, SOCKET, TLS, Layout, Part, certificates, command
from polysome.deploy.processes import Command, Supervisor

PLACE = Path("/run/polysome")
RECORD, LOCK = "up.json", "lock"
MARK = "A run of `polysome up`, which makes and removes what is in this folder.\n"


@dataclass(frozen=True)
class Record:
    """What up.json says. `ports`: the namespace of each logical port; `namespaces`: all that were made."""

    nf: str
    bundle: str
    pid: int
    namespaces: tuple[str, ...]
    ports: dict[str, str]


def read_record(folder: Path) -> Record | None:
    """None if there is none, or it is not one."""
    try:
        found: Any = json.loads((folder / RECORD).read_text(encoding="utf-8"))
        return Record(found["nf"], found["bundle"], found["pid"], tuple(found["namespaces"]), dict(found["ports"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None


@contextmanager
def claimed(layout: Layout, bundle: Path, folder: Path) -> Iterator[None]:
    """The folder and the namespaces' names are this run's until the end, when all that was made goes.

    What a run that was killed left behind, of this NF or in this folder, goes first. DeployError if another run lives,
    or if a namespace is there that no run made; then nothing was changed.
    """
    link = PLACE / layout.nf
    for place in dict.fromkeys((link.resolve(), folder.resolve())):
        _check_ours(place)
        clean(place)
    there = namespaces.present(layout.namespaces)
    if there:
        few = ", ".join(there[:3]) + (", ..." if len(there) > 3 else "")
        mend = f"End what uses them, then `ip netns del {there[0]}`."
        raise DeployError(f"there are network namespaces already that `polysome up` did not make: {few}", mend)
    with _lock(folder):
        record = Record(layout.nf, str(bundle), os.getpid(), layout.namespaces, layout.ports)
        _write(folder / RECORD, json.dumps(asdict(record), indent=2) + "\n")
        _lead(link, folder)
        try:
            yield
        finally:
            _remove(folder, record)


def clean(folder: Path) -> bool:
    """Takes away what a killed run left behind in this folder; False if there was nothing. DeployError if it lives."""
    record = read_record(folder)
    if record is None:
        return False
    with _lock(folder):
        _remove(folder, record)
    return True


def _remove(folder: Path, record: Record) -> None:
    """Processes, then namespaces, then files; DeployError, when the rest is gone, if something cannot be removed."""
    found = namespaces.inhabitants(record.namespaces)
    processes.end([pid for pids in found.values() for pid in pids], folder)
    problems = namespaces.remove(record.namespaces)
    link = PLACE / record.nf
    if link.is_symlink() and link.resolve() == folder.resolve():
        link.unlink()
    for name in (TLS, "config", "state"):
        shutil.rmtree(folder / name, ignore_errors=True)
    for name in (SOCKET, INNER, RECORD):
        (folder / name).unlink(missing_ok=True)
    if problems:
        raise DeployError("something could not be removed: " + "; ".join(problems))


def _check_ours(folder: Path) -> None:
    """On a machine of a deployment, /run/polysome/NF is that one's, and a folder of a user's may hold a `lock`, too."""
    if folder.exists() and not _marked(folder) and (not folder.is_dir() or any(folder.iterdir())):
        raise DeployError(f"{folder} is there already, and no run's of `polysome up`", "Move it away.")


def _marked(folder: Path) -> bool:
    with suppress(OSError, UnicodeDecodeError):
        return (folder / LOCK).read_text(encoding="utf-8") == MARK
    return False


@contextmanager
def _lock(folder: Path) -> Iterator[None]:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        folder.chmod(0o755)
        file = (folder / LOCK).open("a")
    except OSError as error:
        raise DeployError(f"{error.filename}, for the run, cannot be made: {error.strerror}") from None
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            record = read_record(folder)
            who = f": process {record.pid} runs {record.nf}" if record is not None else ""
            raise DeployError(f"another `polysome up` uses {folder}{who}", "End it (Ctrl-C) first.") from None
        if not _marked(folder):
            file.write(MARK)
            file.flush()
        yield


def _lead(link: Path, folder: Path) -> None:
    if link.resolve() == folder.resolve():
        return
    link.parent.mkdir(parents=True, exist_ok=True)
    if link.is_symlink():
        link.unlink()
    elif link.exists():
        shutil.rmtree(link)  # an ended run's: `_check_ours` and `clean` have seen it
    link.symlink_to(folder)


def _write(path: Path, text: str) -> None:
    new = path.with_name(path.name + ".new")
    new.write_text(text, encoding="utf-8")
    os.replace(new, path)


# ---------------------------------------------------------------- what is made in the folder


def prepare(bundle: Bundle, layout: Layout, folder: Path) -> None:
    """Namespaces, certificates and configurations; what they replace of an earlier run goes."""
    for name in (TLS, "config", "state", "logs"):
        shutil.rmtree(folder / name, ignore_errors=True)
        (folder / name).mkdir()
        (folder / name).chmod(0o755)  # parts read their certificates again as the users that they become
    namespaces.make(layout)
    _certificates(bundle.folder / "deploy", folder / TLS, layout.parts)
    for part in layout.parts:
        part.path.write_text(part.config, encoding="utf-8")
        if part.owns is not None:
            part.owns.mkdir(mode=0o700)
            if part.user:
                shutil.chown(part.owns, part.user)


def _certificates(scripts: Path, folder: Path, parts: Sequence[Part]) -> None:
    """What is done where the parts' machines are, and where the authority is: here, both are this one."""
    _script(scripts / "request.sh", folder, *(part.name for part in parts))
    _script(scripts / "certificates.sh", "renew", folder)
    for name in (*(part.name for part in parts), "operator"):
        absent = [file for file in certificates(name) if not (folder / file).is_file()]
        if absent:
            raise DeployError(f"{scripts / 'certificates.sh'} failed: it did not make {', '.join(absent)}")
    for part in parts:
        shutil.chown(folder / certificates(part.name)[2], part.user or "root")


def _script(script: Path, *arguments: object) -> None:
    done = subprocess.run(["sh", str(script), *map(str, arguments)], capture_output=True, text=True)
    if done.returncode != 0:
        said = (done.stderr or done.stdout).strip().splitlines()
        raise DeployError(f"{script} failed: {said[0] if said else f'exit code {done.returncode}'}")


def supervisor(bundle: Bundle, layout: Layout, folder: Path, programs: dict[tuple[str, str], Path]) -> Supervisor:
    """All parts, none started yet. `programs`: the binary of each component."""
    found = Supervisor(folder)
    for part in layout.parts:
        found.add(Command(part.name, command(part, bundle.folder, _program(part, programs)), log(folder, part.name)))
    return found


def _program(part: Part, programs: dict[tuple[str, str], Path]) -> Path | None:
    return None if part.component is None else programs[part.component]


def log(folder: Path, name: str) -> Path:
    return folder / "logs" / f"{name}.log"


def last_words(path: Path) -> str:
    """The last line of a log; "" if it has none."""
    with suppress(OSError):
        lines = path.read_bytes()[-4096:].decode(errors="replace").strip().splitlines()
        return lines[-1].strip() if lines else ""
    return ""
