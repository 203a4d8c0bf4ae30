"""A file taken apart at its declarations, each of whose texts is parsed once in a process.

Programs for the switch differ in few of their declarations, and ANTLR takes most of the time of reading one. A parse
tree follows from the text and the rule alone; where the text stands is added when the syntax tree is built.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any

from polysome.p4 import ast
from polysome.p4.build import Builder
from polysome.p4.rules import tree
from polysome.syntax.diagnostics import Report
from polysome.syntax.spans import Span

_SKIPPED = r"//[^\r\n]*|/\*.*?\*/|@pragma[^\r\n]*"
_BLANK = re.compile(rf"(?:[ \t\r\n]|{_SKIPPED})*", re.DOTALL)
_MARK = re.compile(rf'{_SKIPPED}|\#[^\r\n]*|"(?:[^"\\\r\n]|\\.)*"|[{{}};]', re.DOTALL)
_SEMICOLON = re.compile(r"[ \t\r\n]*;")
_WORD = re.compile(r"\w*")

Build = Callable[[Report], Any]


class Whole(Exception):
    """The text must be parsed as a whole: it is not taken apart so, or its syntax is wrong."""


def file_of(name: str, text: str, report: Report) -> ast.File:
    """The tree of a file of right syntax. Raises Whole, before anything is reported."""
    found = list(_declarations(text, 0, len(text)))
    if not found:
        raise Whole
    builds = [_item(name, text, start, stop) for start, stop in found]
    return ast.File(Span(name, found[0][0], found[-1][1]), tuple(build(report) for build in builds))


def _declarations(text: str, first: int, end: int) -> Iterator[tuple[int, int]]:
    """Where each begins and ends: at a semicolon or a brace that is in no other one, or with its line."""
    depth, start = 0, _after_blanks(text, first)
    for mark in _MARK.finditer(text, start, end):
        what = mark[0][0]
        depth += (what == "{") - (what == "}")
        if depth < 0:
            raise Whole
        if depth or what not in "};#" or (what == "}" and _SEMICOLON.match(text, mark.end(), end)):
            continue
        yield start, mark.end()
        start = _after_blanks(text, mark.end())
    if start < end:
        raise Whole


def _after_blanks(text: str, at: int) -> int:
    found = _BLANK.match(text, at)
    return found.end() if found is not None else at


def _item(name: str, text: str, start: int, stop: int) -> Build:
    if _word(text, start) in ("parser", "control"):
        return _block(name, text, start, stop)
    ctx = _parsed("program", text[start:stop]).item()[0]
    return lambda report: Builder(name, report, start).item(ctx)


def _block(name: str, text: str, start: int, stop: int) -> Build:
    """A parser or a control: its head, and what stands in it, by themselves."""
    span, head = Span(name, start, stop), text[start : _first_brace(text, start, stop)]
    inside = list(_declarations(text, start + len(head) + 1, stop - 1))
    control, locals_ = _word(text, start) == "control", []
    while inside and _word(text, inside[0][0]) not in ("state", "apply"):
        locals_.append(_part("local", text, *inside.pop(0)))
    ctx = _parsed("program", head + ("{apply{}}" if control else "{}")).item()[0]
    if control:
        if len(inside) != 1 or _word(text, inside[0][0]) != "apply":
            raise Whole
        at, end = inside[0]
        rest = [_part("block", text, _after_blanks(text, at + len("apply")), end)]
    else:
        rest = [_part("state_", text, *state) for state in inside]

    def build(report: Report) -> ast.Item:
        empty = Builder(name, report, start).item(ctx)
        before = tuple(Builder(name, report, at).local(c) for at, c in locals_)
        if isinstance(empty, ast.Control):
            (at, body) = rest[0]
            return ast.Control(span, empty.name, empty.params, before, Builder(name, report, at).block(body))
        assert isinstance(empty, ast.Parser)
        states = tuple(Builder(name, report, at).state(c) for at, c in rest)
        return ast.Parser(span, empty.name, empty.params, before, states)

    return build


def _first_brace(text: str, start: int, stop: int) -> int:
    return next(mark.start() for mark in _MARK.finditer(text, start, stop) if mark[0] == "{")


def _word(text: str, at: int) -> str:
    found = _WORD.match(text, at)
    return found[0] if found is not None else ""


def _part(rule: str, text: str, start: int, stop: int) -> tuple[int, Any]:
    return start, _parsed(rule, text[start:stop])


@lru_cache(maxsize=4096)
def _parsed(rule: str, text: str) -> Any:
    """ANTLR's tree of a text that is all of the rule."""
    found = tree(text, rule)
    if found is None:
        raise Whole
    return found
