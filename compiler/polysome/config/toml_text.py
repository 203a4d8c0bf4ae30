"""TOML into items.

`tomllib` parses and alone decides what is valid, but tells no positions; tomlkit keeps a document's style, not its
positions either. So a second walk over the text finds where things stand. It runs only on a text that tomllib has
accepted and yields no values, so it is small and cannot disagree about a value; a property test holds the two
against each other.
"""

from __future__ import annotations

import re
import tomllib
from typing import Any

from polysome.config.items import Item, Rejected
from polysome.syntax.diagnostics import Report
from polysome.syntax.spans import Source, Span

Path = tuple[str | int, ...]
Place = tuple[int, int]

_BLANKS = re.compile(r"[ \t]*")
_GAP = re.compile(r"(?:[ \t\r\n,]|#[^\n]*)*")  # also between the values of arrays and inline tables
_KEY = re.compile(r'[A-Za-z0-9_-]+|"(?:\\.|[^"\\])*"|\'[^\']*\'')
_SCALAR = re.compile(
    r'"""(?:\\.|[^\\])*?"""(?:"{0,2})'  # up to two quotes may stand directly before the closing three
    r"|'''.*?'''(?:'{0,2})"
    r'|"(?:\\.|[^"\\])*"'
    r"|'[^']*'"
    r"|\d{4}-\d\d-\d\d \d\d:[^\s,\]}#]+"  # a date and a time may be separated by a space
    r"|[^\s,\]}#]+",
    re.DOTALL,
)
_WHERE = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")
_BARE = re.compile(r"[=,\[{]\s*([^\s\"'\[\]{},#=]+)")


def read_toml(source: Source, report: Report) -> Item:
    """The whole file as a table. Reports E1001 and raises Rejected if it is not valid TOML."""
    try:
        data = tomllib.loads(source.text)
        places = _Places(source.text)
    except RecursionError:
        _syntax_error(source, "Arrays or tables are nested too deep", report)
        raise Rejected from None
    except ValueError as error:  # TOMLDecodeError, or a number of thousands of digits
        _syntax_error(source, str(error), report)
        raise Rejected from None
    return _item(data, (), source.name, places)


def _item(value: Any, path: Path, file: str, places: _Places) -> Item:
    span = Span(file, *places.values.get(path, (0, 0)))
    name = Span(file, *places.names[path]) if path in places.names else None
    if isinstance(value, dict):
        value = {key: _item(member, (*path, key), file, places) for key, member in value.items()}
    elif isinstance(value, list):
        value = [_item(member, (*path, i), file, places) for i, member in enumerate(value)]
    return Item(value, span, name)


class _Places:
    """Where the values and names of a valid document stand, by their path. A `[table]` stands where its header does."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.values: dict[Path, Place] = {}
        self.names: dict[Path, Place] = {}
        self._rows: dict[Path, int] = {}  # how many `[[name]]` there were so far
        table: Path = ()
        while self._skip(_GAP) < len(text):
            if text[self.at] == "[":
                table = self._header()
            else:
                self._pair(table)

    def _skip(self, pattern: re.Pattern[str]) -> int:
        found = pattern.match(self.text, self.at)
        assert found is not None
        self.at = found.end()
        return self.at

    def _header(self) -> Path:
        """`[a.b]` or `[[a.b]]`; the path of the table that begins here."""
        start = self.at
        brackets = 2 if self.text.startswith("[[", start) else 1
        self.at += brackets
        keys = self._keys()
        self.at += brackets
        path: Path = ()
        for i, (key, place) in enumerate(keys, 1):
            path = (*path, key)
            self.names.setdefault(path, place)
            self.values.setdefault(path, place)
            if i == len(keys) and brackets == 2:
                self._rows[path] = self._rows.get(path, 0) + 1
            if path in self._rows:  # a name of an array of tables means its latest row
                path = (*path, self._rows[path] - 1)
        self.values[path] = (start, self.at)
        return path

    def _keys(self) -> list[tuple[str, Place]]:
        """A dotted key, with the blanks around it."""
        keys = []
        while True:
            start = self._skip(_BLANKS)
            end = self._skip(_KEY)
            raw = self.text[start:end]
            key = next(iter(tomllib.loads(raw + "=0"))) if raw[0] in "\"'" else raw
            keys.append((key, (start, end)))
            self._skip(_BLANKS)
            if not self.text.startswith(".", self.at):
                return keys
            self.at += 1

    def _pair(self, path: Path) -> None:
        """`a.b = value` inside the table at `path`."""
        for key, place in self._keys():
            path = (*path, key)
            self.names.setdefault(path, place)
            self.values.setdefault(path, place)
        self.at += 1
        self._skip(_BLANKS)
        self._value(path)

    def _value(self, path: Path) -> None:
        start = self.at
        opening = self.text[start]
        if opening in "[{":
            self.at += 1
            count = 0
            while self.text[self._skip(_GAP)] not in "]}":
                if opening == "[":
                    self._value((*path, count))
                else:
                    self._pair(path)
                count += 1
            self.at += 1
        else:
            self._skip(_SCALAR)
        self.values[path] = (start, self.at)


def _syntax_error(source: Source, text: str, report: Report) -> None:
    """Reports what tomllib says, with the place that it names, and what people usually meant."""
    found = _WHERE.search(text)
    message = text[: found.start()] if found else text
    start = len(source.text.rstrip())
    if found and found[1]:
        line, column = int(found[1]), int(found[2])
        start = sum(len(part) + 1 for part in source.text.split("\n")[: line - 1]) + column - 1
    span, mend = Span(source.name, start, start + 1), "https://toml.io/en/v1.0.0 shows how TOML is written."
    if "overwrite" in message or "Cannot declare" in message or "immutable" in message:
        mend = "A name and a `[table]` stand only once. The rows of a table are an array: `[[name]]` before each row."
    else:
        bare = _unquoted(source, start)
        if bare is not None:
            span, mend = bare, f'Write `"{source.text[bare.start : bare.end]}"`.'
    report.add(
        "E1001",
        f"this is not valid TOML: {message[:1].lower()}{message[1:]}",
        span,
        why="Only numbers, true and false stand without quotes; the file was read up to this place.",
        mend=mend,
    )


def _unquoted(source: Source, at: int) -> Span | None:
    """The first bare value in the line of `at` that is no value: an address or a quantity without quotes."""
    number, _ = source.position(min(at, len(source.text)))
    line = source.line(number)
    start = source.text.rfind("\n", 0, at) + 1
    for found in _BARE.finditer(line.split("#")[0]):
        try:
            tomllib.loads(f"x = {found[1]}")
        except ValueError:
            return Span(source.name, start + found.start(1), start + found.end(1))
    return None
