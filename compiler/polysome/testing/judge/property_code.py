"""A property as one Python function that runs over everything its `for`s name, and stops at the first failure."""

from __future__ import annotations

from dataclasses import dataclass
from types import CodeType
from typing import Any

from polysome.interp.compiled import compiled
from polysome.ir import program as ir
from polysome.ir import properties as pr
from polysome.ir.walk import walk
from polysome.testing.judge.conditions import conjuncts
from polysome.testing.judge.expressions import VALUE, PropertyCode
from polysome.testing.judge.joins import Orders
from polysome.testing.judge.loops import guarded, indented

DEEPEST = 12  # blocks inside one another in one function; Python allows 20


@dataclass(frozen=True)
class Judge:
    """`run()` in `code` gives (cases, None) or (cases, (number of the expectation, values by slot))."""

    source: str
    code: CodeType
    constants: dict[str, Any]
    expectations: tuple[pr.Expect, ...]
    kinds: dict[int, str]
    maybe: frozenset[int]


def judge(program: ir.Program, property: pr.Property) -> Judge:
    """The function of a property."""
    writer = _Writer(PropertyCode(program))
    body = writer.items(property.items, ())
    c = writer.c
    lines = [
        *c.lines,
        "def run():",
        *indented(["cases = 0", *body, "return cases, None"]),
    ]
    source = "\n".join(lines) + "\n"
    return Judge(
        source,
        compiled(source, f"property {property.name}"),
        c.constants,
        tuple(writer.expectations),
        dict(c.kinds),
        frozenset(c.maybe),
    )


class _Writer:
    """Writes the items of one property."""

    def __init__(self, code: PropertyCode) -> None:
        self.c = code
        self.expectations: list[pr.Expect] = []
        self._depth = 0
        self._functions = 0

    def items(self, items: tuple[pr.Item, ...], slots: tuple[int, ...]) -> list[str]:
        """The lines for items inside which `slots` are bound."""
        lines: list[str] = []
        for item in items:
            match item:
                case pr.Let(slot=slot, value=value):
                    code = self.c.value(value)
                    self.c.kinds[slot] = VALUE
                    self.c.maybe |= {slot} if code.maybe else set()
                    lines.append(f"s{slot} = {code.text}")
                    slots = (*slots, slot)
                case pr.Expect():
                    lines += self._expect(item, slots)
                case pr.ForAll():
                    lines += self._for(item, slots)
        return lines

    def _expect(self, item: pr.Expect, slots: tuple[int, ...]) -> list[str]:
        values = ", ".join(f"{slot}: s{slot}" for slot in slots)
        number = len(self.expectations)
        self.expectations.append(item)
        failure = [f"if not {self.c.test(item.condition)}: return cases, ({number}, {{{values}}})"]
        if any(_is_run(node) for node in walk(item.condition)):
            # An engine that is not here hides no other expectation.
            failure = ["try:", *indented(failure), "except Unsupported as lacking: skipped.append(str(lacking))"]
        return ["cases += 1", *failure]

    # ------------------------------------------------------------ for

    def _for(self, item: pr.ForAll, slots: tuple[int, ...]) -> list[str]:
        c = self.c
        for slot in item.slots:
            c.kinds[slot] = item.domain.kind
        where = conjuncts(item.where)
        if item.domain.kind == VALUE:
            return self._for_values(item, where, slots)
        bound = frozenset(slots)
        outside = [e for e in where if not c.free(e) & set(item.slots)]
        inner = self._levels(item, 0, [e for e in where if c.free(e) & set(item.slots)], bound)
        return guarded([c.test(e) for e in outside], inner)

    def _levels(self, item: pr.ForAll, level: int, where: list[ir.Expr], bound: frozenset[int]) -> list[str]:
        """The loops from the name at `level` on; `where` is still to be tested."""
        c, slots = self.c, item.slots
        if level == len(slots):
            return self.items(item.body, tuple(sorted(bound)))
        self._depth += 2
        deeper = self._depth > DEEPEST
        before = self._depth
        if deeper:
            self._depth = 0
        slot = slots[level]
        known = bound | {slot}
        now = [e for e in where if c.free(e) <= known]
        later = [e for e in where if not c.free(e) <= known]
        pairs: Orders = frozenset((a, b) for n, a in enumerate(slots) for b in slots[n + 1 :])
        join = c.loops.planner(slot, True, True, pairs).plan(now)
        previous = f"s{slots[level - 1]}" if level else None
        inner = self._levels(item, level + 1, later, known)
        lines = [
            f"b{slot} = {c.loops.bucket(slot, item.domain.kind, join)}",
            f"if b{slot} is not None:",
            *indented(
                [
                    f"b = b{slot}",
                    *c.loops.bounds(join, item.domain.kind, previous),
                    f"for s{slot} in b.items[i:j]:",
                    *indented(guarded([c.test(r) for r in join.rest], inner)),
                ]
            ),
        ]
        self._depth = before - 2
        return self._apart(lines) if deeper else lines

    def _for_values(self, item: pr.ForAll, where: list[ir.Expr], slots: tuple[int, ...]) -> list[str]:
        self._depth += 2
        deeper = self._depth > DEEPEST
        before = self._depth
        if deeper:
            self._depth = 0
        assert item.domain.source is not None
        source = self.c.loops.collection(item.domain.source)
        inner = guarded([self.c.test(e) for e in where], self.items(item.body, (*slots, *item.slots)))
        over = f"({source.text} or ())" if source.maybe else source.text
        lines = [f"for {', '.join(f's{slot}' for slot in item.slots)} in {over}:", *indented(inner)]
        self._depth = before - 2
        return self._apart(lines) if deeper else lines

    def _apart(self, lines: list[str]) -> list[str]:
        """As a function of its own inside the other, because blocks cannot be nested for ever."""
        self._functions += 1
        name = f"deeper{self._functions}"
        return [
            f"def {name}():",
            *indented(["nonlocal cases", *lines, "return None"]),
            f"failed = {name}()",
            "if failed is not None: return failed",
        ]


def _is_run(e: ir.Node) -> bool:
    """Does it stand for a run?"""
    return isinstance(e, ir.Expr) and isinstance(e.type, pr.Outputs)
