"""Do two programs do the same to every packet, whatever registers, tables and hashes hold?

They are walked with the same free symbols. Ways on which nothing differs to the eye are put aside; of the others, no
two that some packet can take in either may differ in what can be seen of them: what leaves and where to, copies,
what registers become, which of the controller's tables are looked up, what is hashed. Counters are seen by nobody's
packet, and of tables that stand in the program what their actions do.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

from polysome import smt
from polysome.p4 import program as pr
from polysome.p4.types import Composite, width
from polysome.prove.case import CONTROLLER
from polysome.prove.p4.pipe import Passed, passes
from polysome.prove.p4.store import Sum, Updated
from polysome.prove.window import Frame, Term, Window

PATIENCE = 10_000  # ms for one question
MOST = 20_000  # questions
FIRST = 2  # bytes of what egress gets that say what it is: which copy, and of which way
_OUTSIDE = ("tm", "dprsr", "oport")


@dataclass(frozen=True)
class Seen:
    """What can be seen of a pass: what must be equal, and the terms that must."""

    condition: tuple[Term, ...]
    fixed: tuple[Hashable, ...]
    terms: tuple[Term, ...]

    @property
    def key(self) -> Hashable:
        return (frozenset(c.get_id() for c in self.condition), self.fixed, tuple(t.get_id() for t in self.terms))


@dataclass(frozen=True)
class Walked:
    """All ways through a gress; `firsts`: what the first bytes of what egress gets can be, None if they may be any."""

    ways: tuple[Seen, ...]
    firsts: frozenset[tuple[int, ...]] | None


def same(one: pr.Program, other: pr.Program) -> bool:
    """False if they differ, or may."""
    return _same_gress(one, other, "ingress") and _same_gress(one, other, "egress")


def _same_gress(one: pr.Program, other: pr.Program, name: str) -> bool:
    changed = (one.actions, one.tables, one.register_actions) != (other.actions, other.tables, other.register_actions)
    if not changed and getattr(one, name) == getattr(other, name):
        return True
    known: tuple[Term, ...] = ()
    firsts = None
    if name == "egress":  # what ingress never says needs no answer; it is the same ingress, as far as packets see
        firsts = walked(_Same(one), "ingress").firsts
    if _same_cases(one, other, name, firsts):
        return True
    if name == "egress":
        known = () if firsts is None else (smt.Or(*(_begins(first) for first in sorted(firsts))),)
    mine, theirs = walked(_Same(one), name).ways, _walk(other, name).ways
    keys = {seen.key for seen in mine} & {seen.key for seen in theirs}
    left = [seen for seen in mine if seen.key not in keys]
    right = [seen for seen in theirs if seen.key not in keys]
    if len(left) * len(right) > MOST:
        return False
    return all(_agree(a, b, known) for a in left for b in right)


def _begins(first: tuple[int, ...]) -> Term:
    return smt.And(*(Frame().byte(k) == byte for k, byte in enumerate(first)))


def _same_cases(one: pr.Program, other: pr.Program, name: str, firsts: frozenset[tuple[int, ...]] | None) -> bool:
    """Do they differ only in cases of the gress's parser states that lead to the same states all the same?"""
    mine, theirs = (getattr(p, name) for p in (one, other))
    rest = replace(theirs, parser=replace(theirs.parser, states=mine.parser.states))
    parts = ("actions", "tables", "register_actions")
    called = all(getattr(one, part) == getattr(other, part) for part in parts)
    if not called or rest != mine or len(mine.parser.states) != len(theirs.parser.states):
        return False
    pairs = [(a, b) for a, b in zip(mine.parser.states, theirs.parser.states, strict=True) if a is not b]
    return all(replace(b, cases=a.cases) == a and _same_targets(a, b, name, firsts) for a, b in pairs)


def _same_targets(a: pr.State, b: pr.State, name: str, firsts: frozenset[tuple[int, ...]] | None) -> bool:
    """Whatever the state selects on; what a role, or the first bytes of what egress gets, can be is known."""
    keys = [smt.BitVec(f"key {n}", width(value.type)) for n, value in enumerate(a.values)]
    targets = {target: smt.IntVal(n) for n, target in enumerate(sorted({c.state for c in (*a.cases, *b.cases)}))}
    solver = smt.Solver()
    if a.name == "start" and name == "ingress":
        solver.add(*(smt.ULE(key, CONTROLLER) for key in keys))
    if a.name == "start" and name == "egress" and firsts is not None and _are_first(a):
        met = [smt.And(*(key == byte for key, byte in zip(keys, first, strict=False))) for first in sorted(firsts)]
        solver.add(smt.Or(*met))
    solver.add(_target(a, keys, targets) != _target(b, keys, targets))
    return bool(solver.check() == smt.unsat)


def _are_first(state: pr.State) -> bool:
    """Does it select on the first bytes of the header behind the chip's own?"""
    headers = [s.header for s in state.body if isinstance(s, pr.Extract)]
    last = headers[-1]
    assert isinstance(last.type, Composite)
    first = [(*last.key, name) for name, kind in last.type.fields[: len(state.values)] if width(kind) == 8]
    return [value.key for value in state.values if isinstance(value, pr.Place)] == first


