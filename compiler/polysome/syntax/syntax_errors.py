"""What the parser did not expect, told as a user thinks of it: where it stands, how that is written, what was meant."""

from __future__ import annotations

from typing import Any

from antlr4.error.ErrorListener import ErrorListener
from antlr4.error.Errors import NoViableAltException
from antlr4.Token import Token

from polysome.syntax.diagnostics import Report, did_you_mean
from polysome.syntax.generated.PolysomeParser import PolysomeParser
from polysome.syntax.recovery import Recovery
from polysome.syntax.spans import Span
from polysome.syntax.tokens import MOST_ERRORS

RESERVED = frozenset(
    (
        *("let", "if", "else", "for", "in", "require", "send", "bounce", "drop", "emit", "push", "pop", "truncate"),
        *("remove", "and", "or", "not", "as", "when", "where", "on", "use", "struct", "enum", "const", "fn", "action"),
        *("relevant", "true", "false"),
    )
)

# Grammar rule -> what a user calls it, and how it is written.
_FORMS = {
    "useDecl": ("`use`", "use net.l4;"),
    "structDecl": ("a struct", "struct NAME { member: TYPE, … }"),
    "enumDecl": ("an enum", "enum NAME: TYPE { member = 1, … }"),
    "constDecl": ("a constant", "const NAME: TYPE = VALUE;"),
    "fnDecl": ("a function", "fn NAME(x: TYPE) -> TYPE { … }"),
    "actionDecl": ("an action", "action NAME(x: TYPE) { … }"),
    "typeArgs": ("the parameters of a type", "map<K, V>"),
    "type": ("a type", "u16"),
    "headerField": ("a field", "NAME: TYPE;"),
    "headerRule": ("a rule of a header", "size VALUE;"),
    "stateDecl": ("a parser's state", "state NAME { extract HEADER; select VALUE { PATTERN => STATE; } }"),
    "extract": ("`extract`", "extract HEADER;"),
    "transition": ("a transition", "select VALUE { PATTERN => STATE; }"),
    "selectCase": ("a case of `select`", "PATTERN => STATE;"),
    "groupDecl": ("a group", "group NAME = HEADER | HEADER;"),
    "valueDecl": ("a value of the packet", "value NAME: TYPE = VALUE;"),
    "hookDecl": ("a hook", "parse HEADER after HEADER when CONDITION;"),
    "nfDecl": ("an NF", "nf NAME { … }"),
    "blockDecl": ("a block", "block NAME { … }"),
    "portDecl": ("`port`", "port NAME, NAME;"),
    "paramDecl": ("a param", "param NAME: TYPE = VALUE;"),
    "configDecl": ("a config item", "config NAME: TYPE;"),
    "relevantDecl": ("`relevant`", 'relevant ITEM, ITEM else drop "reason";'),
    "stateBlock": ("`state`", "state { NAME: TYPE { capacity 1K; … } }"),
    "stateDeclaration": ("a piece of state", "NAME: TYPE { capacity 1K; … }"),
    "indexDecl": ("an index", "index NAME: MAP by VALUE;"),
    "scheduleBlock": ("`schedule`", "schedule { class flow; fifo; }"),
    "clause": ("a clause", "NAME VALUE;"),
    "handler": ("a handler", "on packet from PORT { … }"),
    "propertyItem": ("a property", "for p in trace where CONDITION expect CONDITION;"),
    "letStatement": ("`let`", "let NAME = VALUE;"),
    "ifStatement": ("`if`", "if CONDITION { … } else { … }"),
    "ifExpression": ("`if`", "if CONDITION { VALUE } else { VALUE }"),
    "forStatement": ("`for`", "for NAME in 0..8 { … }"),
    "requireStatement": ("`require`", 'require CONDITION else drop "reason";'),
    "verdict": ("a verdict", 'send PORT;` or `drop "reason";'),
    "emitStatement": ("`emit`", "emit HEADER { … }, HEADER { … } payload BYTES to PORT;"),
    "pushStatement": ("`push`", "push HEADER { field: VALUE } before HEADER;"),
    "popStatement": ("`pop`", "pop HEADER;"),
    "truncateStatement": ("`truncate`", "truncate SIZE;"),
    "removeStatement": ("`remove`", "remove MAP[KEY];"),
    "structBody": ("a struct's value", "NAME { member: VALUE, … }"),
    "fieldInits": ("the fields of a header", "HEADER { field: VALUE, … }"),
}
# The first word of a statement -> its rule, where the parser did not get into it.
_BY_WORD = {
    "let": "letStatement",
    "if": "ifStatement",
    "for": "forStatement",
    "require": "requireStatement",
    "send": "verdict",
    "drop": "verdict",
    "bounce": "verdict",
    "emit": "emitStatement",
    "push": "pushStatement",
    "pop": "popStatement",
    "on": "handler",
    "every": "handler",
}
# Lists: where they are, and with what words items in them begin.
_LISTS = {
    "program": ("the file", "use struct enum const fn header parser parse block nf"),
    "nfDecl": (
        "an NF",
        "port param config relevant state schedule traffic on every property use struct enum const fn action",
    ),
    "blockDecl": ("a block", "param config state on every use struct enum const fn action"),
    "headerDecl": ("a header", "size end valid pseudo"),
    "parserDecl": ("a parser", "state group value class"),
    "block": ("a handler or action", "let if for require send bounce drop emit push pop truncate remove"),
    "stateBlock": ("`state`", "index"),
    "clauses": ("these braces", "when"),
    "propertyDecl": ("a property", "for let expect"),
}
_HABITS = {
    "import": "use", "include": "use", "from": "use", "def": "fn", "func": "fn", "function": "fn", "fun": "fn",
    "typedef": "struct", "class": "struct", "type": "struct", "record": "struct", "register": "state",
    "table": "config", "map": "state", "control": "nf", "procedure": "action", "macro": "action", "interface": "port",
    "ports": "port", "queue": "schedule", "timer": "every", "test": "property", "assert": "property",
}  # fmt: skip


