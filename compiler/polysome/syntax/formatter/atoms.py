"""What a formatter must keep: every token and every comment, in order, and how they stood in the source."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from antlr4 import InputStream
from antlr4.Token import Token

from polysome.syntax.generated.PolysomeLexer import PolysomeLexer


@dataclass(frozen=True, slots=True)
class Atom:
    """A token or a comment.

    `token` is the number of the token, or for a comment of the token that follows it. `newlines`, `blanks` and `column`
    say how it stood in the source: the line ends and, on its own line, the blanks before it; characters from 0.
    """

    text: str
    kind: int
    token: int
    comment: bool
    newlines: int
    blanks: int
    column: int

    @property
    def to_line_end(self) -> bool:
        """Does nothing else fit on its line?"""
        return self.comment and self.text.startswith("//")


def atoms_of(text: str) -> list[Atom]:
    """All tokens and comments of a text without errors, the end of the file as the last one, with an empty text."""
    lexer = PolysomeLexer(InputStream(text))
    lexer.removeErrorListeners()
    found: list[Atom] = []
    number = newlines = blanks = 0
    for token in _tokens(lexer):
        if token.type == PolysomeLexer.SPACE:
            newlines += token.text.count("\n")
            blanks = len(token.text) - token.text.rfind("\n") - 1
            continue
        comment = token.type in (PolysomeLexer.DOC, PolysomeLexer.COMMENT)
        shown = "" if token.type == Token.EOF else token.text.rstrip() if comment else token.text
        found.append(Atom(shown, token.type, number, comment, newlines, blanks, token.column))
        newlines = blanks = 0
        number += not comment
    return found


def _tokens(lexer: Any) -> Any:
    while True:
        token = lexer.nextToken()
        yield token
        if token.type == Token.EOF:
            return
