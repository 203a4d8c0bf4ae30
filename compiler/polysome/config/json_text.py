"""A line of JSON into items. The `json` module parses scalars and decides what is valid; this adds the places."""

from __future__ import annotations

import json
import re
from typing import Any, NoReturn

from polysome.config.items import Item, Rejected
from polysome.syntax.diagnostics import Report
from polysome.syntax.spans import Source, Span

_GAP = re.compile(r"[ \t\r,:]*")
_DECODER = json.JSONDecoder()


def read_json_line(source: Source, start: int, end: int, report: Report) -> Item:
    """The value in the characters `start` to `end`. Reports E1101 and raises Rejected if that is not valid JSON."""
    try:
        json.loads(source.text[start:end], parse_constant=_no_constant)
        return _Walk(source, start, report).value()
    except json.JSONDecodeError as error:
        at, message = start + error.pos, error.msg[:1].lower() + error.msg[1:]
    except RecursionError:
        at, message = start, "arrays or objects are nested too deep"
    except _NoNumber as error:
        at, message = source.text.index(error.name, start), f"`{error.name}` is no number there"
    except ValueError as error:  # a number of thousands of digits
        at, message = start, str(error)
    report.add(
        "E1101",
        f"this is not valid JSON: {message}",
        Span(source.name, at, at + 1),
        why="Each line of an event file is one JSON object; line breaks inside one are not possible.",
        mend='Write for example `{"at": "2s", "set": {…}}` in one line.',
    )
    raise Rejected


class _NoNumber(Exception):
    """NaN or an infinity, which Python's parser would accept."""

    def __init__(self, name: str) -> None:
        self.name = name


def _no_constant(name: str) -> NoReturn:
    raise _NoNumber(name)


class _Walk:
    """Follows valid JSON from `at`."""

    def __init__(self, source: Source, at: int, report: Report) -> None:
        self.source, self.at, self.report = source, at, report

    def _next(self) -> str:
        """The next character behind blanks, commas and colons, which a valid text has where they belong."""
        found = _GAP.match(self.source.text, self.at)
        assert found is not None
        self.at = found.end()
        return self.source.text[self.at]

    def value(self, name: Span | None = None) -> Item:
        """The value that begins here."""
        opening = self._next()
        start = self.at
        value: Any
        if opening == "{":
            value = self._object()
        elif opening == "[":
            self.at += 1
            value = []
            while self._next() != "]":
                value.append(self.value())
            self.at += 1
        else:
            value, self.at = _DECODER.raw_decode(self.source.text, self.at)
        return Item(value, self._from(start), name)

    def _object(self) -> dict[str, Item]:
        self.at += 1
        members: dict[str, Item] = {}
        while self._next() != "}":
            start = self.at
            key, self.at = _DECODER.raw_decode(self.source.text, self.at)
            name = self._from(start)
            if key in members:
                self._twice(key, name, members[key])
            members[key] = self.value(name)
        self.at += 1
        return members

    def _from(self, start: int) -> Span:
        return Span(self.source.name, start, self.at)

    def _twice(self, key: str, name: Span, first: Item) -> None:
        assert first.name is not None
        self.report.add(
            "E1101",
            f'"{key}" stands twice in this object',
            name,
            also=[(first.name, "first here")],
            why="JSON does not say which of them counts.",
            mend="Remove one.",
        )
