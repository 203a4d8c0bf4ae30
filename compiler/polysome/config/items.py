"""Values as they stand in a configuration file, each with its place: one shape for TOML, CSV and JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from polysome.syntax.diagnostics import Report
from polysome.syntax.spans import Source, Span

Style = Literal["toml", "json", "csv"]
T = TypeVar("T")


class ConfigFileError(Exception):
    """The command line is at fault: a file that cannot be read, or that cannot be what it was given as."""

    def __init__(self, path: str, message: str) -> None:
        super().__init__(f"{path}: {message}")
        self.path = path
        self.message = message


class Rejected(Exception):
    """This item is wrong, and that was reported."""


@dataclass(frozen=True, slots=True)
class Item:
    """A value and where it stands.

    `value` is a str, int, float, bool, date or None, a list of items, or a dict of items by name. `name` is where the
    name stands under which a table holds it. `cell` marks a text that is all its format has for numbers and booleans
    too: a CSV cell, or the name of a table's member used as a key. `header` is where a CSV row's columns are named.
    """

    value: Any
    span: Span
    name: Span | None = None
    cell: bool = False
    header: Span | None = None

    @property
    def empty(self) -> bool:
        """A CSV cell without text: not given."""
        return self.cell and self.value == ""


def describe(item: Item) -> str:
    """What an item is, for "found …"."""
    match item.value:
        case bool():
            return f"`{str(item.value).lower()}`"
        case int():
            return f"the number {item.value}"
        case float():
            return f"the fraction {item.value}"
        case str():
            return f'"{item.value}"' if len(item.value) <= 40 else "a text"
        case list():
            return f"an array of {len(item.value)}"
        case dict() if item.header is not None:
            return "several columns"
        case dict():
            return "a table"
        case None:
            return "`null`"
        case _:
            return "a date or time"


def collect(jobs: Iterable[Callable[[], T]]) -> list[T]:
    """The results of all jobs. All are run, so that each can report; Rejected if one was."""
    results: list[T] = []
    rejected = False
    for job in jobs:
        try:
            results.append(job())
        except Rejected:
            rejected = True
    if rejected:
        raise Rejected
    return results


def read_source(path: str, report: Report) -> Source:
    """The text of a UTF-8 file, known to `report` for its messages; ConfigFileError if it cannot be read.

    A byte order mark is dropped and line ends become one character, so that places count as editors do.
    """
    try:
        with open(path, "rb") as file:
            text = file.read().decode("utf-8-sig")
    except OSError as error:
        raise ConfigFileError(path, f"cannot be read: {error.strerror or error}") from None
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        byte = error.object[error.start]
        raise ConfigFileError(path, f"is not UTF-8: byte {byte:02x} in line {line}; save it as UTF-8") from None
    source = Source(path, text.replace("\r\n", "\n"))
    report.sources[path] = source
    return source
