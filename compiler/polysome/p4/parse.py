"""P4 text to syntax tree."""

from __future__ import annotations

from typing import Any

from antlr4.atn.ParserATNSimulator import ParserATNSimulator
from antlr4.atn.PredictionMode import PredictionMode
from antlr4.CommonTokenStream import CommonTokenStream
from antlr4.dfa.DFA import DFA
from antlr4.error.ErrorListener import ErrorListener
from antlr4.InputStream import InputStream
from antlr4.PredictionContext import PredictionContextCache

from polysome.p4 import ast
from polysome.p4.build import Builder
from polysome.p4.generated.P4Lexer import P4Lexer
from polysome.p4.generated.P4Parser import P4Parser
from polysome.p4.syntax_errors import Listener
from polysome.syntax.diagnostics import Report
from polysome.syntax.spans import Source


def parse(name: str, text: str, report: Report) -> ast.File | None:
    """The tree of `text`, the file that messages call `name`; None if its syntax is wrong: `report` says where."""
    report.sources[name] = Source(name, text)
    before = report.count
    try:
        tree = _tree(text, ErrorListener(), learned=True)
        if tree is None:
            # What ANTLR expects at an error depends on what it has learned: told as if this were the first text.
            _tree(text, Listener(name, text, report), learned=False)
            return None
    except RecursionError:
        _too_deep(report)
        return None
    found = Builder(name, report).file_node(tree)
    return found if report.count == before else None


def _tree(text: str, listener: ErrorListener, learned: bool) -> Any:
    """ANTLR's tree; None if the syntax is wrong, which the listener is told."""
    lexer = P4Lexer(InputStream(text))
    lexer.removeErrorListeners()
    lexer.addErrorListener(ErrorListener())  # a character that begins nothing is a token, OTHER
    parser = P4Parser(CommonTokenStream(lexer))
    if not learned:
        decisions = [DFA(state, n) for n, state in enumerate(parser.atn.decisionToState)]
        parser._interp = ParserATNSimulator(parser, parser.atn, decisions, PredictionContextCache())
    parser._interp.predictionMode = PredictionMode.SLL
    parser.removeErrorListeners()
    parser.addErrorListener(listener)
    tree = parser.program()
    return tree if parser.getNumberOfSyntaxErrors() == 0 else None


def _too_deep(report: Report) -> None:
    report.add(
        "E1202",
        "expressions or blocks are nested too deep",
        None,
        why="The parser goes down one level for each parenthesis, brace and operator that it is in.",
        mend="Give intermediate results to variables.",
    )
