"""Do two programs do the same to every packet, whatever registers, tables and hashes hold?

They are walked with the same free symbols. Ways on which nothing differs to the eye are put aside; of the others, no
two that some packet can take in either may differ in what can be seen of them: what leaves and where to, copies,
what registers become, which tables are looked up, what is hashed. Counters are seen by nobody's packet.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import z3

from polysome.p4 import program as pr
from polysome.prove.p4.pipe import Passed, passes
from polysome.prove.p4.store import Sum, Updated
from polysome.prove.traffic import without_copies
from polysome.prove.window import Frame, Term, Window

PATIENCE = 10_000  # ms for one question
MOST = 20_000  # questions
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
    """All ways through a gress; `firsts`: what the first byte of what egress gets can be, None if that may be any."""

    ways: tuple[Seen, ...]
    firsts: frozenset[int] | None


def same(one: pr.Program, other: pr.Program) -> bool:
    """False if they differ, or may."""
    return _same_gress(one, other, "ingress") and _same_gress(one, other, "egress")


def _same_gress(one: pr.Program, other: pr.Program, name: str) -> bool:
    changed = (one.actions, one.tables, one.register_actions) != (other.actions, other.tables, other.register_actions)
    if not changed and getattr(one, name) == getattr(other, name):
        return True
    known: tuple[Term, ...] = ()
    if name == "egress":  # what ingress never says needs no answer; it is the same ingress, as far as packets see
        firsts = walked(_Same(one), "ingress").firsts
        known = () if firsts is None else (z3.Or(*(Frame().byte(0) == first for first in sorted(firsts))),)
    mine, theirs = walked(_Same(one), name).ways, _walk(other, name).ways
    keys = {seen.key for seen in mine} & {seen.key for seen in theirs}
    left = [seen for seen in mine if seen.key not in keys]
    right = [seen for seen in theirs if seen.key not in keys]
    if len(left) * len(right) > MOST:
        return False
    return all(_agree(a, b, known) for a in left for b in right)


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
    ways, firsts, symbols = [], set[Term](), _Symbols()
    for p in passes(program, gress, Window(Frame()), name=f"{name}."):
        ways.append(_seen(p, symbols))
        firsts |= set() if p.lost else {z3.simplify(p.leaves.byte(0))}
        firsts |= set() if p.store.mirror is None else {z3.simplify(p.store.mirror.header[0])}
    known = all(z3.is_bv_value(first) for first in firsts)
    return Walked(tuple(ways), frozenset(first.as_long() for first in firsts) if known else None)


def _agree(a: Seen, b: Seen, known: tuple[Term, ...]) -> bool:
    """Is there no packet that takes both ways, and of which something else can be seen?"""
    solver = z3.Solver()
    solver.set("timeout", PATIENCE)
    solver.add(*known, *a.condition, *b.condition)
    if (
        a.fixed == b.fixed
        and len(a.terms) == len(b.terms)
        and all(x.sort() == y.sort() for x, y in zip(a.terms, b.terms, strict=True))
    ):
        solver.add(z3.Or(*(x != y for x, y in zip(a.terms, b.terms, strict=True) if not x.eq(y))))
    return bool(solver.check() == z3.unsat)


def _seen(p: Passed, symbols: _Symbols) -> Seen:
    fixed: list[Hashable] = [bool(p.lost)]
    terms: list[Term] = []
    for label, value in _observed(p):
        fixed.append(label)
        if isinstance(value, z3.ExprRef):
            terms.append(value)
        else:
            fixed.append(value)
    for name, meaning in _sums(p.store.sums, terms, symbols):
        fixed += [name, type(meaning).__name__, len(meaning.words), isinstance(meaning, Updated) and meaning.ones]
        terms += meaning.words
    return Seen(p.conditions, tuple(fixed), tuple(terms))


def _observed(p: Passed) -> Iterator[tuple[Hashable, Any]]:
    store = p.store
    if not p.lost:
        window = without_copies(p.leaves)
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
