"""Generated C++ in lines that fit a screen: broken where spaces stand, and where words are too long for that, behind a
parenthesis and inside of string literals, of which several in a row are one.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator

WIDTH = 120
_INDENT = "    "
# Operators, those that hold least together first; a line is broken behind them.
_OPERATORS = (";", ",", "=", "? :", "||", "&&", "| ^ &", "== != < > <= >=", "<< >> + -", "* / %")
_RANK = {operator: rank for rank, alike in enumerate(_OPERATORS) for operator in alike.split()}
_TEMPLATE = 100  # brackets that template arguments count for: they are held together more than anything else
_BEHIND = ("?", ":")  # what a line is broken before
_OPEN, _CLOSE = "([{", ")]}"


def fitted(text: str) -> str:
    """The text, in lines of at most WIDTH characters as far as its words allow."""
    return "\n".join(part for line in text.split("\n") for part in _lines(line))


def initialised(members: list[str]) -> list[str]:
    """What stands behind the head of a constructor in a class."""
    return [
        f"{'        : ' if n == 0 else '          '}{m}{' {}' if n == len(members) - 1 else ','}"
        for n, m in enumerate(members)
    ]


def _lines(line: str) -> Iterator[str]:
    if len(line) <= WIDTH or line.lstrip().startswith("#"):
        yield line
        return
    code = line.lstrip()
    indent = line[: len(line) - len(code)]
    comment = re.match(r"//[/<]* ?", code)
    if comment is not None:
        again = re.match(r"/+", code)[0] + " "  # type: ignore[index]
        yield from textwrap.wrap(code, WIDTH, initial_indent=indent, subsequent_indent=indent + again)
        return
    code, remark = _without_comment(code)
    if remark:
        yield from _lines(indent + remark)
    if body := _block(code):
        head, statements = body
        yield from _lines(indent + head)
        for statement in statements:
            yield from _lines(indent + _INDENT + statement)
        yield indent + "}"
        return
    for statement in _statements(code):
        if conditional := _conditional(statement):
            yield from _filled(conditional[0], indent, indent + 2 * _INDENT)
            yield from _filled(conditional[1], indent + _INDENT, indent + 2 * _INDENT)
            continue
        further = indent + _INDENT * (2 if statement.endswith("{") else 1)
        yield from _filled(statement, indent, further)


def _filled(text: str, first: str, further: str) -> list[str]:
    """The text behind `first`, as much of it in a line as fits, but one statement, the others behind `further`."""
    if len(first) + len(text) <= WIDTH:
        return [first + text]
    parts = _parts(text, outside=True) or _parts_of_word(text, WIDTH - len(first)) or _parts(text)
    if not parts:
        return [first + text]
    lines, current, begun = list[str](), first, False
    for part in parts:
        joined = f"{current} {part}" if begun else current + part
        if len(joined) <= WIDTH and not current.endswith((";", " }")):
            current, begun = joined, True
            continue
        if begun:
            lines.append(current)
            current = further
        *whole, current = _filled(part, current, further + _INDENT)
        lines += whole
        begun = True
    return [*lines, current]


def _parts(text: str, outside: bool = False) -> list[str]:
    """The text, broken wherever it holds least together, maybe only `outside` of template arguments; [] if there is no
    such place.
    """
    places = [place for place in _places(text) if place[0][0] < _TEMPLATE or not outside]
    if not places:
        return []
    loosest = min(rank for rank, _ in places)
    parts, begin = [], 0
    for rank, at in places:
        if rank == loosest:
            parts.append(text[begin:at].strip())
            begin = at
    return [*parts, text[begin:].strip()]


def _places(text: str) -> Iterator[tuple[tuple[int, int], int]]:
    """Spaces where a line may be broken, each with how much holds it together: brackets around it, then operators."""
    before = ""
    for depth, begin, end in _words(text):
        word = text[begin:end]
        if before and word in _BEHIND:
            yield (depth, _RANK[word]), begin
        elif before in _RANK and before not in _BEHIND:
            yield (depth, _RANK[before]), begin
        elif before.endswith((",", ";")):
            yield (depth, _RANK[before[-1]]), begin
        elif before == "}" or (before.endswith(":") and word == "return"):  # of a block
            yield (depth, _RANK[";"]), begin
        elif before == "[[unlikely]]" or (depth == 0 and before.endswith(")") and word[0].isalpha()):
            yield (depth, _RANK["?"]), begin
        before = word


def _words(text: str) -> Iterator[tuple[int, int, int]]:
    """(depth in brackets, begin, end) of each word between spaces; a space in a string literal is none."""
    depth, begin = 0, 0
    closing: list[str] = []
    started = 0
    for at, c in _outside(text):
        if c == " ":
            if at > begin:
                yield started, begin, at
            begin, started = at + 1, depth + _TEMPLATE * closing.count(">")
        elif c in _OPEN:
            depth += 1
            closing.append(_CLOSE[_OPEN.index(c)])
        elif (
            c == "<"
            and at
            and (text[at - 1].isalnum() or text[at - 1] == "_")
            and text[at + 1 : at + 2] not in ("=", "<")
        ):
            closing.append(">")
        elif closing and c == closing[-1] and (c != ">" or text[at - 1] not in "- "):
            closing.pop()
            depth -= c != ">"
    if len(text) > begin:
        yield started, begin, len(text)


def _outside(text: str) -> Iterator[tuple[int, str]]:
    """The characters outside string and character literals, each with its place."""
    quote = ""
    escaped = False
    for at, c in enumerate(text):
        if quote:
            escaped, ended = c == "\\" and not escaped, c == quote and not escaped
            quote = "" if ended else quote
        elif c in "\"'":
            quote = c
        else:
            yield at, c


def _without_comment(code: str) -> tuple[str, str]:
    """The code, and the comment behind it."""
    slashes = [at for at, c in _outside(code) if c == "/" and code.startswith("//", at)]
    return (code[: slashes[0]].rstrip(), code[slashes[0] :].replace("///<", "///")) if slashes else (code, "")


def _statements(code: str) -> list[str]:
    """Statements that stand on one line, outside of brackets."""
    ends = [begin for depth, begin, _ in _words(code) if depth == 0 and code[:begin].rstrip().endswith(";")]
    return [code[a:b].strip() for a, b in zip([0, *ends], [*ends, len(code)], strict=True)]


def _conditional(statement: str) -> tuple[str, str] | None:
    """Of `if (condition) statement` both."""
    if not statement.startswith("if (") or not statement.endswith(";"):
        return None
    ends = [begin for depth, begin, _ in _words(statement) if depth == 0 and statement[:begin].endswith((") ", "]] "))]
    return (statement[: ends[-1]].rstrip(), statement[ends[-1] :]) if ends else None


def _block(code: str) -> tuple[str, list[str]] | None:
    """Of `head { statements }` both."""
    if not code.endswith(" }"):
        return None
    begins = [begin for depth, begin, end in _words(code) if depth == 0 and code[begin:end].startswith("{")]
    if not begins or not re.search(r"[\w)>]$", code[: begins[-1]].rstrip()):
        return None
    inner = code[begins[-1] + 1 : -1].strip()
    return (code[: begins[-1]] + "{", _statements(inner)) if inner.endswith((";", "}")) else None


def _parts_of_word(text: str, room: int) -> list[str]:
    """What has no such place, as two parts of which the first one fits: behind a word of a string literal, or behind a
    parenthesis.
    """
    outside = {at for at, _ in _outside(text)}
    for at in range(min(room, len(text)) - 1, 0, -1):
        if at in outside and text[at] == "(" and at + 1 < len(text):
            return [text[: at + 1], text[at + 1 :]]
        if at not in outside and text[at] == " " and at < room - 1:
            return [f'{text[: at + 1]}"', f'"{text[at + 1 :]}']
    return []
