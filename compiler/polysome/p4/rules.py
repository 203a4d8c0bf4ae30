"""Texts that are all of one rule of the grammar, as trees of ANTLR's."""

from __future__ import annotations

from typing import Any

from antlr4.atn.ParserATNSimulator import ParserATNSimulator
from antlr4.atn.PredictionMode import PredictionMode
from antlr4.CommonTokenStream import CommonTokenStream
from antlr4.dfa.DFA import DFA
from antlr4.error.ErrorListener import ErrorListener
from antlr4.InputStream import InputStream
from antlr4.PredictionContext import PredictionContextCache
from antlr4.Token import Token

from polysome.p4.generated.P4Lexer import P4Lexer
from polysome.p4.generated.P4Parser import P4Parser


def tree(text: str, rule: str = "program", listener: ErrorListener | None = None) -> Any:
    """ANTLR's tree of a text that is all of the rule; None if it is not.

    A listener is told what is wrong with it as if this were the first text: what ANTLR expects at an error depends on
    what it has learned.
    """
    lexer = P4Lexer(InputStream(text))
    lexer.removeErrorListeners()
    lexer.addErrorListener(ErrorListener())  # a character that begins nothing is a token, OTHER
    parser = P4Parser(CommonTokenStream(lexer))
    if listener is not None:
        decisions = [DFA(state, n) for n, state in enumerate(parser.atn.decisionToState)]
        parser._interp = ParserATNSimulator(parser, parser.atn, decisions, PredictionContextCache())
    parser._interp.predictionMode = PredictionMode.SLL
    parser.removeErrorListeners()
    parser.addErrorListener(listener or ErrorListener())
    found = getattr(parser, rule)()
    ended = parser.getTokenStream().LA(1) == Token.EOF
    return found if ended and parser.getNumberOfSyntaxErrors() == 0 else None
