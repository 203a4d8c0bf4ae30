"""What outlives the controller's process: `state.json`, and the NF's configs beside it, each replaced atomically.

With it a new process knows which numbers it has given, which config is committed, and whether switch and agents are the
runs that it has filled; so it takes over what runs without touching it.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from polysome_controller.errors import EnvironmentProblem
from polysome_protocol import LAST_SEQ

REMEMBERED = 64  # earlier runs of a part, whose answers are refused


@dataclass
class PartState:
    """Of one agent or NF server: the run that the tables are filled for, and earlier ones."""

    boot: int = 0  # 0: none
    mac: int = 0
    earlier: list[int] = field(default_factory=list)

    def replace(self, boot: int) -> None:
        if self.boot and self.boot != boot:
            self.earlier = [*self.earlier, self.boot][-REMEMBERED:]
        self.boot = boot


@dataclass
class PairState:
    """Of one queue pair: `numbers` may have an entry in the switch; the last one is the one in use."""

    generation: int = 0
    numbers: list[int] = field(default_factory=list)


@dataclass
class Counted:
    """Counters of a part, which begins at 0 with each run: of all `before`, and as read last in this one, `now`.

    `gone`: the run `boot` has ended, as counters went back; who says so has not yet heard of the new one.
    """

    boot: int = 0
    gone: bool = False
    before: dict[str, int] = field(default_factory=dict)
    now: dict[str, int] = field(default_factory=dict)

    def read(self, boot: int, values: Mapping[str, int]) -> bool:
        """True if it is a new run's: what the one before had counted is to be kept."""
        back = any(values.get(name, 0) < value for name, value in self.now.items())
        other = self.boot not in (0, boot)
        ended = back or (other and not self.gone)
        if ended:
            self.before = self.total
        self.gone = not other and (back or self.gone)
        self.boot, self.now = boot, dict(values)
        return ended

    @property
    def total(self) -> dict[str, int]:
        names = {**self.before, **self.now}
        return {name: self.before.get(name, 0) + self.now.get(name, 0) for name in names}


@dataclass
class State:
    epoch: int = 0
    switch_boot: int = 0  # of the run that is filled; 0: none
    filled_for: str = ""  # fingerprint of the configuration
    agents: dict[str, PartState] = field(default_factory=dict)
    nfs: dict[str, PartState] = field(default_factory=dict)
    pairs: list[PairState] = field(default_factory=list)
    active: str = ""  # NF server
    drained: list[str] = field(default_factory=list)
    held: list[str] = field(default_factory=list)  # NF servers whose frames the switch holds, or may
    program_hash: str = ""
    nf_hash: str = ""
    earlier_nf_hash: str = ""  # of the deployment before, with the same program in the switch
    first: str = ""  # version of the config that the deployment came with
    version: str = ""  # of the committed config; empty: none
    fallback: int = 0
    spare: dict[str, int] = field(default_factory=dict)
    moved: dict[int, int] = field(default_factory=dict)  # buckets not on their own server; -1: on none
    counted: dict[str, Counted] = field(default_factory=dict)  # drops, by part; "events": of the switch's program
    numbered: int = field(default_factory=lambda: secrets.randbelow(LAST_SEQ))  # see next_numbered
    ups: dict[str, tuple[int, int]] = field(default_factory=dict)  # run of a part that is up, and since when, in ns
    unsure: bool = False  # the process may have ended in the middle of a change to NF links, buckets, or the meter

    @property
    def next_numbered(self) -> int:
        """What `numbered` will be in the switch's next run: half of all numbers on, for what is `first_seq`."""
        return (self.numbered + LAST_SEQ // 2) % LAST_SEQ

    def first_seq(self, numbered: int) -> int:
        """Behind which seq a run of the switch numbers packets: as far as can be from what the run before gave last,
        by what is known of it. So edits that an NF still holds are not taken for those of others (PROTOCOL.md, rule 2).
        """
        counted = self.counted.get("events", Counted())
        return (numbered + counted.total.get("ingress.parked", 0)) % LAST_SEQ


def _from_json(text: str) -> State:
    """ValueError, KeyError or TypeError if it is not what to_json writes."""
    values: dict[str, Any] = json.loads(text)
    known = State(**values)
    known.agents = {name: PartState(**part) for name, part in values["agents"].items()}
    known.nfs = {name: PartState(**part) for name, part in values["nfs"].items()}
    known.pairs = [PairState(**pair) for pair in values["pairs"]]
    known.counted = {name: Counted(**counted) for name, counted in values.get("counted", {}).items()}
    known.ups = {name: (int(run), int(since)) for name, (run, since) in values.get("ups", {}).items()}
    known.moved = {int(bucket): int(server) for bucket, server in values["moved"].items()}
    for name in ("epoch", "switch_boot", "fallback", "numbered"):
        if not isinstance(getattr(known, name), int):
            raise ValueError(f"`{name}` is no number")
    return known


class Store:
    """The state, and its folder. EnvironmentProblem if that cannot be written."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._file = folder / "state.json"
        self.trouble = ""  # why there was nothing to take over
        self.state = self._load()
        # Higher than any before, also if the file was lost, as long as the clock does not run back.
        self.state.epoch = max(self.state.epoch + 1, time.time_ns() // 1000)
        self.save()

    def _load(self) -> State:
        try:
            return _from_json(self._file.read_text(encoding="utf-8"))
        except FileNotFoundError:
            self.trouble = "there is no state of an earlier run"
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            self.trouble = f"{self._file} cannot be read ({error})"
        return State()

    def count(self, name: str, boot: int, values: Mapping[str, int]) -> dict[str, int]:
        """What a part has counted in all its runs, with what was read of it now.

        Of a run that ends while this process is away too, what was not written by then is lost.
        """
        counted = self.state.counted.setdefault(name, Counted())
        if counted.read(boot, values):
            self.save()
        return counted.total

    def save(self) -> None:
        self._write(self._file, json.dumps(asdict(self.state), indent=1).encode())

    def config(self) -> bytes | None:
        """The committed one; None: there is none."""
        if not self.state.version:
            return None
        try:
            config = (self._folder / f"{self.state.version}.config").read_bytes()
        except OSError:
            return None
        return config if hashlib.sha256(config).hexdigest() == self.state.version else None

    def commit(self, version: str, config: bytes) -> None:
        """In force from now on, also for the next process."""
        before = self.state.version
        self._write(self._folder / f"{version}.config", config)
        self.state.version = version
        self.save()
        if before and before != version:
            (self._folder / f"{before}.config").unlink(missing_ok=True)

    def _write(self, path: Path, content: bytes) -> None:
        draft = path.with_name(path.name + ".new")
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            os.replace(draft, path)
        except OSError as error:
            raise EnvironmentProblem(f"the state cannot be kept in {path}: {error.strerror}") from error


class Fleeting(Store):
    """Of a controller that nobody takes over from: nothing is written, and it begins with the state it is given."""

    def __init__(self, state: State) -> None:
        self.trouble = ""
        self.state = state

    def save(self) -> None:
        pass

    def config(self) -> None:
        return None
