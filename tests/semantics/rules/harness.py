"""Runs specs in the reference interpreter and says what happened, for the tests of LANGUAGE.md's rules.

Programs are checked once per text. Names of ports stand where the engine has numbers.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from polysome.analysis.all import analyse
from polysome.config.tables import Tables
from polysome.interp.code import Generated, generate
from polysome.interp.machine import Counters, Machine
from polysome.ir import program as ir
from polysome.ir import types as t
from polysome.kinds.state.array import Array
from polysome.kinds.state.flow_map import FlowMap
from polysome.semantics.check import Options, check
from polysome.syntax.diagnostics import Diagnostic, Report, SpecError

Texts = tuple[tuple[str, str], ...]  # a dict as a key of the caches


# ---------------------------------------------------------------- checking


def errors(
    spec_text: str, params: Mapping[str, str] | None = None, files: Mapping[str, str] | None = None
) -> list[str]:
    """The codes of all errors in the spec, in source order; `files` are further files beside it, by name."""
    return [d.code for d in diagnostics(spec_text, params, files) if not d.warning]


def warnings(
    spec_text: str, params: Mapping[str, str] | None = None, files: Mapping[str, str] | None = None
) -> list[str]:
    """The codes of all warnings."""
    return [d.code for d in diagnostics(spec_text, params, files) if d.warning]


def diagnostics(
    spec_text: str, params: Mapping[str, str] | None = None, files: Mapping[str, str] | None = None
) -> tuple[Diagnostic, ...]:
    """Errors and warnings with their texts and places."""
    return _checked(spec_text, _key(params), (), _key(files))[1]


def program(
    spec_text: str,
    params: Mapping[str, str] | None = None,
    capacities: Mapping[str, int] | None = None,
    files: Mapping[str, str] | None = None,
) -> ir.Program:
    """The checked program; SpecError if there are errors."""
    found, said = _checked(spec_text, _key(params), tuple((capacities or {}).items()), _key(files))
    if found is None:
        raise SpecError([d for d in said if not d.warning], {})
    return found


@cache
def _checked(
    text: str, params: Texts, capacities: tuple[tuple[str, int], ...], files: Texts
) -> tuple[ir.Program | None, tuple[Diagnostic, ...]]:
    report = Report()
    try:
        found = check(_file(text, files), report, Options(dict(params), dict(capacities)))
        analyse(found, report)
        report.stop_on_errors()
    except SpecError as error:
        return None, (*error.diagnostics, *report.warnings)
    return found, tuple(report.diagnostics)


_GENERATED: dict[int, Generated] = {}  # by identity: programs live as long as `_checked` remembers them


def _generated(program: ir.Program) -> Generated:
    if id(program) not in _GENERATED:
        _GENERATED[id(program)] = generate(program)
    return _GENERATED[id(program)]


def _file(text: str, files: Texts) -> Path:
    """`spec.nf` in a folder named by its content, so that the front end's cache of parsed files helps the next run."""
    name = hashlib.sha256(repr((text, files)).encode()).hexdigest()[:16]
    folder = Path(tempfile.gettempdir()) / f"polysome-rules-{os.getuid()}" / name
    for file, content in (("spec.nf", text), *files):
        path = folder / file
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            scratch = path.with_suffix(f".{os.getpid()}")
            scratch.write_text(content, encoding="utf-8")
            scratch.replace(path)
    return folder / "spec.nf"


def _key(items: Mapping[str, str] | None) -> Texts:
    return tuple((items or {}).items())


# ---------------------------------------------------------------- running


@dataclass
class Outcome:
    """What one run did. Times in ns; `order` is the packet's number, counted from 0."""

    left: list[tuple[str, int, bytes, int]] = field(default_factory=list)
    emitted: list[tuple[str, int, bytes]] = field(default_factory=list)
    counters: Counters = field(default_factory=Counters)
    held: int = 0
    state: dict[str, Any] = field(default_factory=dict)

    @property
    def dropped(self) -> dict[str, int]:
        """Packets dropped, by reason."""
        return self.counters.dropped

    @property
    def bytes(self) -> list[bytes]:
        """What left, in order of leaving."""
        return [data for _, _, data, _ in self.left]

    @property
    def ports(self) -> list[str]:
        return [port for port, _, _, _ in self.left]


class _Sink:
    """Writes into an Outcome what leaves."""

    def __init__(self, names: Sequence[str], outcome: Outcome) -> None:
        self.names, self.outcome = names, outcome

    def leave(self, port: int, time: int, data: bytes, order: int) -> None:
        self.outcome.left.append((self.names[port], time, data, order))

    def emitted(self, port: int, time: int, data: bytes) -> None:
        self.outcome.emitted.append((self.names[port], time, data))


