"""What leaves of a packet of which header fields are edited: the reference `apply` (LANGUAGE.md L10.1 to L10.3).

For edits of fields only: nothing is pushed, popped or truncated. Checksums are kept as `ones.Word`s.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from polysome import smt
from polysome.ir import program as ir
from polysome.prove.ones import ONES, Sum, Word, octet, words
from polysome.prove.spec.packet import Parsed
from polysome.prove.window import Term
from polysome.symbolic.values import FALSE, bits, conj, disj, neg

Edits = Mapping[tuple[int, int], Term]  # by header instance and field: what was written last, or what it held


@dataclass(frozen=True)
class Left:
    """What leaves, for frames that meet `conditions` besides those of `parsed`.

    `octets` are the bytes that edits may have changed, `words` the checksums over such bytes (two bytes from their
    place on); all other bytes are the frame's, up to `parsed.end`, where the packet ends.
    """

    parsed: Parsed
    octets: Mapping[int, Term]
    words: Mapping[int, Word] = field(default_factory=dict)
    conditions: tuple[Term, ...] = ()

    def byte(self, k: int) -> Term:
        """Byte k, which is part of no checksum in `words`."""
        assert k not in self.words and k - 1 not in self.words, k
        return self.octets.get(k, self.parsed.frame.byte(k))


def leaves(parsed: Parsed, edits: Edits) -> Iterator[Left]:
    """What leaves of the packet with these edits: the outcomes exclude each other, and one of them holds.

    Edited headers must be there. An edit that writes what the field held is none.
    """
    octets, changes = _written(parsed, edits)
    todo = [_Case(Left(parsed, octets), changes)]
    for position in range(len(parsed.headers) - 1, -1, -1):
        header = parsed.program.parser.instances[parsed.headers[position].instance].header
        for shape in header.fields:
            if shape.checksum is not None:
                todo = [after for case in todo for after in _summed(case, position, shape, shape.checksum)]
    yield from (case.left for case in todo)


@dataclass(frozen=True)
class _Change:
    """Bytes from `at` on that differ from those that came where `condition` holds.

    `difference` is what they add (new minus old) to a sum of words that begins at an even distance from `at`;
    `position` that of their header on the path; `causes` other changes, one of which there is whenever this one is.
    """

    at: int
    position: int
    condition: Term
    difference: Sum
    causes: frozenset[int] = frozenset()


@dataclass(frozen=True)
class _Case:
    left: Left
    changes: tuple[_Change, ...]


def _written(parsed: Parsed, edits: Edits) -> tuple[dict[int, Term], tuple[_Change, ...]]:
    """The bytes of the edited fields, and which of them change."""
    octets: dict[int, Term] = {}
    changes = []
    for position, header in enumerate(parsed.headers):
        shapes = parsed.program.parser.instances[header.instance].header.fields
        fields = [(shapes[f], _bits(v, shapes[f].width)) for (i, f), v in edits.items() if i == header.instance]
        touched = {k for shape, _ in fields for k in range(shape.offset // 8, (shape.offset + shape.width + 7) // 8)}
        for k in sorted(touched):
            at = header.offset + k
            old, there = parsed.frame.byte(at), header.has(k + 1)
            new = smt.simplify(smt.If(there, _octet(old, k, fields), old))
            differs = smt.simplify(new != old)
            if not smt.is_false(differs):
                octets[at] = new
                changes.append(_Change(at, position, differs, octet(new, 0) - octet(old, 0)))
    return octets, tuple(changes)


def _bits(value: Term, width: int) -> Term:
    return smt.If(value, bits(1, width), bits(0, width)) if smt.is_bool(value) else value


def _octet(old: Term, k: int, fields: list[tuple[ir.Field, Term]]) -> Term:
    """Byte k of a header with the new values of its fields."""
    pieces = []
    bit, stop = 8 * k, 8 * k + 8
    while bit < stop:
        ahead = [(shape, value) for shape, value in fields if shape.offset + shape.width > bit]
        shape, value = min(ahead, key=lambda f: f[0].offset, default=(None, None))
        if shape is not None and value is not None and shape.offset <= bit:
            behind = shape.offset + shape.width
            until = min(behind, stop)
            pieces.append(smt.Extract(behind - 1 - bit, behind - until, value))
        else:
            until = stop if shape is None else min(shape.offset, stop)
            pieces.append(smt.Extract(stop - 1 - bit, stop - until, old))
        bit = until
    return pieces[0] if len(pieces) == 1 else smt.Concat(*pieces)


# ---------------------------------------------------------------- checksums


def _summed(case: _Case, position: int, shape: ir.Field, checksum: ir.Checksum) -> Iterator[_Case]:
    """The case with one checksum updated; more than one where it may not exist, or be none."""
    parsed = case.left.parsed
    header = parsed.headers[position]
    at = header.offset + shape.offset // 8
    covered = _covered(parsed, position, checksum, case.changes)
    if not covered:
        yield case
        return
    there = header.has(shape.offset // 8 + 2)
    old = smt.Concat(parsed.frame.byte(at), parsed.frame.byte(at + 1))
    none = old == 0 if checksum.zero_is_none else FALSE
    untouched, updated = disj(neg(there), none), conj(there, neg(none))
    if not smt.is_false(untouched):
        yield _given(case, untouched)
    if not smt.is_false(updated):
        yield _updated(_given(case, updated), position, at, old, covered, checksum)


def _given(case: _Case, condition: Term) -> _Case:
    if smt.is_true(condition):
        return case
    return replace(case, left=replace(case.left, conditions=(*case.left.conditions, condition)))


def _covered(
    parsed: Parsed, position: int, checksum: ir.Checksum, changes: tuple[_Change, ...]
) -> list[tuple[_Change, Sum]]:
    """The changes that a checksum covers, each with what it adds to the sum.

    Bytes of headers behind are covered by `rest` without a look at where it ends: they are inside its room.
    """
    found = []
    ranges = _pseudo(parsed, position) if "pseudo" in checksum.parts else []
    for change in changes:
        if "header" in checksum.parts and (
            change.position == position or (change.position > position and "rest" in checksum.parts)
        ):
            first: int | None = parsed.headers[position].offset
        else:
            first = next((low for low, behind in ranges if low <= change.at < behind), None)
        if first is not None:
            found.append((change, change.difference.times(0x100 if (change.at - first) % 2 else 1)))
    return found


def _pseudo(parsed: Parsed, position: int) -> list[tuple[int, int]]:
    """The bytes that the nearest header before lists."""
    for placed in reversed(parsed.headers[:position]):
        header = parsed.program.parser.instances[placed.instance].header
        if header.pseudo:
            shapes = [header.fields[f] for f in header.pseudo]
            firsts = [(placed.offset + shape.offset // 8, shape.width // 8) for shape in shapes]
            return [(first, first + count) for first, count in firsts]
    return []


def _updated(
    case: _Case, position: int, at: int, old: Term, covered: list[tuple[_Change, Sum]], checksum: ir.Checksum
) -> _Case:
    """The checksum at `at` after the covered changes: RFC 1624, equation 3; untouched if there is none of them."""
    difference = Sum()
    for _, added in covered:
        difference = difference + added
    causes = frozenset(cause for change, _ in covered for cause in (change.causes or {change.at}))
    plain = {change.at for change, _ in covered if not change.causes}
    changed = smt.simplify(disj(*(c.condition for c, _ in covered if not c.causes or not c.causes <= plain)))
    ones = smt.If(changed, smt.BoolVal(checksum.never_zero), old == ONES)
    word = Word(words(old) - difference, smt.simplify(ones))
    left = replace(case.left, words={**case.left.words, at: word})
    differs = smt.Not(word.equals(Word.of(old)))
    change = _Change(at, position, differs, word.sum - words(old), causes)
    return replace(case, left=left, changes=(*case.changes, change))
