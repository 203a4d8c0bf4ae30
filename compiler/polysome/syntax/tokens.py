"""Text to tokens, and what can be said before any grammar: characters, brackets, words of other languages.

What is wrong in a known way is reported and then mended in the token list, so that the parser finds what else is wrong.
"""

from __future__ import annotations

from typing import Any

from antlr4 import CommonTokenStream
from antlr4.Token import CommonToken, Token

from polysome.syntax.brackets import balanced
from polysome.syntax.diagnostics import Report
from polysome.syntax.foreign import Foreign
from polysome.syntax.generated.PolysomeLexer import PolysomeLexer
from polysome.syntax.lexer import Lexer
from polysome.syntax.spans import Span

MOST_ERRORS = 20  # of syntax, in one file: a file with more is no spec

TYPES = {literal.strip("'"): i for i, literal in enumerate(PolysomeLexer.literalNames)}
IDENT, STRING, OTHER = PolysomeLexer.IDENT, PolysomeLexer.STRING, PolysomeLexer.OTHER
_QUOTES = {"'": "'", "“": "”", "”": "”", "„": "“", "‘": "’", "’": "’", "«": "»"}


def tokenise(file: str, text: str, report: Report) -> CommonTokenStream | None:
    """The tokens of a file for the parser; None if its brackets do not match, so that nothing more can be said."""
    stream = CommonTokenStream(Lexer(text))
    stream.fill()
    characters = _Characters(file, text, report)
    found = characters.mended(stream.tokens)
    if characters.cut or not balanced(file, text, found, report):
        return None
    found = Foreign(file, text, report, MOST_ERRORS).mended(found)
    for i, token in enumerate(found):
        token.tokenIndex = i
    stream.tokens = found
    stream.index = 0
    return stream


def like(token: Any, kind: int, text: str, last: Any = None) -> CommonToken:
    """A token of another kind in the place of `token`, or of all from there to `last`."""
    new = token.clone()
    new.type, new.text = kind, text
    new.stop = (last or token).stop
    return new


class _Characters:
    """Characters that begin no token: quotes, comments without end, letters beyond ASCII."""

    def __init__(self, file: str, text: str, report: Report) -> None:
        self.file, self.text, self.report = file, text, report
        self.blamed: set[str] = set()
        self.cut = False  # is the rest of the file in a comment?

    def mended(self, tokens: list[Any]) -> list[Any]:
        found: list[Any] = []
        i = 0
        while i < len(tokens):
            token = tokens[i]
            if self.report.count >= MOST_ERRORS:
                self.cut = True
                return found
            if token.type == TYPES["/"] and self.text.startswith("/*", token.start):
                self._endless(token.start, token.start + 2, "comment", "`/*` reaches to the next `*/`.", "Add `*/`.")
                self.cut = True
                return found
            if token.type != OTHER:
                found.append(token)
                i += 1
            else:
                i = self._odd(tokens, i, found)
        return found

    def _odd(self, tokens: list[Any], i: int, found: list[Any]) -> int:
        """Deal with the character at `i`; the index of what to look at next."""
        token = tokens[i]
        c = token.text
        if c == '"':
            end = token.start + len(self.text[token.start : self._line_end(token.start)].rstrip(" \t;)},"))
            self._endless(
                token.start, end, "text", 'A text stands between two `"` on one line.', 'Add the closing `"`.'
            )
            found.append(like(token, STRING, '""'))
            return self._after(tokens, i, end)
        if c in _QUOTES:
            return self._quoted(tokens, i, found)
        if c == "#":
            end = self._line_end(token.start)
            self._char(Span(self.file, token.start, token.start + 1), c, "A comment begins with `//`.")
            return self._after(tokens, i, end)
        if c == "!":
            self._foreign(token, "`!` is written `not`", "Write `not`.")
            found.append(like(token, TYPES["not"], "not"))
            return i + 1
        if c == "?":
            found.append(token)  # foreign.py knows what it belongs to
            return i + 1
        if c.isalpha():
            return self._name(tokens, i, found)
        self._char(Span(self.file, token.start, token.stop + 1), c, "Remove it.")
        return i + 1

    def _quoted(self, tokens: list[Any], i: int, found: list[Any]) -> int:
        """Text between quotes of another kind, as a text."""
        token = tokens[i]
        limit = self._line_end(token.start)
        end = self.text.find(_QUOTES[token.text], token.start + 1, limit)
        end = end + 1 if end >= 0 else limit
        span = Span(self.file, token.start, end)
        self.report.add(
            "E0103",
            f'text stands between `"`, not `{token.text}`',
            span,
            why="Single and typographic quotes have no meaning.",
            mend=f'Write `"{self.text[token.start + 1 : end].rstrip("".join(_QUOTES.values()) + "; ")}"`.',
        )
        new = like(token, STRING, '""')
        new.stop = end - 1
        found.append(new)
        return self._after(tokens, i, end)

    def _name(self, tokens: list[Any], i: int, found: list[Any]) -> int:
        """A letter beyond ASCII: the whole word becomes a name."""
        first, last = tokens[i], i
        if found and found[-1].type == IDENT and found[-1].stop + 1 == first.start:
            first = found.pop()
        while tokens[last + 1].start == tokens[last].stop + 1 and (
            tokens[last + 1].type == IDENT or (tokens[last + 1].type == OTHER and tokens[last + 1].text.isalpha())
        ):
            last += 1
        word = self.text[first.start : tokens[last].stop + 1]
        if word not in self.blamed:
            self.blamed.add(word)
            self._char(
                Span(self.file, first.start, tokens[last].stop + 1),
                next(c for c in word if not c.isascii()),
                "Write the name in plain letters.",
            )
        found.append(like(first, IDENT, word, tokens[last]))
        return last + 1

    def _after(self, tokens: list[Any], i: int, end: int) -> int:
        while tokens[i].type != Token.EOF and tokens[i].start < end:
            i += 1
        return i

    def _line_end(self, start: int) -> int:
        end = self.text.find("\n", start)
        return len(self.text) if end < 0 else end

    # ------------------------------------------------------------ reports

    def _endless(self, start: int, end: int, what: str, why: str, mend: str) -> None:
        self.report.add("E0103", f"this {what} never ends", Span(self.file, start, end), why=why, mend=mend)

    def _char(self, span: Span, c: str, mend: str) -> None:
        shown = f"`{c}`" if c.isprintable() else f"U+{ord(c):04X}"
        self.report.add(
            "E0110",
            f"the character {shown} has no meaning here",
            span,
            why="Outside of comments and texts, a spec consists of ASCII letters, digits and signs.",
            mend=mend,
        )

    def _foreign(self, token: Any, message: str, mend: str) -> None:
        self.report.add(
            "E0113",
            message,
            Span(self.file, token.start, token.stop + 1),
            why="The language has words for what C writes as signs: `and`, `or`, `not`.",
            mend=mend,
        )