def _target(state: pr.State, keys: list[Term], targets: Mapping[str, Term]) -> Term:
    found = smt.IntVal(-1)
    for case in reversed(state.cases):
        met = smt.And(*(key & mask == value for key, (value, mask) in zip(keys, case.keys, strict=True)))
        found = smt.If(met, targets[case.state], found)
    return found


@dataclass(frozen=True)
class _Same:
    """A program by identity: comparing programs takes long."""

    program: pr.Program

    def __hash__(self) -> int:
        return id(self.program)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self.program is other.program


@lru_cache(maxsize=4)
def walked(one: _Same, name: str) -> Walked:
    return _walk(one.program, name)


def _walk(program: pr.Program, name: str) -> Walked:
    gress = program.ingress if name == "ingress" else program.egress
    ways, firsts, symbols = [], set[tuple[Term, ...]](), _Symbols()
    for p in passes(program, gress, Window(Frame()), name=f"{name}."):
        ways.append(_seen(program, p, symbols))
        firsts |= set() if p.lost else {tuple(smt.simplify(p.leaves.byte(k)) for k in range(FIRST))}
        firsts |= set() if p.store.mirror is None else {tuple(map(smt.simplify, p.store.mirror.header[:FIRST]))}
    known = all(smt.is_bv_value(byte) for first in firsts for byte in first)
    numbers = frozenset(tuple(byte.as_long() for byte in first) for first in firsts) if known else None
    return Walked(tuple(ways), numbers)


def _agree(a: Seen, b: Seen, known: tuple[Term, ...]) -> bool:
    """Is there no packet that takes both ways, and of which something else can be seen?"""
    solver = smt.Solver()
    solver.patience(PATIENCE)
    solver.add(*known, *a.condition, *b.condition)
    if (
        a.fixed == b.fixed
        and len(a.terms) == len(b.terms)
        and all(x.size() == y.size() for x, y in zip(a.terms, b.terms, strict=True))
    ):
        solver.add(smt.Or(*(x != y for x, y in zip(a.terms, b.terms, strict=True) if not x.eq(y))))
    return bool(solver.check() == smt.unsat)


def _seen(program: pr.Program, p: Passed, symbols: _Symbols) -> Seen:
    fixed: list[Hashable] = [bool(p.lost)]
    terms: list[Term] = []
    for label, value in _observed(program, p):
        fixed.append(label)
        if isinstance(value, smt.Term):
            terms.append(value)
        else:
            fixed.append(value)
    for name, meaning in _sums(p.store.sums, terms, symbols):
        added = [word for word in meaning.words if not (smt.is_bv_value(word) and word.as_long() == 0)]
        fixed += [name, type(meaning).__name__, len(added), isinstance(meaning, Updated) and meaning.ones]
        terms += added
    return Seen(p.conditions, tuple(fixed), tuple(terms))


def _observed(program: pr.Program, p: Passed) -> Iterator[tuple[Hashable, Any]]:
    store = p.store
    if not p.lost:
        window = p.leaves.trimmed
        yield ("leaves", len(window.prefix), window.first), 0
        for byte in window.prefix:
            yield "byte", byte
        for key in sorted(store.values):
            if key[0] in _OUTSIDE:
                yield key, store.values[key]
    if store.mirror is not None:
        yield ("mirror", len(store.mirror.header)), store.mirror.session
        for byte in store.mirror.header:
            yield "byte", byte
    for access in store.accesses:
        yield access.action, access.index
        for part, value in sorted(access.new.items()):
            yield part, value
    for ran in store.ran:
        if program.tables[ran.table].fixed:
            continue
        yield (ran.table, ran.action, ran.hit), 0
        for value in (*ran.keys, *ran.args):
            yield "key", value
    for hashed in store.hashed:
        yield (hashed.algorithm, len(hashed.over)), 0
        for byte in hashed.over:
            yield "byte", byte


@dataclass
class _Symbols:
    """The free symbols of terms; each term is looked through once, and kept, as numbers of terms are used again."""

    known: dict[int, tuple[Term, frozenset[str]]] = field(default_factory=dict)

    def of(self, term: Term) -> frozenset[str]:
        found = self.known.get(term.get_id())
        if found is None:
            parts = term.children()
            names = frozenset[str]().union(*(self.of(p) for p in parts)) if parts else frozenset({str(term)})
            found = self.known[term.get_id()] = (term, names)
        return found[1]


def _sums(sums: Mapping[str, Sum], terms: list[Term], symbols: _Symbols) -> list[tuple[str, Sum]]:
    """The sums that the terms speak of; sums may be over sums."""
    found: dict[str, Sum] = {}
    todo = list(terms)
    while todo:
        for name in symbols.of(todo.pop()) & sums.keys() - found.keys():
            found[name] = sums[name]
            todo += sums[name].words
    return sorted(found.items())
