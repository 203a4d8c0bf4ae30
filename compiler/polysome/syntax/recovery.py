"""What the parser does at an error: leave out the statement or declaration, and go on behind it.

ANTLR's own recovery inserts and deletes single tokens, which finds many errors where there is one cause.
"""

from __future__ import annotations

from typing import Any

from antlr4.error.Errors import InputMismatchException, RecognitionException
from antlr4.error.ErrorStrategy import DefaultErrorStrategy
from antlr4.Token import Token

from polysome.syntax.generated.PolysomeParser import PolysomeParser

_RULES = {name: i for i, name in enumerate(PolysomeParser.ruleNames)}
# Where a list of items stands, an item that cannot begin is left out.
_LISTS = frozenset(
    _RULES[r]
    for r in (
        "program",
        "nfDecl",
        "blockDecl",
        "headerDecl",
        "parserDecl",
        "stateBlock",
        "clauses",
        "block",
        "propertyDecl",
    )
)
# What is left out as a whole if something in it is wrong.
_ITEMS = frozenset(
    _RULES[r]
    for r in (
        *("item", "nfItem", "headerItem", "parserItem", "selectCase", "clause", "stateDeclaration", "indexDecl"),
        *("propertyItem", "statement", "single"),
    )
)


def same_line(before: Any, token: Any) -> bool:
    """Does the token stand on the line on which the other one ends?"""
    return bool(before is not None and before.line + before.text.count("\n") == token.line)


class Recovery(DefaultErrorStrategy):  # type: ignore[misc]
    """Panics to the end of the innermost item; brackets are known to match."""

    def __init__(self) -> None:
        super().__init__()
        self.missing: Any = None  # the token before which `;` was missing: nothing is left out there
        self.resumed = -1

    def sync(self, recognizer: Any) -> None:
        """In a list, leave out what begins no item."""
        if recognizer._ctx.getRuleIndex() not in _LISTS:
            return
        state = recognizer._interp.atn.states[recognizer.state]
        expected = recognizer._interp.atn.nextTokens(state)
        while True:
            la = recognizer.getTokenStream().LA(1)
            if la in expected or la == Token.EOF or Token.EPSILON in expected:
                return
            if recognizer.getCurrentToken().text == "}" and recognizer._ctx.getRuleIndex() != _RULES["program"]:
                return
            self.endErrorCondition(recognizer)
            self.reportError(recognizer, InputMismatchException(recognizer))
            self._leave_out(recognizer)
            self.endErrorCondition(recognizer)

    def recoverInline(self, recognizer: Any) -> Any:
        """A missing `;` is reported and taken as there; all else is an error."""
        error = InputMismatchException(recognizer)
        if self.lacks_semicolon(recognizer):
            self.reportError(recognizer, error)
            self.endErrorCondition(recognizer)
            return self.getMissingSymbol(recognizer)
        raise error

    def recover(self, recognizer: Any, e: RecognitionException) -> None:
        if recognizer._ctx.getRuleIndex() not in _ITEMS:
            raise e
        if self.missing is not recognizer.getCurrentToken():
            self._leave_out(recognizer, _depth(recognizer))
        elif self.resumed == recognizer.getTokenStream().index:
            recognizer.consume()  # the second time at one place: get on
        self.resumed = recognizer.getTokenStream().index
        self.missing = None
        self.endErrorCondition(recognizer)

    def lacks_semicolon(self, recognizer: Any) -> bool:
        """Is `;` what should stand before the current token, which begins something new?"""
        token, before = recognizer.getCurrentToken(), recognizer.getTokenStream().LT(-1)
        semicolon = any(recognizer.literalNames[t] == "';'" for t in _each(recognizer.getExpectedTokens()))
        begins = token.type == Token.EOF or token.text == "}" or not same_line(before, token) or token.text in _STARTS
        found = semicolon and begins and before is not None
        if found:
            self.missing = token
        return found

    def _leave_out(self, recognizer: Any, depth: int = 0) -> None:
        """Consume up to the end of the item in which the current token stands, `depth` brackets deep."""
        outermost = recognizer._ctx.parentCtx is None
        while recognizer.getTokenStream().LA(1) != Token.EOF:
            token = recognizer.getCurrentToken()
            word = token.text
            if word == "}" and depth == 0 and not outermost:
                return
            recognizer.consume()
            depth += {"{": 1, "}": -1}.get(word, 0)
            following = recognizer.getCurrentToken()
            if depth == 0 and word == ";":
                return
            if (
                depth == 0
                and word == "}"
                and following.text not in (";", ",", ")", "]", "else")
                and not same_line(token, following)
            ):
                return


def _depth(recognizer: Any) -> int:
    """How many braces the rule has opened before the current token."""
    tokens = recognizer.getTokenStream().tokens
    inner = tokens[recognizer._ctx.start.tokenIndex : recognizer.getCurrentToken().tokenIndex]
    return sum({"{": 1, "}": -1}.get(t.text, 0) for t in inner)


_STARTS = ("let", "if", "for", "require", "send", "bounce", "drop", "emit", "push", "pop", "truncate", "remove")


def _each(intervals: Any) -> list[int]:
    """The token types in ANTLR's set of intervals."""
    found: list[int] = []
    for interval in intervals or ():
        found += interval if hasattr(interval, "__iter__") else [interval]
    return [t for t in found if 0 < t < len(PolysomeParser.literalNames)]
