"""The lexer: ANTLR's, which takes a microsecond for each character, but not for those of blanks and comments."""

from __future__ import annotations

import re
from typing import Any

from antlr4 import InputStream

from polysome.syntax.generated.PolysomeLexer import PolysomeLexer

# As in the grammar; a comment without end is none.
BLANKS, COMMENT = r"[ \t\r\n]++", r"//[^\r\n]*+|/\*(?s:.)*?\*/"
_GAP = re.compile(f"(?:{BLANKS}|{COMMENT})*+")


class Lexer(PolysomeLexer):  # type: ignore[misc]  # generated
    """The tokens that are neither blanks nor comments. They know their line and offset, but no column."""

    def __init__(self, text: str) -> None:
        super().__init__(InputStream(text))
        self.removeErrorListeners()

    def nextToken(self) -> Any:
        gap = _GAP.match(self._input.strdata, self._input.index)
        assert gap is not None
        self._interp.line += gap.group().count("\n")
        self._input.seek(gap.end())
        return super().nextToken()
