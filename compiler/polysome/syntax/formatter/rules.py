"""The form of every construct of the grammar, as rules for the gaps between its tokens.

An expression may be broken before an operator, behind a comma, before `where` and `else`, behind `=`; the next line is
indented by two, or stands below what follows an open parenthesis; one that goes on with a comparison or a sum, below
what is compared. What braces hold is indented by two.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from polysome.syntax.formatter.gaps import Anchor, Group, Origin, Rules
from polysome.syntax.formatter.walk import (
    ARITHMETIC,
    BODY,
    BRACKET,
    CHAIN,
    COMMA,
    LAST,
    LOGIC,
    WHERE,
    WORD,
    Walk,
    first,
    last,
    rule_of,
)

_OPERATORS = {"and": LOGIC, "or": LOGIC} | dict.fromkeys(("==", "!=", "<", "<=", ">", ">="), WORD)
_SIMPLE = {"portDecl", "paramDecl", "configDecl", "constDecl", "relevantDecl", "useDecl"}


def rules_of(tree: Any) -> Rules:
    """The rules for the tree of a whole file, which must be without errors; its tokens are numbered from 0."""
    walk = _Walk(first(tree.EOF()) + 1)
    walk.program(tree)
    return Rules(walk.gaps, walk.groups, walk.rows)


class _Walk(Walk):
    """What is special about the grammar's rules, one method for each."""

    def program(self, tree: Any) -> None:
        for item in tree.item():
            gap = self.place(first(item), None)
            gap.must = gap.blank = True
            self.visit(item, Anchor(Origin.LINE, first(item), 2), 0)
        self.place(first(tree.EOF()), None).blank = True

    def else_arm(self, arm: Any, go_on: Anchor, statement: int, depth: int) -> None:
        inner = arm.getChild(0)
        if rule_of(inner) != "block":
            self.visit(arm, go_on, depth)
            return
        base = Anchor(Origin.BEGINNING, first(arm) - 1, 0, Anchor(Origin.LINE, statement))
        self._fill(inner, base, depth, self.group())

    # ------------------------------------------------------------ braces

    def _fill(self, block: Any, base: Anchor, depth: int, group: Group, cost: int = BODY) -> None:
        """A node of which some children are `{`, items, `}`: the items indented, all on one line or each on its own."""
        children = list(block.getChildren())
        places = [i for i, c in enumerate(children) if rule_of(c) in ("{", "}")]
        items = children[places[0] + 1 : places[-1]]
        start, end = first(children[places[0]]), first(children[places[-1]])
        within = _shifted(base, 2)
        group.spans.append((start + 1, end))
        self._end(end, base, within, group, (depth * BRACKET + cost) if items else None)
        for before, item in pairwise([None, *items]):
            gap = self.place(first(item), within, depth * BRACKET + cost)
            gap.blank = before is not None
            shared = before is not None and _may_share(before, item)
            if shared:
                gap.cost = (depth + 1) * BRACKET
                gap.wide = (1 if rule_of(item) == "clause" else 2), group
                if rule_of(item) != "clause":
                    group.filled.append(first(item))
            else:
                group.gaps.append(first(item))
                gap.group = group
            self.visit(item, Anchor(Origin.LINE, first(item), 2), depth + 1)

    def _end(self, token: int, base: Anchor, within: Anchor, group: Group, cost: int | None) -> None:
        gap = self.place(token, base, cost)
        gap.comment_anchor = within
        if cost is not None:
            gap.group = group
            group.gaps.append(token)

    def _body(self, node: Any, go_on: Anchor, depth: int) -> Group:
        """A declaration that is a head and a body of its own."""
        children = list(node.getChildren())
        brace = next(i for i, c in enumerate(children) if rule_of(c) == "{")
        self.children(node, children[:brace], go_on, depth)
        self.place(first(children[brace]), go_on)
        group = self.group()
        self._fill(node, Anchor(Origin.LINE, first(node)), depth, group)
        return group

    at_headerDecl = at_stateDecl = at_stateBlock = at_propertyDecl = _body

    def _big_body(self, node: Any, go_on: Anchor, depth: int) -> None:
        """A declaration whose body is never on one line."""
        for token in self._body(node, go_on, depth).gaps:
            self.gaps[token].must = True

    at_nfDecl = at_blockDecl = at_parserDecl = _big_body

    def at_transition(self, node: Any, go_on: Anchor, depth: int) -> None:
        if rule_of(node.getChild(0)) == "select":
            self._body(node, go_on, depth)
        else:
            self.children(node, list(node.getChildren()), go_on, depth)

    def at_selectCase(self, node: Any, go_on: Anchor, depth: int) -> None:
        self.children(node, list(node.getChildren()), go_on, depth)
        self.row("selectCase", node, next(first(c) for c in node.getChildren() if rule_of(c) == "=>"))

    def at_clauses(self, node: Any, go_on: Anchor, depth: int) -> None:
        self.place(first(node), go_on)
        self._fill(node, Anchor(Origin.LINE, first(node)), depth, self.group())

    at_block = at_clauses

    def _construct(self, node: Any, go_on: Anchor, depth: int) -> None:
        """A head and a block at its end."""
        *head, block = node.getChildren()
        self.children(node, head, go_on, depth)
        self.place(first(block), go_on)
        group = self.group()
        group.spans.append((first(node) + 1, first(block)))
        self._fill(block, Anchor(Origin.LINE, first(node)), depth, group)

    at_fnDecl = at_actionDecl = at_forStatement = _construct

    def at_handler(self, node: Any, go_on: Anchor, depth: int) -> None:
        self._construct(node, go_on, depth)
        self.row("handler", node, first(list(node.getChildren())[-1]))

    # ------------------------------------------------------------ lists in braces

    def _list(self, node: Any, go_on: Anchor, depth: int, cost: int = WHERE, one_per_line: bool = False) -> None:
        children = list(node.getChildren())
        places = [i for i, c in enumerate(children) if rule_of(c) in ("{", "}")]
        elements = children[places[0] + 1 : places[1]]
        self.children(node, [*children[: places[0]], *children[places[1] + 1 :]], go_on, depth)
        start, end = first(children[places[0]]), first(children[places[1]])
        self.place(start, go_on)
        base = Anchor(Origin.LINE, start)
        within = _shifted(base, 2)
        group = self.group()
        group.spans.append((start + 1, end))
        own = depth * BRACKET + cost
        for before, comma, after in zip(elements[::2], elements[1::2], [*elements[2::2], None], strict=False):
            token = first(comma)
            self.gaps[token].space = 0
            self.place(token, within)
            if after is not None:
                gap = self.place(token + 1, within, (depth + 1) * BRACKET + COMMA)
                gap.blank = one_per_line
                gap.group = self.group()
                gap.group.gaps.append(token + 1)
                gap.group.spans += [(first(e) + 1, last(e)) for e in (before, after)]
                if one_per_line:
                    group.filled.append(token + 1)
        for element in elements[::2]:
            self.place(first(element), within)
            self.visit(element, Anchor(Origin.LINE, first(element), 2), depth + 1)
        if elements:
            gap = self.place(start + 1, within, own)
            gap.group = group
            group.gaps.append(start + 1)
        self._end(end, base, within, group, own if elements else None)

    at_useArgs = at_structBody = at_fieldInits = _list

    def _declared(self, node: Any, go_on: Anchor, depth: int) -> None:
        self._list(node, go_on, depth, BODY, one_per_line=True)

    at_structDecl = at_enumDecl = _declared

    def at_enumMember(self, node: Any, go_on: Anchor, depth: int) -> None:
        children = list(node.getChildren())
        self.children(node, children, go_on, depth)
        self.row("enumMember", node, first(children[1]) if len(children) > 1 else None)

    def at_typedName(self, node: Any, go_on: Anchor, depth: int) -> None:
        children = list(node.getChildren())
        self.children(node, children, go_on, depth)
        if rule_of(node.parentCtx) == "structDecl":
            self.row("typedName", node, first(children[2]))

    # ------------------------------------------------------------ statements and expressions

    def at_ifStatement(self, node: Any, go_on: Anchor, depth: int) -> None:
        """`if … { } else if … { } else { }`: all blocks on one line each, or none of them."""
        group = self.group()
        head = first(node)
        is_value = _ends_in_value(node.getChild(2))
        elses: list[int] = []
        part: Any = node
        while True:
            children = list(part.getChildren())
            self.place(first(part), go_on)
            self.visit(children[1], go_on, depth)
            if not is_value:
                group.spans.append((first(part) + 1, first(children[2])))
            self._arm(children[2], go_on, head, depth, group, is_value)
            if len(children) < 4:
                break
            token = first(children[3])
            elses.append(token)
            gap = self.place(token, Anchor(Origin.BEGINNING, head, 0, go_on))
            gap.cost = depth * BRACKET + (CHAIN if is_value else LAST)
            gap.unless = group
            part = children[4]
            if rule_of(part) == "block":
                self._arm(part, go_on, head, depth, group, is_value)
                break
        for token in elses:
            self.gaps[token].together = tuple(elses) if is_value else ()

    at_ifExpression = at_ifStatement

    def _arm(self, block: Any, go_on: Anchor, head: int, depth: int, group: Group, is_value: bool) -> None:
        self.place(first(block), go_on)
        self._fill(block, Anchor(Origin.LINE, head), depth, group, WHERE if is_value else BODY)

    def at_propertyItem(self, node: Any, go_on: Anchor, depth: int) -> None:
        children = list(node.getChildren())
        if rule_of(children[0]) != "for":
            self.children(node, children, go_on, depth)
            return
        *head, item = children
        self.children(node, head, go_on, depth)
        gap = self.place(first(item), Anchor(Origin.LINE, first(node)), depth * BRACKET + BODY)
        gap.group = group = self.group()
        gap.blank = True
        group.gaps.append(first(item))
        group.spans.append((first(node) + 1, first(item) - 1))
        self.visit(item, Anchor(Origin.LINE, first(item), 2), depth)

    def at_expr(self, node: Any, go_on: Anchor, depth: int) -> None:
        children = list(node.getChildren())
        signs = [str(c.getText()) for c in children if rule_of(c) == "binaryOp"]
        below = go_on if {"and", "or"} & set(signs) else Anchor(Origin.COLUMN, first(node))
        for child in children:
            if rule_of(child) == "binaryOp":
                sign = signs.pop(0)
                cost = depth * BRACKET + _OPERATORS.get(sign, ARITHMETIC)
                self.place(first(child), below, None if sign == "in" else cost)
                if first(child) != last(child):  # `>>` is two tokens, because of `map<K, list<V>>`
                    self.place(last(child), go_on).space = 0
            else:
                self.visit(child, go_on, depth)

    def at_typeArgs(self, node: Any, go_on: Anchor, depth: int) -> None:
        for token in (first(node), first(node) + 1, last(node)):
            self.place(token, go_on).space = 0
        self.children(node, list(node.getChildren()), go_on, depth)

    def at_postfix(self, node: Any, go_on: Anchor, depth: int) -> None:
        """`t.0.1.0 .1`: without the blank, four numbers with dots would be an address."""
        numbers = 0
        for child in node.getChildren():
            self.visit(child, go_on, depth)
            is_number = (
                rule_of(child) == "suffix" and rule_of(child.getChild(0)) == "." and last(child) == first(child) + 1
            )
            is_number = is_number and child.getText()[1:].isdigit()
            numbers = numbers + 1 if is_number else 0
            if numbers == 4:
                self.gaps[first(child)].space = 1
                numbers = 1


def _shifted(anchor: Anchor, offset: int) -> Anchor:
    otherwise = anchor.otherwise and _shifted(anchor.otherwise, offset)
    return Anchor(anchor.origin, anchor.token, anchor.offset + offset, otherwise)


def _may_share(before: Any, item: Any) -> bool:
    """Two clauses, two fields or two params (ports, …), which may stand on one line of a body with many lines."""
    rules = [rule_of(n.getChild(0)) if rule_of(n) in ("nfItem", "headerItem") else rule_of(n) for n in (before, item)]
    if rules == ["clause", "clause"] or rules == ["headerField", "headerField"]:
        return True
    return rules[0] == rules[1] and rules[0] in _SIMPLE and before.stop.text == item.stop.text == ";"


def _ends_in_value(block: Any) -> bool:
    items = block.statement()
    if not items:
        return False
    final = items[-1].getChild(0)
    if rule_of(final) == "ifStatement":
        return _ends_in_value(final.getChild(2))
    return rule_of(final) == "expressionStatement" and final.stop.text != ";"
