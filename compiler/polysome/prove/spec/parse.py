"""The typed program's parser on a frame of which everything may be anything (LANGUAGE.md section 4).

This is interp/parse_code for all frames at once. Headers are at known bytes: where a size is not one number under the
assumptions, every size that it may have is an outcome of its own. What a header claims as the packet's end is a term.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from polysome import smt
from polysome.ir import program as ir
from polysome.prove.questions import Questions
from polysome.prove.spec.packet import FAR, PLACE, Decision, Parsed, Placed, Room, outside, place
from polysome.prove.window import Frame, Term
from polysome.symbolic.terms import resized
from polysome.symbolic.values import bits, conj, disj, neg
from polysome.syntax.spans import Span

MOST_SIZES = 64


class TooManySizes(Exception):
    """A header may have more sizes than can be walked one by one; more must be assumed."""


@dataclass(frozen=True)
class _Branch:
    """A way on: where the parser is then, and the node that comes next (-1: none)."""

    words: str
    condition: Term
    span: Span
    after: Parsed
    node: int


def parses(program: ir.Program, frame: Frame, assumptions: Sequence[Term] = ()) -> Iterator[Parsed]:
    """All feasible outcomes of the program's parser for frames that meet the assumptions, each frame having one.

    Raises TooManySizes where a header may have more than MOST_SIZES sizes. What the solver cannot decide counts as
    feasible.
    """
    solver = Questions(*assumptions, logic="QF_BV")
    if solver.check() != smt.unsat:
        begin = Parsed(program, frame, Room((resized(frame.length, PLACE),)))
        yield from _Walk(program, solver).node(0, begin)


class _Walk:
    """`solver` holds what is known of the frame where the walk is."""

    def __init__(self, program: ir.Program, solver: Questions) -> None:
        self.parser, self.solver = program.parser, solver

    def node(self, n: int, p: Parsed) -> Iterator[Parsed]:
        if n < 0:
            yield p
            return
        node = self.parser.nodes[n]
        if node.instance is None:
            yield from self._onward(node, p)
            return
        for branch, found in self._feasible(node, self._extractions(n, node.instance, p), p):
            if branch.node < 0:
                yield found
            else:
                yield from self._onward(node, found)

    def _onward(self, node: ir.ParseNode, p: Parsed) -> Iterator[Parsed]:
        for branch, found in self._feasible(node, _selected(node, p), p):
            yield from self.node(branch.node, found)

    def _feasible(
        self, node: ir.ParseNode, branches: Iterator[_Branch], before: Parsed
    ) -> Iterator[tuple[_Branch, Parsed]]:
        """Those of the branches (exclusive, and one of them holds) that some frame takes; the solver knows of each."""
        possible = [b for b in branches if self._possible(b.condition)]
        for branch in possible:
            decision = Decision(node.name, branch.words, branch.condition, branch.span)
            conditions = before.conditions if len(possible) == 1 else (*before.conditions, branch.condition)
            after = replace(branch.after, conditions=conditions, decisions=(*before.decisions, decision))
            self.solver.push()
            self.solver.add(branch.condition)
            yield branch, after
            self.solver.pop()

    def _possible(self, condition: Term) -> bool:
        if smt.is_false(condition):
            return False
        self.solver.push()
        self.solver.add(condition)
        found = self.solver.check()
        self.solver.pop()
        return found != smt.unsat

    # ------------------------------------------------------------ extracting

    def _extractions(self, n: int, i: int, p: Parsed) -> Iterator[_Branch]:
        """Instance i at p.pos: with each size that it can have, cut, or not there."""
        instance = self.parser.instances[i]
        header, pos, name = instance.header, p.pos, instance.name
        assert pos is not None
        span = header.span
        fixed = p.room.has(pos + header.fixed)
        whole = replace(p, headers=(*p.headers, Placed(i, pos, header.fixed, p.room)))
        formed, size, end = _rules(header, whole)
        taken = conj(fixed, formed, p.room.holds(place(pos) + size))
        for number in self._sizes(taken, size, name):
            room = p.room if end is None else p.room.narrowed(smt.simplify(place(pos) + end))
            claimed = p.claimed if p.claimed is not None or end is None else room.ends[-1]
            after = replace(
                p, headers=(*p.headers, Placed(i, pos, number, room)), room=room, pos=pos + number, claimed=claimed
            )
            exactly = conj(taken, smt.simplify(size == number))
            yield _Branch(f"{name} is there, {number} bytes", exactly, span, after, n)
        cut = smt.BoolVal(False)
        if instance.cut is not None:
            begun = p.room.has(pos + min(instance.cut, header.fixed))
            cut = smt.simplify(disj(conj(begun, neg(fixed)), conj(fixed, formed, neg(p.room.holds(place(pos) + size)))))
            after = replace(p, headers=(*p.headers, Placed(i, pos, None, p.room)), pos=None)
            yield _Branch(f"{name} is there, but cut", cut, span, after, -1)
        absent = outside(disj(taken, cut))
        yield _Branch(f"{name} does not fit, or is not well formed", absent, span, p, -1)

    def _sizes(self, taken: Term, size: Term, name: str) -> Iterator[int]:
        """The sizes that a header can have."""
        if smt.is_bv_value(size):
            yield size.as_long()
            return
        known: list[int] = []
        self.solver.push()
        self.solver.add(taken)
        while (model := self.solver.model()) is not None:
            known.append(model.eval(size, model_completion=True).as_long())
            if len(known) > MOST_SIZES:
                self.solver.pop()
                raise TooManySizes(f"`{name}` may have more than {MOST_SIZES} sizes")
            self.solver.add(size != known[-1])
        self.solver.pop()
        yield from sorted(known)


def _rules(header: ir.Header, p: Parsed) -> tuple[Term, Term, Term | None]:
    """Of the last header of `p`, of which the fixed fields are there: is it well formed, its size, its `end`."""
    formed = [p.value(header.valid)] if header.valid is not None else []
    size = place(header.fixed) if header.size is None else _length(p.value(header.size))
    end = None if header.end is None else _length(p.value(header.end))
    if header.size is not None:
        formed.append(smt.UGE(size, place(header.fixed)))
    if end is not None:
        formed.append(smt.UGE(end, size))
    return smt.simplify(conj(*formed)), size, end


def _length(term: Term) -> Term:
    """A number of bytes, of PLACE bits; `FAR` stands for all that is as far."""
    if term.size() < PLACE:
        return smt.simplify(resized(term, PLACE))
    return smt.simplify(smt.If(smt.UGE(term, bits(FAR, term.size())), place(FAR), resized(term, PLACE)))


# ---------------------------------------------------------------- going on


def _selected(node: ir.ParseNode, p: Parsed) -> Iterator[_Branch]:
    """Where parsing goes behind the node's header: one branch for each node that comes next, and -1."""
    found: dict[int, list[tuple[str, Term]]] = {}
    left: Term = smt.BoolVal(True)
    for hook, target in node.hooks:
        condition = smt.BoolVal(True) if hook is None else p.value(hook)
        found.setdefault(target, []).append(("its hook", conj(left, condition)))
        left = conj(left, neg(condition))
    keys = [_number(p.value(key)) for key in node.keys] if node.cases else []
    for case in node.cases:
        condition = disj(*(_matches(keys, match) for match in case.matches))
        words = " or ".join(_words(match) for match in case.matches)
        found.setdefault(case.target, []).append((words, conj(left, condition)))
        left = conj(left, neg(condition))
    found.setdefault(-1, []).append(("nothing else" if found else "the end", left))
    spans = [key.span for key in node.keys] or [hook.span for hook, _ in node.hooks if hook is not None]
    span = spans[0] if spans else p.program.parser.instances[p.path[-1]].header.span if p.path else p.program.span
    for target, ways in found.items():
        words = "; ".join(words for words, _ in ways)
        yield _Branch(words, smt.simplify(disj(*(c for _, c in ways))), span, p, target)


def _number(key: Term) -> Term:
    return smt.If(key, bits(1, 1), bits(0, 1)) if smt.is_bool(key) else key


def _matches(keys: list[Term], match: ir.Match) -> Term:
    found = []
    for key, bounds in zip(keys, match.ranges, strict=True):
        if bounds is not None:
            low, high = bounds
            found.append(key == low if low == high else smt.And(smt.UGE(key, low), smt.ULE(key, high)))
    return conj(*found)


def _words(match: ir.Match) -> str:
    parts = ["_" if r is None else f"{r[0]:#x}" if r[0] == r[1] else f"{r[0]:#x}..{r[1]:#x}" for r in match.ranges]
    return f"({', '.join(parts)})"
