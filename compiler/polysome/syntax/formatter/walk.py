"""A walk over the parse tree that says of each gap what the grammar's words and signs say by themselves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from polysome.syntax.formatter.gaps import Anchor, Gap, Group, Origin, Row
from polysome.syntax.generated.PolysomeParser import PolysomeParser

# How dear a line end is: ten for each bracket around it, and this.
BODY, ELSE, COMMA, CHAIN, LOGIC, WHERE, WORD, ASSIGN, ARITHMETIC, LAST = range(10)
BRACKET = 10

_WORDS = {
    ("relevantItem", "when"): WORD,
    ("hookDecl", "when"): WORD,
    ("clause", "max"): WORD,
    ("clause", "per"): WORD,
    ("selectCase", "=>"): WORD,
    ("emitStatement", "payload"): COMMA,
    ("emitStatement", "to"): WORD,
    ("pushStatement", "before"): COMMA,
    ("groupDecl", "|"): COMMA,
    ("fnDecl", "->"): ARITHMETIC,
    **{(rule, "where"): WHERE for rule in ("propertyItem", "argument", "primary")},
    **{(rule, "else"): ELSE for rule in ("letStatement", "requireStatement", "expressionStatement", "relevantDecl")},
}
# Lists without brackets, by what they are made of: the next line stands below the first element.
_LISTS = {
    "relevantDecl": "relevantItem",
    "emitStatement": "headerLiteral",
    "portDecl": "name",
    "selectCase": "pattern",
    "clause": "clauseArg",
}
_CALLS = {"suffix", "fnDecl", "actionDecl", "baseType", "fieldMark", "handler"}
_TABLES = {"constDecl", "paramDecl", "configDecl", "headerField", "stateDeclaration"}
_TIGHT = {"primary", "relevantItem"}  # whose braces are those of a set


def rule_of(node: Any) -> str:
    """The name of a node's rule, or the text of a token."""
    return PolysomeParser.ruleNames[node.getRuleIndex()] if hasattr(node, "getRuleIndex") else str(node.getText())


def first(node: Any) -> int:
    """The number of a node's first token."""
    return int(node.start.tokenIndex if hasattr(node, "start") else node.symbol.tokenIndex)


def last(node: Any) -> int:
    """The number of a node's last token."""
    return int(node.stop.tokenIndex if hasattr(node, "stop") else node.symbol.tokenIndex)


@dataclass
class _Scan:
    """How far the visit of a node's children has come: the brackets that are open, and where lines in them begin."""

    rule: str
    go_on: Anchor
    depth: int
    element: int | None  # the first token of the first element, if the node is a list without brackets
    inner: Anchor
    outer: list[Anchor] = field(default_factory=list)

    @property
    def here(self) -> Anchor:
        return self.inner if self.outer else self.go_on

    @property
    def deep(self) -> int:
        return self.depth + len(self.outer)


