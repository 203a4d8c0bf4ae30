"""The tables of PROTOCOL.md: each stands behind a line that names it, up to the next empty line."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping

from polysome_protocol import ETHERNET, TAG, TOLD
from polysome_protocol.headers import Field, Header

_PLACE = re.compile(r"(<!-- protocol\.toml: (\w+) -->\n)((?:\|[^\n]*\n)*)")


def written(page: str) -> str:
    """The page with all its tables as the data says. KeyError for a table that there is not."""
    return _PLACE.sub(lambda found: found[1] + "".join(f"{line}\n" for line in TABLES[found[2]]()), page)


def names(page: str) -> list[str]:
    """Of the tables that it has."""
    return [found[2] for found in _PLACE.finditer(page)]


def _headers(*headers: Header) -> Iterator[str]:
    yield "| byte | bits | field | |"
    yield "|---|---|---|---|"
    before = 0
    for header in headers:
        for field in header.fields:
            yield f"| {'' if field.first % 8 else before + field.at} {_row(field)}"
        before += header.size
    yield f"| {before} | | content | |"


def _row(field: Field) -> str:
    title = field.title or field.name.replace("_", " ")
    bits = f"{field.spare} + {field.bits - field.spare}" if field.spare else str(field.bits)
    return f"| {bits} | {'0, ' if field.spare else ''}{title} | {_about(field)} |"


class _Section:
    """`section.name` of a text stands for that number."""

    def __init__(self, numbers: Mapping[str, int]) -> None:
        self.__dict__.update(numbers)


def _about(field: Field) -> str:
    return field.about.format(**{name: _Section(told) for name, told in TOLD.items() if name != "headers"})


TABLES: Mapping[str, Callable[[], Iterator[str]]] = {
    "tag": lambda: _headers(ETHERNET, TAG),
}
