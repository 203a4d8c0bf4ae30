"""What a formatter must keep: every token and every comment, in order, and how they stood in the source."""

from __future__ import annotations

import re
from dataclasses import dataclass

from antlr4.Token import Token

from polysome.syntax.generated.PolysomeLexer import PolysomeLexer
from polysome.syntax.lexer import BLANKS, COMMENT, Lexer


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
    lexer = Lexer(text)
    found: list[Atom] = []
    number, end = 0, 0
    while not found or found[-1].kind != Token.EOF:
        token = lexer.nextToken()
        newlines = blanks = 0
        for piece in _PIECE.finditer(text, end, token.start):
            start, shown = piece.start(), piece.group()
            if piece.lastgroup == "blanks":
                newlines = shown.count("\n")
                blanks = len(shown) - shown.rfind("\n") - 1
                continue
            kind = PolysomeLexer.DOC if shown.startswith("///") else PolysomeLexer.COMMENT
            found.append(Atom(shown.rstrip(), kind, number, True, newlines, blanks, _column(text, start)))
            newlines = blanks = 0
        shown = "" if token.type == Token.EOF else token.text
        found.append(Atom(shown, token.type, number, False, newlines, blanks, _column(text, token.start)))
        number, end = number + 1, token.stop + 1
    return found


_PIECE = re.compile(f"(?P<blanks>{BLANKS})|{COMMENT}")


def _column(text: str, at: int) -> int:
    return at - text.rfind("\n", 0, at) - 1
