"""Ones' complement arithmetic (RFC 1071) kept structurally: sums of words are integers modulo 65535.

Adding two 16-bit words with end-around carry gives a number congruent to their sum modulo 65535 that is 0 only if both
are (tests/prove/test_ones.py proves it for all pairs, so it holds for any number of words). What a checksum holds is
therefore a class modulo 65535, and a word says besides which of the two zeros, 0000 or ffff, stands for class 0.

A `Sum` is a linear form over bits, so sums of the same bytes are equal whatever order, grouping and carries they were
written with; only what does not cancel is given to the solver, as integers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from polysome import smt
from polysome.prove.window import Term

MODULUS = 0xFFFF
ONES = 0xFFFF

_Bit = tuple[int, int]  # identity of a term, and a bit of it


@dataclass(frozen=True)
class Sum:
    """`constant` plus the bits with their coefficients, modulo 65535; `terms`: by identity, what the bits are of."""

    constant: int = 0
    bits: Mapping[_Bit, int] = field(default_factory=dict)
    terms: Mapping[int, Term] = field(default_factory=dict)

    def __add__(self, other: Sum) -> Sum:
        bits = dict(self.bits)
        for bit, coefficient in other.bits.items():
            _put(bits, bit, coefficient)
        return Sum((self.constant + other.constant) % MODULUS, bits, {**self.terms, **other.terms})

    def __neg__(self) -> Sum:
        return self.times(-1)

    def __sub__(self, other: Sum) -> Sum:
        return self + -other

    def times(self, factor: int) -> Sum:
        """The sum, `factor` times."""
        bits = {bit: c * factor % MODULUS for bit, c in self.bits.items() if c * factor % MODULUS}
        return Sum(self.constant * factor % MODULUS, bits, self.terms)

    @property
    def is_zero(self) -> bool | None:
        """Congruent to 0 whatever the terms are; None: that depends on them."""
        return None if self.bits else self.constant == 0

    def zero(self) -> Term:
        """Is it congruent to 0? A constant if all cancels; else a condition over integers."""
        if not self.bits:
            return smt.BoolVal(self.constant == 0)
        if (word := self._word()) is not None:
            return word == 0 if word.size() < 16 else smt.Or(word == 0, word == ONES)
        total: Term = smt.IntVal(_small(self.constant))
        for part, coefficient in self._parts():
            total = total + _small(coefficient) * smt.BV2Int(part)
        return total % MODULUS == 0

    def zero_in_bits(self) -> Term:
        """The same over bit vectors: the solver finds numbers for which it holds."""
        if not self.bits:
            return smt.BoolVal(self.constant == 0)
        parts = [_positive(part, coefficient) for part, coefficient in self._parts()]
        most = self.constant + sum(c * ((1 << part.size()) - 1) for part, c in parts)
        bits = most.bit_length()
        total: Term = smt.BitVecVal(self.constant, bits)
        for part, coefficient in parts:
            total = total + smt.ZeroExt(bits - part.size(), part) * coefficient
        while most > 2 * MODULUS:
            total = (total & ONES) + smt.LShR(total, 16)
            most = (most >> 16) + ONES
        return smt.Or(*(total == k * MODULUS for k in range(most // MODULUS + 1)))

    def equals(self, other: Sum) -> Term:
        """Are the two congruent?"""
        return (self - other).zero()

    def _word(self) -> Term | None:
        """The bits in their order, if there is no more in the sum, or in minus it, than bits of one word, each once."""
        for sign in (1, -1):
            by_weight = {sign * c % MODULUS: bit for bit, c in self.bits.items()}
            if self.constant == 0 and len(by_weight) == len(self.bits) and all(w.bit_count() == 1 for w in by_weight):
                bits = [
                    smt.Extract(k, k, self.terms[name]) for name, k in (by_weight[w] for w in sorted(by_weight)[::-1])
                ]
                return smt.simplify(smt.Concat(*bits) if len(bits) > 1 else bits[0])
        return None

    def _parts(self) -> Iterator[tuple[Term, int]]:
        """The bits joined again: slices of terms, as long as they can be, with the coefficients of their last bits."""
        left = dict(self.bits)
        while left:
            (name, low), coefficient = min(left.items())
            high, c = low, coefficient
            while left.get((name, high)) == c:
                del left[name, high]
                high, c = high + 1, 2 * c % MODULUS
            yield smt.Extract(high - 1, low, self.terms[name]), coefficient


def words(*items: Term | int) -> Sum:
    """The sum of 16-bit words: each item is a bit vector of whole words, or the number that one word holds."""
    total = Sum()
    for item in items:
        total = total + (Sum(item % MODULUS) if isinstance(item, int) else _weighted(item, 1))
    return total


def octet(item: Term, at: int) -> Sum:
    """What an 8-bit term adds that stands `at` bytes behind the beginning of what is summed up."""
    return _weighted(item, 1 if at % 2 else 0x100)


def again(term: Term) -> Term:
    """A condition with each `Sum.zero()` in it written anew: what cancels since symbols were replaced is left out."""
    return _rewritten(term, Sum.zero)


def in_bits(term: Term) -> Term:
    """A condition with each `Sum.zero()` in it over bit vectors."""
    return _rewritten(term, Sum.zero_in_bits)


def _rewritten(term: Term, zero: Callable[[Sum], Term]) -> Term:
    if smt.is_eq(term) and smt.is_app_of(term.arg(0), smt.MOD) and smt.is_int_value(term.arg(1)):
        total, modulus = term.arg(0).children()
        if smt.is_int_value(modulus) and modulus.as_long() == MODULUS and term.arg(1).as_long() == 0:
            return zero(_linear(total))
    if smt.is_bool(term) and term.num_args():
        return term.with_children([_rewritten(part, zero) if smt.is_bool(part) else part for part in term.children()])
    return term


def _linear(total: Term) -> Sum:
    """A sum of integers that are bit vectors, with coefficients."""
    if smt.is_int_value(total):
        return Sum(total.as_long() % MODULUS)
    if smt.is_app_of(total, smt.BV2INT):
        return _weighted(total.arg(0), 1)
    if smt.is_app_of(total, smt.ADD):
        parts = [_linear(part) for part in total.children()]
        return sum(parts[1:], parts[0])
    assert smt.is_app_of(total, smt.MUL) and smt.is_int_value(total.arg(0)), total
    return _linear(total.arg(1)).times(total.arg(0).as_long())


def _weighted(item: Term, weight: int) -> Sum:
    """A bit vector as a number, `weight` times: what stands 16 bits higher counts the same."""
    constant = 0
    bits: dict[_Bit, int] = {}
    terms: dict[int, Term] = {}
    for piece, shift in _pieces(smt.simplify(item), 0):
        scale = weight * pow(2, shift, MODULUS) % MODULUS
        if smt.is_bv_value(piece):
            constant += scale * piece.as_long()
            continue
        base, low = piece, 0
        if smt.is_app_of(piece, smt.EXTRACT):
            base, low = piece.arg(0), piece.parameter(1)
        terms[base.get_id()] = base
        for k in range(piece.size()):
            _put(bits, (base.get_id(), low + k), scale * pow(2, k, MODULUS))
    return Sum(constant % MODULUS, bits, terms)


def _put(bits: dict[_Bit, int], bit: _Bit, coefficient: int) -> None:
    total = (bits.get(bit, 0) + coefficient) % MODULUS
    if total:
        bits[bit] = total
    else:
        bits.pop(bit, None)


def _pieces(item: Term, shift: int) -> Iterator[tuple[Term, int]]:
    """What a term is concatenated of, last first, each with the number of bits behind it."""
    if smt.is_app_of(item, smt.CONCAT):
        for child in reversed(item.children()):
            yield from _pieces(child, shift)
            shift += child.size()
    else:
        yield item, shift


def _positive(part: Term, coefficient: int) -> tuple[Term, int]:
    """The same modulo 65535, with a coefficient that is small and positive: minus a number is its complement."""
    if coefficient <= MODULUS // 2:
        return part, coefficient
    return ~smt.ZeroExt(-part.size() % 16, part), MODULUS - coefficient


def _small(coefficient: int) -> int:
    """The same modulo 65535, as near to 0 as can be."""
    return coefficient if coefficient <= MODULUS // 2 else coefficient - MODULUS


@dataclass(frozen=True)
class Word:
    """A 16-bit number, known by its class modulo 65535; if that is 0, it is ffff where `ones` holds, else 0000."""

    sum: Sum
    ones: Term

    @staticmethod
    def of(term: Term) -> Word:
        """A 16-bit term."""
        term = smt.simplify(term)
        return Word(words(term), smt.simplify(term == ONES))

    def __invert__(self) -> Word:
        """Its complement: ffff minus it."""
        return Word(-self.sum, smt.simplify(smt.Not(self.ones)))

    def equals(self, other: Word) -> Term:
        """Are the two the same number?"""
        same = smt.simplify(self.ones == other.ones)
        congruent = self.sum.equals(other.sum)
        if smt.is_true(same) or smt.is_false(congruent):
            return congruent
        which = smt.Or(same, smt.Not(self.sum.zero()))
        return which if smt.is_true(congruent) else smt.And(congruent, which)

    def obligations(self, other: Word) -> Iterable[Term]:
        """Two conditions that together say `equals`: the same class, and in class 0 the same zero."""
        return (self.sum.equals(other.sum), smt.Or(self.ones == other.ones, smt.Not(self.sum.zero())))


def folded(total: Sum, nothing: Term) -> Word:
    """Words added with end-around carry: 0000 only if `nothing` (all of them are 0000), else class 0 is ffff."""
    return Word(total, smt.simplify(smt.Not(nothing)))


def added(items: Iterable[Term | Word]) -> Word:
    """The words of the items (bit vectors of whole words, or `Word`s) added with end-around carry."""
    total, something = Sum(), []
    for item in items:
        if isinstance(item, Word):
            total = total + item.sum
            something.append(smt.Or(item.ones, smt.Not(item.sum.zero())))
        else:
            total = total + words(item)
            something.append(item != 0)
    return folded(total, smt.Not(smt.Or(*something)) if something else smt.BoolVal(True))


def updated(old: Term | Word, difference: Sum) -> Word:
    """RFC 1624, equation 3, as LANGUAGE.md L10.2 has it: `old` minus the difference, never ffff."""
    before = old if isinstance(old, Word) else Word.of(old)
    return Word(before.sum - difference, smt.BoolVal(False))
