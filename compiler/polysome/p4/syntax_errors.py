"""What the P4 parser did not expect: where it stands, what it stands in, and what the subset has instead."""

from __future__ import annotations

from typing import Any

from antlr4.error.ErrorListener import ErrorListener
from antlr4.Token import Token

from polysome.syntax.diagnostics import Report
from polysome.syntax.spans import Span

MOST_ERRORS = 20

# What P4_16 has and the subset has not: why not is the same for all, what to write instead is not.
OUTSIDE = {
    "enum": "Use constants of a typedef: `typedef bit<8> kind_t; const kind_t KIND_A = 1;`.",
    "header_union": "Use a struct with one header for each alternative.",
    "varbit": "Use one header for each length, or `advance` over what is not needed.",
    "value_set": "Select on constants, or match in a table.",
    "extern": "The architecture's externs are known to the compiler; others cannot run.",
    "match_kind": "A key matches `exact`, `ternary` or `lpm`.",
    "error": "Compare `parser_err` with the constants PARSER_ERROR_….",
    "package": "Instantiate the architecture's `Pipeline` and `Switch`.",
    "type": "Use `typedef`.",
    "return": "Use `if` and `else`.",
    "exit": "Use `if` and `else`.",
    "for": "Write the steps one by one: a pipeline has no loops.",
    "tuple": "Use a struct.",
    "string": "Use numbers.",
    "abstract": "Only RegisterAction has an abstract method: `void apply(inout T value, out U rv)`.",
}
_FORMS = {
    "program": ("the file", "it holds #include, const, typedef, header, struct, parser, control and instances"),
    "field": ("a field", "bit<16> NAME;"),
    "param": ("a parameter", "inout TYPE NAME"),
    "local": ("a parser or control", "its declarations stand before its states or its `apply { … }`"),
    "instance": ("an instance", "Register<bit<32>, bit<10>>(1024) NAME;"),
    "method": ("a register action", "void apply(inout bit<32> value, out bit<32> rv) { … }"),
    "property": (
        "a table",
        "table NAME { key = { FIELD: exact; } actions = { A; B; } size = 1024; default_action = B(); }",
    ),
    "keyElement": ("a table's key", "FIELD: exact;"),
    "actionRef": ("a table's actions", "NAME;"),
    "entry": ("an entry", "(1, 2 &&& 3): ACTION(4);"),
    "state": ("a parser state", "state NAME { pkt.extract(hdr.NAME); transition NAME; }"),
    "transition": ("a transition", "transition select(FIELD) { 1: NAME; 2 &&& 6: NAME; default: accept; }"),
    "selectCase": ("a case of `select`", "VALUE: STATE;"),
    "keyset": ("a keyset", "(1, 2 &&& 6, _)"),
    "block": ("a block", "{ STATEMENT; … }"),
    "statement": ("a statement", "TARGET = VALUE;"),
    "switchCase": ("a case of `switch`", "ACTION: { … }"),
    "type": ("a type", "bit<16>"),
    "annotation": ("an annotation", '@name("text")'),
    "args": ("arguments", "(a, b)"),
}


class Listener(ErrorListener):  # type: ignore[misc]
    """Turns ANTLR's syntax errors into diagnostics, at most one for a line."""

    def __init__(self, file: str, text: str, report: Report) -> None:
        self.file, self.text, self.report = file, text, report
        self._lines: set[int] = set()

    def syntaxError(self, recognizer: Any, offendingSymbol: Any, line: int, column: int, msg: str, e: Any) -> None:
        token = offendingSymbol
        if token.line in self._lines or self.report.count >= MOST_ERRORS:
            return
        self._lines.add(token.line)
        stream = recognizer.getTokenStream()
        before = stream.tokens[token.tokenIndex - 1] if token.tokenIndex > 0 else None
        near = [t for t in (token, before) if t is not None and t.text in OUTSIDE]
        if near:
            self._outside(near[0])
        elif token.text.startswith("#"):
            self._directive(token)
        elif before is not None and before.line < token.line and before.text not in ("{", "}", ";", ",", "(", ":"):
            self._missing_semicolon(before)
        else:
            self._unexpected(recognizer, token)

    def _outside(self, token: Any) -> None:
        self.report.add(
            "E1202",
            f"outside the subset: `{token.text}`",
            self._span(token),
            why="The subset is what the emitted programs need; each part of it is checked and runs in the soft switch.",
            mend=OUTSIDE[token.text],
        )

    def _directive(self, token: Any) -> None:
        self.report.add(
            "E1202",
            "the only directive of the preprocessor is `#include` of core.p4, tna.p4 and t2na.p4",
            self._span(token),
            why="The soft switch must read the very text that the switch compiler reads, without variants of it.",
            mend="Use `const` in place of `#define`, and write out what a condition would choose.",
        )

    def _missing_semicolon(self, before: Any) -> None:
        self.report.add(
            "E1201",
            "a `;` is missing",
            Span(self.file, before.stop, before.stop + 1),
            label="after this",
            why="The next line cannot continue what stands here.",
            mend="Add `;`.",
        )

    def _unexpected(self, recognizer: Any, token: Any) -> None:
        shown = "the end of the file" if token.type == Token.EOF else f"`{token.text}`"
        rules = _rules(recognizer)
        what, form = next((_FORMS[r] for r in rules if r in _FORMS), ("an expression", "hdr.ipv4.ttl + 1"))
        in_list = what in ("the file", "a parser or control")
        self.report.add(
            "E1201",
            f"{shown} cannot stand here, in {what}",
            self._span(token),
            label=_expected(recognizer),
            why=f"{what[0].upper() + what[1:]}: {form}."
            if in_list
            else f"{what[0].upper() + what[1:]} is written `{form}`.",
            mend="Remove it, or write what should stand here.",
        )

    def _span(self, token: Any) -> Span:
        if token.type == Token.EOF:
            end = max(1, len(self.text.rstrip()))
            return Span(self.file, end - 1, end)
        return Span(self.file, token.start, token.stop + 1)


def _rules(recognizer: Any) -> list[str]:
    """The rules that the parser is in, the innermost first."""
    found, context = [], recognizer._ctx
    while context is not None:
        found.append(recognizer.ruleNames[context.getRuleIndex()])
        context = context.parentCtx
    return found


def _expected(recognizer: Any) -> str:
    """What could stand there instead, if that is few things."""
    names = [t for span in recognizer.getExpectedTokens().intervals or () for t in span]
    shown = []
    for n in names:
        literal = recognizer.literalNames[n] if 0 <= n < len(recognizer.literalNames) else "<INVALID>"
        if literal != "<INVALID>":
            shown.append("`" + literal.strip("'") + "`")
        elif 0 <= n < len(recognizer.symbolicNames) and recognizer.symbolicNames[n] == "ID":
            shown = ["a name", *(s for s in shown if not s.strip("`").isalpha())]
    return f"{' or '.join(dict.fromkeys(shown))} was expected" if 0 < len(shown) <= 3 else ""
