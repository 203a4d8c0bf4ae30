"""Text to AST."""

from __future__ import annotations

from typing import Any

from antlr4.atn.PredictionMode import PredictionMode

from polysome.syntax import ast
from polysome.syntax.build import Builder
from polysome.syntax.diagnostics import Report
from polysome.syntax.generated.PolysomeParser import PolysomeParser
from polysome.syntax.recovery import Recovery
from polysome.syntax.spans import Source
from polysome.syntax.syntax_errors import Listener
from polysome.syntax.tokens import tokenise


def parse(name: str, text: str, report: Report) -> ast.File | None:
    """The AST of `text`, or None if its syntax is wrong (then `report` says where)."""
    before = len(report.errors)
    tree = parse_tree(name, text, report)
    mended = len(report.errors) > before  # some tokens were, so that the tree may be whole, but is not what is written
    found = build(name, tree, report) if tree is not None else None
    return None if mended else found


def parse_tree(name: str, text: str, report: Report) -> Any | None:
    """The parse tree of `text`, its tokens numbered from 0; None if no tree is whole (`report` says what is wrong)."""
    parser = _parser(name, text, report)
    if parser is None:
        return None
    tree = parser.program()
    return tree if parser.getNumberOfSyntaxErrors() == 0 else None


def build(name: str, tree: Any, report: Report) -> ast.File:
    """The AST of a parse tree; what is wrong in it (numbers that are too large, …) goes to `report`."""
    return Builder(name, report).file_node(tree)


def parse_expression(name: str, text: str, report: Report) -> ast.Expr | None:
    """The AST of a single expression, as given for a param on the command line; None if its syntax is wrong."""
    before = len(report.errors)
    parser = _parser(name, text, report)
    tree = parser.single() if parser is not None else None
    if parser is None or tree is None or parser.getNumberOfSyntaxErrors() > 0 or len(report.errors) > before:
        return None
    return Builder(name, report).expr(tree.expr())


def _parser(name: str, text: str, report: Report) -> PolysomeParser | None:
    """A parser that stands before the first token; None if no parser could make anything of the text."""
    report.sources[name] = Source(name, text)
    stream = tokenise(name, text, report)
    if stream is None:
        return None
    parser = PolysomeParser(stream)
    parser._interp.predictionMode = PredictionMode.SLL
    parser._errHandler = Recovery()
    parser.removeErrorListeners()
    parser.addErrorListener(Listener(name, text, report, parser._errHandler))
    return parser
