"""A counterexample as files: a capture, all that it takes to run it again, its config, and what happened."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from polysome.captures.write import PcapngWriter
from polysome.config.assign import Assignments
from polysome.config.items import Rejected
from polysome.config.json_text import read_json_line
from polysome.engines.trace import Arrival, Change, Trace
from polysome.ir import program as ir
from polysome.resources import architectures
from polysome.syntax.diagnostics import Report, SpecError
from polysome.syntax.spans import Source
from polysome.testing.counterexample.config_text import config_form, config_text, events_text
from polysome.testing.spec import Spec, load

VERSION = 1
_LATEST = 1 << 63  # ns since 1970: the year 2262


class ReplayError(ValueError):
    """A file that holds no counterexample for this spec: `message` says what is wrong, `mend` what to do."""

    def __init__(self, message: str, mend: str = "") -> None:
        super().__init__(message)
        self.message, self.mend = message, mend


@dataclass(frozen=True)
class Counterexample:
    """A trace for which `property` fails on `engine`. `spec` is what was run: with little room for state if `small`.

    `architecture`: of the machines around the NF, if one was chosen.
    """

    spec: Spec
    small: bool
    engine: str
    property: str
    trace: Trace
    architecture: str | None = None


@dataclass(frozen=True)
class TracePaths:
    """What `write_trace` wrote; `events` only if there are config changes, `config` only if there is config."""

    capture: Path
    timeline: Path
    config: Path | None
    events: Path | None


@dataclass(frozen=True)
class Paths(TracePaths):
    """What `write` wrote."""

    replay: Path


def write(folder: Path, counterexample: Counterexample, timeline: Sequence[str], name: str = "") -> Paths:
    """NAME.json, NAME.pcapng, NAME.toml, NAME.events.jsonl and, with the lines of `timeline`, NAME.txt in `folder`.

    NAME is the property's, unless `name` is given. Raises OSError or CaptureError if they cannot be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    name = re.sub(r"[^\w.-]+", "-", name or counterexample.property).strip("-.")
    replay = folder / f"{name}.json"
    replay.write_bytes(dumps(counterexample, folder))
    files = write_trace(folder, name, counterexample.spec.program, counterexample.trace, timeline)
    return Paths(files.capture, files.timeline, files.config, files.events, replay)


def write_trace(folder: Path, name: str, program: ir.Program, trace: Trace, timeline: Sequence[str]) -> TracePaths:
    """All of that but the JSON, whatever the trace is an example of. Raises as `write` does."""
    folder.mkdir(parents=True, exist_ok=True)
    capture = folder / f"{name}.pcapng"
    with PcapngWriter(capture, program.ports) as writer:
        for arrival in trace.arrivals:
            writer.write(arrival.port, arrival.time, arrival.data)
    text = folder / f"{name}.txt"
    text.write_text("".join(f"{line}\n" for line in timeline), encoding="utf-8")
    config = _written(folder / f"{name}.toml", config_text(program, trace.config))
    events = _written(folder / f"{name}.events.jsonl", events_text(program, trace.changes))
    return TracePaths(capture, text, config, events)


def _written(path: Path, text: str) -> Path | None:
    """The file, or None, and none left from before, if there is nothing to write."""
    if not text:
        path.unlink(missing_ok=True)
        return None
    path.write_text(text, encoding="utf-8")
    return path


def dumps(counterexample: Counterexample, folder: Path | None = None) -> bytes:
    """All of it as JSON; the spec's file as seen from `folder`, if that is given."""
    spec, trace = counterexample.spec, counterexample.trace
    program = spec.program
    data = {
        "polysome counterexample": VERSION,
        "spec": os.path.relpath(spec.path, folder) if folder is not None else str(spec.path),
        "nf": program.name,
        "params": dict(spec.params),
        "small": counterexample.small,
        "engine": counterexample.engine,
        **({} if counterexample.architecture is None else {"architecture": counterexample.architecture}),
        "property": counterexample.property,
        "config": config_form(program, trace.config),
        "changes": [{"at": c.time, "set": config_form(program, c.values)} for c in trace.changes],
        "packets": [{"port": program.ports[a.port], "time": a.time, "data": a.data.hex()} for a in trace.arrivals],
    }
    return (json.dumps(data, indent=2) + "\n").encode()


# ---------------------------------------------------------------- reading