class Listener(ErrorListener):  # type: ignore[misc]
    """Turns ANTLR's syntax errors into diagnostics."""

    def __init__(self, file: str, text: str, report: Report, recovery: Recovery) -> None:
        self.file, self.text, self.report, self.recovery = file, text, report, recovery
        self.known = {self._line(d.span.start) for d in report.errors if d.span is not None and d.span.file == file}

    def syntaxError(self, recognizer: Any, offendingSymbol: Any, line: int, column: int, msg: str, e: Any) -> None:
        token = offendingSymbol
        before = recognizer.getTokenStream().tokens[token.tokenIndex - 1] if token.tokenIndex > 0 else None
        known = token.line in self.known or (before is not None and before.line in self.known)
        if known or self.report.count >= MOST_ERRORS:
            return
        if recognizer.getCurrentToken() is token and self.recovery.lacks_semicolon(recognizer):
            self._missing_semicolon(before, token)
            return
        rules = [recognizer.ruleNames[r] for r in _stack(recognizer)]
        if isinstance(e, NoViableAltException) and e.startToken is not token and e.startToken.text in _BY_WORD:
            rules.insert(0, _BY_WORD[e.startToken.text])
        elif rules[0] == "statement" and recognizer._ctx.start.text in _BY_WORD:
            rules.insert(0, _BY_WORD[recognizer._ctx.start.text])
        if rules[0] == "ifExpression" and _literal(recognizer, "else") and before is not None and before.text == "}":
            self._if_without_else(recognizer)
        elif token.text in RESERVED and _expected(recognizer) == "a name was expected":
            self._reserved(token)
        else:
            self._unexpected(recognizer, token, before, rules)

    # ------------------------------------------------------------ reports

    def _missing_semicolon(self, before: Any, token: Any) -> None:
        shown = "The file ends, and" if token.type == Token.EOF else f"The next word, `{token.text}`,"
        self.report.add(
            "E0102",
            "a `;` is missing",
            Span(self.file, before.stop, before.stop + 1),
            label="after this",
            why=f"{shown} cannot continue what stands before it."
            if token.type != Token.EOF
            else f"{shown} this is not done.",
            mend="Add `;`.",
        )

    def _if_without_else(self, recognizer: Any) -> None:
        start = recognizer._ctx.start
        self.report.add(
            "E0311",
            "this `if` has no value on every path",
            Span(self.file, start.start, start.stop + 1),
            why="As a value, an `if` needs both branches.",
            mend="Add `else { … }`.",
        )

    def _reserved(self, token: Any) -> None:
        self.report.add(
            "E0114",
            f"`{token.text}` cannot be a name",
            self._span(token),
            why="It is a word of the language: it begins a statement or joins an expression.",
            mend=f"Choose another name, for example `{token.text}_`.",
        )

    def _unexpected(self, recognizer: Any, token: Any, before: Any, rules: list[str]) -> None:
        what, why, mend = _context(token, rules)
        shown = "the end of the file" if token.type == Token.EOF else f"`{_short(token.text)}`"
        expected = _expected(recognizer)
        self.report.add(
            "E0101",
            f"{shown} cannot stand here" + (f", in {what}" if what else ""),
            self._span(token),
            label=expected if rules[0] not in _LISTS else "",
            why=why,
            mend=_hint(token, before, rules) or self._no_condition(recognizer, token) or mend,
        )

    def _no_condition(self, recognizer: Any, token: Any) -> str:
        """`if { drop …`: the brace was taken for the beginning of a set."""
        words = [t.text for t in recognizer.getTokenStream().tokens[max(0, token.tokenIndex - 2) : token.tokenIndex]]
        return "Between `if` and `{`, a condition is missing." if words == ["if", "{"] else ""

    def _span(self, token: Any) -> Span:
        if token.type == Token.EOF:
            end = len(self.text.rstrip())
            return Span(self.file, max(0, end - 1), end)
        return Span(self.file, token.start, token.stop + 1)

    def _line(self, offset: int) -> int:
        return self.text.count("\n", 0, offset) + 1


