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
_BARE = re.compile(r"[=,\[{]\s*+([^\s\"'\[\]{},=]++)(?!\s*=)")  # behind `=`, or in an array
_NAME = re.compile(r"^\s*([^\s=][^=]*?)\s*(?:=|$)")
_TWICE = ("overwrite", "Cannot declare", "Cannot mutate")


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
    at = len(source.text.rstrip())
    if found and found[1]:
        at = sum(len(line) + 1 for line in source.text.split("\n")[: int(found[1]) - 1]) + int(found[2]) - 1
    span = Span(source.name, at, at + 1)
    why, mend = "The file makes sense up to this place.", "https://toml.io/en/v1.0.0 shows how TOML is written."
    bare = _first(_BARE, source, at)
    if any(word in message for word in _TWICE):
        span = _first(_NAME, source, at) or span
        message = "this stands twice"
        why = "TOML does not say which of them would count."
        mend = "Remove one. The rows of a table are an array: write `[[name]]` before each row."
    elif bare is not None:
        span = bare
        why = "Only numbers, dates, true and false stand without quotes."
        mend = f'Write `"{source.text[bare.start : bare.end]}"`.'
    elif message == "Unclosed array":
        mend = "Close it with `]`."
    elif message == "Unclosed inline table" or source.text[at : at + 1] == "\n":
        why = "In TOML, `{ … }` cannot go over several lines, and a value begins in the line of its name."
        mend = "Write it in one line, or write `[name]` or `[[name]]` and each member in a line of its own."
    report.add("E1001", f"this is not valid TOML: {message[:1].lower()}{message[1:]}", span, why=why, mend=mend)


def _first(pattern: re.Pattern[str], source: Source, at: int) -> Span | None:
    """Of the first match in the line of `at`, its group; not if that is valid TOML as a value."""
    start = source.text.rfind("\n", 0, at) + 1
    line = source.line(source.position(at)[0])
    for found in pattern.finditer(line.split("#")[0]):
        try:
            tomllib.loads(f"x = {found[1]}")
        except ValueError:
            return Span(source.name, start + found.start(1), start + found.end(1))
    return None