def read(path: Path) -> Counterexample:
    """The counterexample in NAME.json, given by that file or by the NAME.pcapng beside it, with its spec.

    Raises ReplayError for what is wrong with the file, SpecError for errors in the spec.
    """
    beside = path.with_suffix(".json")
    if path.suffix != ".json" and not beside.is_file():
        raise ReplayError(
            f"{path}: there is no {beside.name} beside it, which would say what to run it on",
            "A capture alone is run by `polysome run SPEC --in PORT=FILE`.",
        )
    try:
        text = beside.read_bytes()
    except OSError as error:
        raise ReplayError(f"{beside}: cannot be read: {error.strerror or error}") from None
    try:
        data = _parsed(text)
        file = _member(data, "spec", str)
        found = beside.parent / file
        spec_path = found if found.is_file() else Path(file)
        params = _texts(_member(data, "params", dict), "params")
    except ReplayError as error:
        raise ReplayError(f"{beside}: {error.message}", error.mend) from None
    try:
        spec = load(spec_path, params)
    except OSError as error:
        reason = error.strerror or error
        raise ReplayError(f"{beside}: its spec {file} cannot be read: {reason}", 'Correct `"spec"` in it.') from None
    try:
        return loads(text, spec)
    except ReplayError as error:
        raise ReplayError(f"{beside}: {error.message}", error.mend) from None


def loads(text: bytes, spec: Spec) -> Counterexample:
    """What `dumps` wrote, for this spec as it is now (not shrunk). Raises ReplayError if it does not fit."""
    data = _parsed(text)
    small = _member(data, "small", bool)
    program = spec.program
    config = _values(program, _member(data, "config", dict), "config")
    if missing := [name for name in program.config if name not in config]:
        raise ReplayError(f"it gives no value for config `{missing[0]}`", _CHANGED)
    changes = [_change(program, c, n) for n, c in enumerate(_member(data, "changes", list))]
    arrivals = [_arrival(program, p, n) for n, p in enumerate(_member(data, "packets", list), 1)]
    trace = Trace({name: config[name] for name in program.config}, tuple(arrivals), tuple(changes))
    engine, property = _member(data, "engine", str), _member(data, "property", str)
    architecture = _member(data, "architecture", str) if "architecture" in data else None
    if architecture is not None and architecture not in architectures():
        raise ReplayError(f"there is no architecture `{architecture}`", f"There are: {', '.join(architectures())}.")
    return Counterexample(spec.small() if small else spec, small, engine, property, trace, architecture)


_CHANGED = "The spec has changed since; let `polysome test` look for a counterexample again."
_NOT_ONE = "Give a file that `polysome test` wrote."
_NAMES = {str: "a text", bool: "true or false", dict: "an object", list: "an array", int: "a whole number"}


def _parsed(text: bytes) -> dict[str, Any]:
    try:
        data = json.loads(text.decode())
    except (ValueError, RecursionError) as error:
        raise ReplayError(f"this is not valid JSON: {error}", _NOT_ONE) from None
    if not isinstance(data, dict) or "polysome counterexample" not in data:
        raise ReplayError("this is no counterexample", _NOT_ONE)
    if data["polysome counterexample"] != VERSION:
        found = data["polysome counterexample"]
        raise ReplayError(f"it has version {found}, but only {VERSION} can be read", "Use the polysome that wrote it.")
    return data


def _member(data: Any, name: str, type: type) -> Any:
    """A member of an object, if it is there and of that type."""
    value = data.get(name) if isinstance(data, dict) else None
    if not isinstance(value, type) or (type is int and isinstance(value, bool)):
        raise ReplayError(f'`"{name}"` should be {_NAMES[type]}', _NOT_ONE)
    return value


def _texts(data: Mapping[Any, Any], name: str) -> dict[str, str]:
    if not all(isinstance(value, str) for value in data.values()):
        raise ReplayError(f'`"{name}"` should hold texts', _NOT_ONE)
    return dict(data)


def _change(program: ir.Program, data: Any, number: int) -> Change:
    values = _values(program, _member(data, "set", dict), f"changes[{number}]")
    return Change(_time(_member(data, "at", int), f"changes[{number}]"), values)


def _arrival(program: ir.Program, data: Any, number: int) -> Arrival:
    """Packet `number`, counted from 1 as everywhere that people read."""
    port = _member(data, "port", str)
    if port not in program.ports:
        raise ReplayError(f"packet {number} arrives at `{port}`, which is no port of `{program.name}`", _CHANGED)
    try:
        frame = bytes.fromhex(_member(data, "data", str))
    except ValueError:
        raise ReplayError(f'`"data"` of packet {number} should be pairs of hex digits', _NOT_ONE) from None
    return Arrival(program.ports.index(port), _time(_member(data, "time", int), f"packet {number}"), frame)


def _time(value: int, what: str) -> int:
    if not 0 <= value < _LATEST:
        raise ReplayError(f"{what} has time {value}, which is no number of ns since 1970", _NOT_ONE)
    return value


def _values(program: ir.Program, form: dict[str, Any], what: str) -> dict[str, Any]:
    """Config values from what `config_form` makes of them."""
    source = Source(what, json.dumps(form))
    report = Report({**program.sources, what: source})
    given = Assignments(program, report)
    with suppress(Rejected):
        given.all_of(read_json_line(source, 0, len(source.text), report), "json")
    try:
        report.stop_on_errors()
    except SpecError as error:
        raise ReplayError(f'`"{what}"` does not fit the spec: {error.diagnostics[0].message}', _CHANGED) from None
    return given.values