def _context(token: Any, rules: list[str]) -> tuple[str, str, str]:
    """What the token stands in, why it cannot, and how what is there is written."""
    if rules[0] in _LISTS:
        what, starters = _LISTS[rules[0]]
        words = starters.split()
        habit = _HABITS.get(token.text)
        hint = f"Did you mean `{habit}`?" if habit in words else did_you_mean(token.text, words)
        begins = ", ".join(f"`{w}`" for w in words)
        extra = {"headerDecl": "a field or ", "stateBlock": "a name or ", "clauses": "a name or "}.get(rules[0], "")
        why = f"Here begins {extra}one of {begins}." if len(words) > 1 or extra else ""
        return what, why, hint if hint.startswith("Did") else "Remove it, or write what should begin here."
    rule = next((r for r in rules if r in _FORMS), None)
    if rule is None:
        return "", "Here a value is needed, or an operator between two values.", "Compare with a similar line."
    what, form = _FORMS[rule]
    return what, f"{what[0].upper() + what[1:]} is written `{form}`.", "Bring it into this form."


def _hint(token: Any, before: Any, rules: list[str]) -> str:
    """What people who come from elsewhere mean by this."""
    word, previous = token.text, before.text if before is not None else ""
    operand = any(r in rules[:2] for r in ("primary", "prefixOp", "postfix", "operand", "expr"))
    if word == "-" and operand:
        return "Numbers have no sign: turn the calculation round, or write `0 - x`, which wraps."
    if word == "+" and operand:
        return "Leave the sign away."
    if word == "=" and any(r in rules for r in ("condition", "requireStatement", "forStatement", "ifStatement")):
        return "`=` assigns; to compare, write `==`."
    if word == "else":
        return "An `else` follows the `}` of its `if`, or stands directly in a `let`, a `require` or an assignment."
    if previous == "else" and rules[0] == "ifStatement":
        return "Write `else { … }` or `else if CONDITION { … }`."
    if word in _BY_WORD and rules[0] in ("ifStatement", "forStatement") and previous != "{":
        return "Put what is done into braces: `if CONDITION { … }`."
    if previous == "drop":
        return 'The reason is a text: `drop "reason";`.'
    if previous == "port" and "verdict" in rules:
        return f"A port is named without `port`: `send {word};`."
    if previous == "send":
        return "Say which port: `send PORT;`."
    if word == ";" and rules[0] in ("structDecl", "enumDecl"):
        return "Members are separated by commas: `{ a: u8, b: u8 }`."
    if word == "," and rules[0] == "headerField":
        return "Every field of a header ends in `;`."
    if word == "/" and rules[0] in ("useDecl", "path"):
        return "Folders are separated by dots: `use net.l4;`."
    if rules[0] == "block" and word in ("fn", "const", "struct", "enum", "action", "on", "use", "relevant"):
        return "Declarations stand beside the handlers, not in them."
    if word == "{" and rules[0] == "ifStatement":
        return "Put parentheses around the condition."
    return ""


def _stack(recognizer: Any) -> list[int]:
    found, context = [], recognizer._ctx
    while context is not None:
        found.append(context.getRuleIndex())
        context = context.parentCtx
    return found


def _literal(recognizer: Any, word: str) -> bool:
    return word in _names(recognizer)


def _names(recognizer: Any) -> list[str]:
    """What could have stood here, as a user would write it."""
    try:
        tokens = recognizer.getExpectedTokens()
    except Exception:  # ANTLR raises when the state is lost after recovery
        return []
    names = []
    for interval in tokens:
        for t in interval if hasattr(interval, "__iter__") else [interval]:
            literal = PolysomeParser.literalNames[t] if t < len(PolysomeParser.literalNames) else "<INVALID>"
            names.append(literal[1:-1] if literal != "<INVALID>" else PolysomeParser.symbolicNames[t])
    return names


def _expected(recognizer: Any) -> str:
    names = _names(recognizer)
    if "IDENT" in names:
        others = [n for n in names if not n[0].isalpha() and n not in ("(", "{", "~")]
        return "a value was expected" if "INT" in names else "a name was expected" if not others else ""
    words = {"STRING": "a text", "INT": "a number"}
    shown = [words.get(n, f"`{n}`") for n in names if n != "EOF"]
    return "expected " + " or ".join(shown) if 0 < len(shown) <= 4 else ""


def _short(text: str) -> str:
    return text if len(text) <= 40 else text[:40] + "…"
