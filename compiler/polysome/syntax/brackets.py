"""Do the brackets match? If not, the parser could only guess; indentation tells best which one is wrong."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from antlr4.Token import Token

from polysome.syntax.diagnostics import Report
from polysome.syntax.spans import Source, Span

_CLOSING = {"{": "}", "(": ")", "[": "]"}
DEEPEST = 64


@dataclass
class _Open:
    token: Any
    line: int
    indent: int


def balanced(file: str, text: str, tokens: list[Any], report: Report) -> bool:
    """True if every bracket has its partner and none is nested too deeply; else E0111 or E0112 was reported."""
    return _Brackets(file, text, report).check(tokens)


class _Brackets:
    def __init__(self, file: str, text: str, report: Report) -> None:
        self.file, self.report = file, report
        self.source = Source(file, text)
        self.suspect_open: tuple[_Open, Any] | None = None  # its closing bracket is indented less
        self.suspect_close: tuple[_Open, Any] | None = None  # is indented more than what it closes

    def check(self, tokens: list[Any]) -> bool:
        stack: list[_Open] = []
        for token in tokens:
            word = token.text
            if token.type == Token.EOF:
                break
            if word in _CLOSING:
                line, indent = self._place(token)
                stack.append(_Open(token, line, indent))
                if len(stack) > DEEPEST:
                    return self._too_deep(token)
            elif word in ("}", ")", "]"):
                if not stack:
                    return self._unopened(token)
                if _CLOSING[stack[-1].token.text] != word:
                    return self._mismatch(stack, token)
                self._compare(stack.pop(), token)
        return self._unclosed(stack[-1]) if stack else True

    def _place(self, token: Any) -> tuple[int, int]:
        """The line of the token and how far that line is indented."""
        line, _ = self.source.position(token.start)
        text = self.source.line(line).expandtabs(4)
        return line, len(text) - len(text.lstrip())

    def _compare(self, opened: _Open, token: Any) -> None:
        line, indent = self._place(token)
        alone = self.source.line(line).lstrip().startswith(token.text)
        if line == opened.line or not alone:
            return
        if indent < opened.indent and self.suspect_open is None:
            self.suspect_open = (opened, token)
        if indent > opened.indent and self.suspect_close is None:
            self.suspect_close = (opened, token)

    # ------------------------------------------------------------ reports

    def _span(self, token: Any) -> Span:
        return Span(self.file, token.start, token.stop + 1)

    def _unclosed(self, last: _Open) -> bool:
        opened, closing = self.suspect_open or (last, None)
        also = [(self._span(closing), "by its indentation, this one belongs to an outer bracket")] if closing else []
        word = opened.token.text
        self.report.add(
            "E0111",
            f"this `{word}` is never closed",
            self._span(opened.token),
            also=also,
            why="Every bracket has its partner.",
            mend=f"Add `{_CLOSING[word]}` where it ends.",
        )
        return False

    def _unopened(self, token: Any) -> bool:
        opened, closing = self.suspect_close or (None, token)
        also = [(self._span(opened.token), "it closes this one, too early")] if opened else []
        self.report.add(
            "E0111",
            f"there is one `{token.text}` too many",
            self._span(closing),
            label="most likely this one" if opened else "",
            also=also,
            why="Every bracket has its partner.",
            mend="Remove it, or add what it should close.",
        )
        return False

    def _mismatch(self, stack: list[_Open], token: Any) -> bool:
        opened = stack[-1]
        if any(_CLOSING[o.token.text] == token.text for o in stack):
            message, place, other = f"this `{opened.token.text}` is never closed", opened.token, token
            label, mend = f"before this, `{_CLOSING[opened.token.text]}` is missing", "Close it where it ends."
        else:
            message, place, other = f"this `{token.text}` closes nothing", token, opened.token
            label, mend = "the innermost open one", f"Write `{_CLOSING[opened.token.text]}`, or remove it."
        self.report.add(
            "E0111",
            message,
            self._span(place),
            also=[(self._span(other), label)],
            why="Brackets close in the reverse order in which they open.",
            mend=mend,
        )
        return False

    def _too_deep(self, token: Any) -> bool:
        too_deep(self.report, self._span(token))
        return False


def too_deep(report: Report, span: Span) -> None:
    """E0112, for brackets and for everything else that nests."""
    report.add(
        "E0112",
        "this is nested too deeply",
        span,
        why=f"Nobody could read it, and the compiler stops at {DEEPEST} brackets one inside the other.",
        mend="Bind parts of it with `let`, or move them into functions and actions.",
    )


def deepest(source: Source) -> Span:
    """The place that most likely nests too deeply without brackets: the longest statement, or a chain of `else if`."""
    parts = re.finditer(r"[^;{}]+", source.text)
    longest = max(parts, key=lambda m: len(m[0]), default=None)
    chain = re.search(r"else\s+if\b", source.text)
    if chain is not None and (longest is None or len(longest[0]) < _LONG):
        return Span(source.name, chain.start(), chain.end())
    start, end = (longest.start() + len(longest[0]) - len(longest[0].lstrip()), longest.end()) if longest else (0, 1)
    return Span(source.name, start, end)


_LONG = 1000  # characters of a statement that may be too much