def run(
    spec_text: str,
    packets: Iterable[tuple[int, str, bytes]] = (),
    config: Mapping[str, Any] | None = None,
    changes: Iterable[tuple[int, Mapping[str, Any]]] = (),
    params: Mapping[str, str] | None = None,
    capacities: Mapping[str, int] | None = None,
    files: Mapping[str, str] | None = None,
    finish: bool = True,
) -> Outcome:
    """Runs the spec on packets (time in ns, name of the port, bytes).

    `config` and the `changes` (time in ns, not counted from the first packet) have values as `config.tables.Tables`
    wants them: a list is a tuple of values, a struct a tuple. `params` are texts, as on the command line.
    """
    machine, outcome = start(spec_text, config, params, capacities, files)
    for time, values in changes:
        machine.change_at(time, values)
    for time, port, data in packets:
        machine.arrive(machine.program.ports.index(port), time, data)
    if finish:
        machine.finish()
    read_state(machine, outcome)
    counters = outcome.counters
    assert counters.packets_in == counters.sent + sum(counters.dropped.values()) + outcome.held, "L13.1"
    return outcome


def start(
    spec_text: str,
    config: Mapping[str, Any] | None = None,
    params: Mapping[str, str] | None = None,
    capacities: Mapping[str, int] | None = None,
    files: Mapping[str, str] | None = None,
) -> tuple[Machine, Outcome]:
    """A machine before its first packet, for tests that drive it themselves."""
    checked = program(spec_text, params, capacities, files)
    values = {c.name: (config or {}).get(c.name, _default(c)) for c in checked.config.values()}
    unknown = set(config or {}) - set(values)
    assert not unknown, f"no such config: {unknown}"
    outcome = Outcome()
    machine = Machine(checked, Tables(checked, values), _Sink(checked.ports, outcome), _generated(checked))
    outcome.counters = machine.counters
    return machine, outcome


def read_state(machine: Machine, outcome: Outcome) -> None:
    """The state as it is now: scalars by name, maps as lists of items, arrays as lists, all else as objects."""
    outcome.held = machine.held
    outcome.state = dict(machine.scalars)
    for name, thing in machine.functions["STATE"].items():
        if isinstance(thing, FlowMap):
            outcome.state[name] = thing.items()
        elif isinstance(thing, Array):
            outcome.state[name] = [thing.get(i) for i in range(len(thing))]
        else:
            outcome.state[name] = thing


def _default(declared: ir.ConfigDecl) -> Any:
    """What a config item is when no file gives it."""
    match declared.type:
        case t.SetOf():
            return frozenset(declared.default or ())
        case t.Table("map"):
            return {}
        case t.ListOf() | t.Table():
            return tuple(declared.default or ())
        case _:
            return declared.default


# ---------------------------------------------------------------- tiny specs


def nf(body: str, items: str = "", declarations: str = "", use: str = "net.l4", ports: str = "a, b") -> str:
    """A spec whose one handler, for all ports, has `body`. `items` stand in the NF, `declarations` before it."""
    return f"use {use};\n{declarations}\nnf tiny {{\n  port {ports};\n{items}\n  on packet {{\n{body}\n  }}\n}}\n"


# The cheapest spec there is: a parser without headers is not possible, so one with a header of one byte.
BARE = "header byte0 { first: u8; }\nparser bare { state start { extract byte0; } }\n"


def bare(body: str, items: str = "", declarations: str = "", ports: str = "a, b") -> str:
    """`nf` without the standard library: packets have one header `byte0` with one field `first`."""
    return f"{BARE}{declarations}\nnf tiny {{\n  port {ports};\n{items}\n  on packet {{\n{body}\n  }}\n}}\n"


class Trapped(Exception):
    """The handler ended with a built-in reason, which is the exception's text."""


def value_spec(
    expression: str, type: str, before: str = "", items: str = "", declarations: str = "", use: str = ""
) -> str:
    """The spec that stores one expression in the scalar `result`; `before` are statements before that."""
    body = f'    {before}\n    result = {expression};\n    drop "done";'
    items = f"  state {{ result: {type}; }}\n{items}"
    return nf(body, items, declarations, use) if use else bare(body, items, declarations)


def value(
    expression: str,
    type: str,
    *,
    before: str = "",
    items: str = "",
    declarations: str = "",
    use: str = "",
    packet: bytes = b"\0" * 64,
    time: int = 0,
    port: str = "a",
    config: Mapping[str, Any] | None = None,
    params: Mapping[str, str] | None = None,
) -> Any:
    """The value of one expression of the given type on one packet; `use="net.l4"` for one with headers.

    Raises SpecError if it is no valid expression, Trapped if it ends the handler.
    """
    spec = value_spec(expression, type, before, items, declarations, use)
    outcome = run(spec, [(time, port, packet)], config, params=params)
    if outcome.dropped != {"done": 1}:
        raise Trapped(*outcome.dropped)
    return outcome.state["result"]


def value_errors(expression: str, type: str, **more: str) -> list[str]:
    """The codes of the errors of one expression of the given type."""
    return errors(value_spec(expression, type, **more))