class Walk:
    """Visits each node with the anchor of a line that continues it, and the number of brackets around it.

    A method `at_RULE` deals with what is special about a rule; `children` deals with any node.
    """

    def __init__(self, tokens: int) -> None:
        self.gaps = [Gap() for _ in range(tokens)]
        self.groups: list[Group] = []
        self.rows: list[Row] = []
        self._placed: set[int] = set()

    def place(self, token: int, anchor: Anchor | None, cost: int | None = None) -> Gap:
        """The gap before a token, with an anchor unless it has one, and with a cost if one is given."""
        gap = self.gaps[token]
        if token not in self._placed:
            self._placed.add(token)
            gap.anchor = anchor
        if cost is not None:
            gap.cost = cost
        return gap

    def group(self) -> Group:
        """A new group."""
        self.groups.append(Group())
        return self.groups[-1]

    def row(self, kind: str, node: Any, *cells: int | None) -> None:
        """The node may be a row of a table; `cells` are the tokens with which its parts begin."""
        self.rows.append(Row(kind, first(node), last(node), cells))

    def visit(self, node: Any, go_on: Anchor, depth: int) -> None:
        """A node or a token; `go_on` is where a line in it begins, `depth` the number of brackets around it."""
        if not hasattr(node, "getRuleIndex"):
            self.place(first(node), go_on)
            return
        special = getattr(self, f"at_{rule_of(node)}", None)
        if special is not None:
            special(node, go_on, depth)
        else:
            self.children(node, list(node.getChildren()), go_on, depth)

    def children(self, node: Any, children: Sequence[Any], go_on: Anchor, depth: int) -> None:
        """Some children of a node: words with their costs, brackets with what is in them, lists."""
        rule = rule_of(node)
        element = next((first(c) for c in children if rule_of(c) == _LISTS.get(rule)), None)
        scan = _Scan(rule, go_on, depth, element, go_on if element is None else Anchor(Origin.COLUMN, element))
        for i, child in enumerate(children):
            if hasattr(child, "getRuleIndex"):
                self._part(node, child, scan)
                continue
            token, word = first(child), rule_of(child)
            self._sign(rule, word, token, i)
            if not self._bracket(word, token, scan):
                self._word(node, word, token, i, scan)
            self.place(token, scan.here)
        if rule in _TABLES:
            words = {rule_of(c): first(c) for c in children}
            self.row(rule, node, words["type"], words.get("="))

    def _part(self, node: Any, child: Any, scan: _Scan) -> None:
        token, rule = first(child), rule_of(child)
        here = scan.here
        if rule == "argument":
            here = Anchor(Origin.COLUMN, token, 2)
        elif rule == _LISTS.get(scan.rule) and not scan.outer:
            self.place(token, scan.inner if token != scan.element else scan.go_on)
            here = Anchor(Origin.COLUMN, token, 2) if scan.rule != "selectCase" else scan.inner
        if rule == "elseArm":
            self.else_arm(child, scan.go_on, first(node), scan.depth)
        else:
            self.visit(child, here, scan.deep)

    def else_arm(self, arm: Any, go_on: Anchor, statement: int, depth: int) -> None:
        """What stands behind the `else` of a statement that begins with the token `statement`."""
        raise NotImplementedError

    def _bracket(self, word: str, token: int, scan: _Scan) -> bool:
        if word in ("(", "[") or (word == "{" and scan.rule in _TIGHT):
            self.place(token, scan.here)
            self.place(token + 1, scan.here)
            scan.outer.append(scan.inner)
            scan.inner = Anchor(Origin.COLUMN, token + 1)
        elif word in (")", "]", "}"):
            self.place(token, scan.inner)
            scan.inner = scan.outer.pop()
        else:
            return False
        return True

    def _word(self, node: Any, word: str, token: int, number: int, scan: _Scan) -> None:
        rule = scan.rule
        if word == "," and (scan.outer or scan.element is not None):
            self.place(token + 1, scan.inner, scan.deep * BRACKET + COMMA)
        elif (rule, word) in _WORDS:
            below = scan.inner if rule == "emitStatement" else scan.go_on
            self.place(token, below, scan.depth * BRACKET + _WORDS[rule, word])
        elif word == "=" and rule not in ("condition", "enumMember", "groupDecl"):
            self.place(token + 1, scan.go_on, scan.depth * BRACKET + ASSIGN)
        elif rule == "argument" and word == ":" and number > 1:  # `sum(x in D: e)`, no `name: e`
            self.place(token + 1, Anchor(Origin.COLUMN, first(node)), scan.depth * BRACKET + WORD)

    def _sign(self, rule: str, word: str, token: int, number: int) -> None:
        """The blanks around a sign, where they are not one each."""
        if word in (",", ";", ":", ")", "]", "[", ".", ".."):
            self.gaps[token].space = 0
        if word in ("(", "[", ".", "..", "~"):
            self.gaps[token + 1].space = 0
        if word == "(" and (rule == "suffix" or (number > 0 and rule in _CALLS)):
            self.gaps[token].space = 0
        if (rule, word) == ("suffix", ":"):
            self.gaps[token + 1].space = 0
        if rule in _TIGHT and word in ("{", "}"):
            self.gaps[token + (word == "{")].space = 0
