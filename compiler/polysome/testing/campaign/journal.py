"""What a campaign has done so far, on disk, so that one that was ended goes on where it was."""

from __future__ import annotations

import dataclasses
import fcntl
import hashlib
import json
import os
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from polysome.testing.campaign.results import Result
from polysome.testing.plan import Plan, Sizes
from polysome.testing.spec import Spec

_VERSION = 1
_HEAD = "polysome campaign"


class Nothing(LookupError):
    """There is no campaign to go on with: why."""


@dataclass
class Journal:
    """One line of JSON for the campaign, then one for each share that is done, with its result.

    `done`: results by number of the share; `seconds`: how long it took so far. A line that was cut off does not count.
    When the disk is full it ends where it is, and the campaign goes on.
    """

    path: Path
    plan: Plan
    done: dict[int, Result] = field(default_factory=dict)
    seconds: float = 0.0
    _file: IO[str] | None = None

    @staticmethod
    def begin(folder: Path, spec: Spec, plan: Plan) -> Journal:
        """A new one; those of this NF that nobody writes are forgotten. OSError if that cannot be written."""
        folder.mkdir(parents=True, exist_ok=True)
        for old in _of(folder, spec):
            if (file := _locked(old)) is not None:
                old.unlink()
                file.close()
        journal = Journal(folder / f"{spec.program.name}-{plan.seed}.campaign", plan)
        file = _locked(journal.path)
        if file is not None:
            journal._file = file
            journal._line({_HEAD: _VERSION, "spec": _told(spec), "plan": _plan(plan)})
        return journal

    @staticmethod
    def resume(folder: Path, spec: Spec) -> Journal:
        """The newest that nobody writes. Raises Nothing if there is none, or it is of a spec that was another then."""
        for path in sorted(_of(folder, spec), key=lambda p: p.stat().st_mtime, reverse=True):
            if (file := _locked(path)) is None:
                continue
            file.seek(0)
            try:
                return _read(path, file, spec)
            except (LookupError, TypeError, ValueError) as error:
                file.close()
                raise error if isinstance(error, Nothing) else Nothing(f"{path} is damaged") from None
        raise Nothing(f"no campaign of `{spec.program.name}` that was interrupted is in {folder}")

    def note(self, number: int, result: Result, seconds: float) -> None:
        """A share is done, `seconds` after the campaign began."""
        self._line({"share": number, "seconds": round(seconds, 3), "result": result.to_json()})

    def close(self, over: bool) -> None:
        """`over`: it need not be gone on with."""
        if self._file is None:
            return
        if over:
            self.path.unlink(missing_ok=True)
        self._file.close()
        self._file = None

    def _line(self, data: Any) -> None:
        if self._file is None:  # another campaign with the same seed writes it, or the disk was full
            return
        try:
            self._file.write(json.dumps(data) + "\n")
            self._file.flush()
        except OSError:
            with suppress(OSError):
                self._file.close()
            self._file = None


def _read(path: Path, file: IO[str], spec: Spec) -> Journal:
    whole = [line for line in file.read().splitlines(keepends=True) if line.endswith("\n")]
    head, *shares = [json.loads(line) for line in whole] or [{}]
    if head[_HEAD] != _VERSION:
        raise ValueError
    if head["spec"] != _told(spec):
        raise Nothing("the spec, its params or its config are not what they were when that campaign began")
    journal = Journal(path, _planned(head["plan"]), _file=file)
    for share in shares:
        journal.done[share["share"]] = Result.from_json(share["result"])
        journal.seconds = max(journal.seconds, share["seconds"])
    file.truncate(sum(len(line.encode()) for line in whole))
    file.seek(0, os.SEEK_END)
    return journal


def _of(folder: Path, spec: Spec) -> list[Path]:
    return list(folder.glob(f"{spec.program.name}-*.campaign"))


def _locked(path: Path) -> IO[str] | None:
    """The file, open for reading and appending; None if another process has it."""
    file = path.open("a+", encoding="utf-8")
    with suppress(BlockingIOError):
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return file
    file.close()
    return None


def _told(spec: Spec) -> str:
    """Changes with whatever may change what the campaign does."""
    texts = [source.text for source in spec.program.sources.values()]  # those of params and config say not whose
    told = [*texts, repr(sorted(spec.params.items())), repr(spec.config)]
    return hashlib.sha256("\0".join(told).encode()).hexdigest()


def _plan(plan: Plan) -> dict[str, Any]:
    return dataclasses.asdict(plan) | {"captures": [str(path.resolve()) for path in plan.captures]}


def _planned(data: Any) -> Plan:
    sizes, only, captures = Sizes(data["sizes"]), tuple(data["only"]), tuple(map(Path, data["captures"]))
    return Plan(**{**data, "sizes": sizes, "only": only, "captures": captures})
