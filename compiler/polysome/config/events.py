"""Changes of the configuration at run time: `--events FILE` (LANGUAGE.md L8.3)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NoReturn

from polysome.config.assign import Assignments
from polysome.config.declarations import check_declarations
from polysome.config.items import Item, Rejected, describe, read_source
from polysome.config.json_text import read_json_line
from polysome.config.scalars import Wrong, WrongShape, scalar
from polysome.config.shapes import item_sample
from polysome.ir import program as ir
from polysome.ir import types as t
from polysome.syntax.diagnostics import Report, did_you_mean
from polysome.syntax.spans import Span

_MEMBERS = ("at", "set")


@dataclass(frozen=True)
class ConfigChange:
    """What changes at one instant: `values` by name, in the form of `load_config`.

    Exactly one of the times is given: `offset_ns` after the trace's first packet, or `absolute_ns` since 1970. `line`
    is that of the event file.
    """

    offset_ns: int | None
    absolute_ns: int | None
    values: Mapping[str, Any]
    line: int

    def due(self, first_packet: int) -> int:
        """When it happens, in ns since 1970, if the first packet came at `first_packet`."""
        if self.offset_ns is not None:
            return first_packet + self.offset_ns
        assert self.absolute_ns is not None
        return self.absolute_ns


def in_order(changes: Iterable[ConfigChange], first_packet: int) -> list[ConfigChange]:
    """The changes by time; at one instant in file order (LANGUAGE.md L2.3)."""
    return sorted(changes, key=lambda change: change.due(first_packet))


def load_events(program: ir.Program, path: str, report: Report) -> list[ConfigChange]:
    """The changes in an event file, in file order: lines need not be sorted by time, `in_order` does that.

    Raises ConfigFileError if the file cannot be read, else SpecError with everything that is wrong in it.
    """
    check_declarations(program, report)
    source = read_source(path, report)
    changes = []
    start = 0
    for number, line in enumerate(source.text.split("\n"), 1):
        end = start + len(line)
        if line.strip():
            with suppress(Rejected):  # reported; the other lines are still looked at
                changes.append(_change(read_json_line(source, start, end, report), number, program, report))
        start = end + 1
    report.stop_on_errors()
    return changes


def _change(line: Item, number: int, program: ir.Program, report: Report) -> ConfigChange:
    members = line.value
    if not isinstance(members, dict):
        _wrong_line(f"expected an object, found {describe(line)}", line.span, program, report)
    for name in members:
        if name not in _MEMBERS:
            hint = did_you_mean(name, _MEMBERS)
            _wrong_line(f"there is no `{name}` in a change", members[name].name, program, report, hint)
    missing = [name for name in _MEMBERS if name not in members]
    if missing:
        _wrong_line(f"`{missing[0]}` is missing", line.span, program, report)
    offset, absolute = _at(members["at"], report)
    return ConfigChange(offset, absolute, _values(members["set"], program, report), number)


def _values(item: Item, program: ir.Program, report: Report) -> dict[str, Any]:
    if not isinstance(item.value, dict):
        _wrong_line(f"expected an object of config items, found {describe(item)}", item.span, program, report)
    given = Assignments(program, report)
    given.all_of(item, "json")
    return given.values


def _at(item: Item, report: Report) -> tuple[int | None, int | None]:
    """Offset and absolute time in ns, one of them None."""
    try:
        if isinstance(item.value, str):
            return scalar(item, t.DURATION, ()), None
        if isinstance(item.value, int) and not isinstance(item.value, bool):
            return None, scalar(item, t.TIME, ())
        message = f"expected a time, found {describe(item)}"
    except Wrong as wrong:
        message = wrong.message
    except WrongShape as wrong:
        message = f"expected {wrong.expected}, found {describe(item)}"
    report.add(
        "E1103",
        message,
        item.span,
        why="A duration in quotes counts from the first packet; a whole number is nanoseconds since 1970.",
        mend='Write for example `"at": "2s"`.',
    )
    return None, None


def _wrong_line(message: str, span: Span | None, program: ir.Program, report: Report, mend: str = "") -> NoReturn:
    example = next((item_sample(d.name, d.type, program.ports, "json") for d in program.config.values()), "{…}")
    report.add(
        "E1102",
        message,
        span,
        why="Each line says when (`at`) and what changes (`set`).",
        mend=mend or f'Write for example `{{"at": "2s", "set": {example}}}`.',
    )
    raise Rejected
