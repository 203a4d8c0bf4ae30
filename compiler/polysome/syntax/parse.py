"""Text to AST."""

from __future__ import annotations

from typing import Any

from antlr4 import CommonTokenStream, InputStream
from antlr4.atn.PredictionMode import PredictionMode
from antlr4.error.ErrorListener import ErrorListener
from antlr4.Token import Token

from polysome.syntax import ast
from polysome.syntax.build import Builder
from polysome.syntax.diagnostics import Report, did_you_mean
from polysome.syntax.generated.PolysomeLexer import PolysomeLexer
from polysome.syntax.generated.PolysomeParser import PolysomeParser
from polysome.syntax.spans import Source, Span

_FOREIGN = {
    "&&": "Write `and`.",
    "||": "Write `or`.",
    "!": "Write `not`.",
    "?": "Write `if c { a } else { b }`.",
    "->": "",
    "return": "A block's value is its last expression, without a semicolon.",
    "while": "Loops run over bounded ranges, lists and maps: `for`.",
    "else": "`else` after a lookup stands directly in `let`, `require` and `=`.",
}


def parse(name: str, text: str, report: Report) -> ast.File | None:
    """The AST of `text`, or None if its syntax is wrong (then `report` says where)."""
    report.sources[name] = Source(name, text)
    before = len(report.errors)
    lexer = PolysomeLexer(InputStream(text))
    lexer.removeErrorListeners()
    stream = CommonTokenStream(lexer)
    parser = PolysomeParser(stream)
    parser._interp.predictionMode = PredictionMode.SLL
    parser.removeErrorListeners()
    parser.addErrorListener(_Listener(name, text, report))
    tree = parser.program()
    if len(report.errors) > before:
        return None
    return Builder(name, report).file_node(tree)


def parse_expression(name: str, text: str, report: Report) -> ast.Expr | None:
    """The AST of a single expression, as given for a param on the command line; None if its syntax is wrong."""
    report.sources[name] = Source(name, text)
    before = len(report.errors)
    lexer = PolysomeLexer(InputStream(text))
    lexer.removeErrorListeners()
    parser = PolysomeParser(CommonTokenStream(lexer))
    parser.removeErrorListeners()
    parser.addErrorListener(_Listener(name, text, report))
    tree = parser.single()
    if len(report.errors) > before:
        return None
    return Builder(name, report).expr(tree.expr())


class _Listener(ErrorListener):  # type: ignore[misc]
    """Turns ANTLR's syntax errors into diagnostics."""

    def __init__(self, file: str, text: str, report: Report) -> None:
        self.file, self.text, self.report = file, text, report

    def syntaxError(  # noqa: N802 (ANTLR's name)
        self, recognizer: Any, offendingSymbol: Any, line: int, column: int, msg: str, e: Any
    ) -> None:
        token = offendingSymbol
        span = self._span(token)
        expected = _expected(recognizer, e)
        shown = "the end of the file" if token.type == Token.EOF else f"`{token.text}`"
        pair = self.text[token.start : token.start + 2]
        if ";" in expected:
            self._missing_semicolon(recognizer, token, span, shown)
            return
        hint = _FOREIGN.get(pair) or _FOREIGN.get(token.text) or _hint(token.text, expected)
        if token.text == '"':
            self.report.add("E0103", "this text never ends", span, why="Text stands between two `\"` on one line.",
                            mend='Add the closing `"`.')
            return
        self.report.add(
            "E0101",
            f"{shown} cannot stand here",
            span,
            label=_list(expected) if expected else "",
            why="The grammar does not allow this here.",
            mend=hint,
        )

    def _missing_semicolon(self, recognizer: Any, token: Any, span: Span, shown: str) -> None:
        previous = recognizer.getTokenStream().LT(-1)
        pair = self.text[token.start : token.start + 2]
        hint = _FOREIGN.get(pair) or _FOREIGN.get(token.text)
        if hint or previous is None or recognizer.getTokenStream().LT(1) is not token:
            self.report.add("E0101", f"{shown} cannot stand here", span, why="The grammar does not allow this here.",
                            mend=hint or "")
            return
        self.report.add(
            "E0102",
            "a `;` is missing",
            Span(self.file, previous.stop, previous.stop + 1),
            label="after this",
            why=f"The next word, {shown}, cannot continue what stands before it.",
            mend="Add `;`.",
        )

    def _span(self, token: Any) -> Span:
        if token.type == Token.EOF:
            end = len(self.text.rstrip())
            return Span(self.file, max(0, end - 1), end)
        return Span(self.file, token.start, token.stop + 1)


def _expected(recognizer: Any, error: Any) -> list[str]:
    """What could have stood here, as a user would write it."""
    try:
        tokens = recognizer.getExpectedTokens()
    except Exception:  # ANTLR raises when the state is lost after recovery
        return []
    names = []
    for interval in tokens:
        for t in interval if hasattr(interval, "__iter__") else [interval]:
            literal = recognizer.literalNames[t] if t < len(recognizer.literalNames) else "<INVALID>"
            names.append(literal.strip("'") if literal != "<INVALID>" else recognizer.symbolicNames[t].lower())
    return names


def _list(expected: list[str]) -> str:
    if "ident" in expected:
        return "a name was expected"
    if len(expected) > 5:
        return ""
    return "expected " + " or ".join(f"`{e}`" for e in expected)


def _hint(word: str, expected: list[str]) -> str:
    if word.isalpha() and "ident" not in expected:
        hint = did_you_mean(word, [e for e in expected if e.isalpha()])
        return hint if hint.startswith("Did") else ""
    return ""
