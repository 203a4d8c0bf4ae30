"""Sums modulo 65535: the lemma that they rest on, and that what they say of words is what adding with carry gives."""

from __future__ import annotations

import pytest

from polysome import smt
from polysome.prove.ones import Sum, Word, added, again, in_bits, octet, updated, words

A, B, C = smt.BitVec("a", 16), smt.BitVec("b", 16), smt.BitVec("c", 16)
BYTES = [smt.BitVec(f"byte{k}", 8) for k in range(8)]


def proved(claim: smt.Term) -> bool:
    solver = smt.Solver()
    solver.patience(200_000)
    solver.add(smt.Not(claim))
    return bool(solver.check() == smt.unsat)


def carried(a: smt.Term, b: smt.Term) -> smt.Term:
    """Two words added with end-around carry, as hardware does."""
    total = smt.ZeroExt(1, a) + smt.ZeroExt(1, b)
    return smt.Extract(15, 0, total) + smt.ZeroExt(15, smt.Extract(16, 16, total))


def test_adding_with_carry_is_adding_modulo_65535_and_0_only_of_zeros() -> None:
    wide = smt.ZeroExt(1, A) + smt.ZeroExt(1, B)
    result = smt.ZeroExt(1, carried(A, B))
    assert proved(smt.Or(result == wide, result + 0xFFFF == wide))
    assert proved((result == 0) == smt.And(A == 0, B == 0))
    assert not proved((result == 0) == (wide == 0xFFFF))


def number(word: Word, values: dict[str, int]) -> int:
    """The 16-bit number that a word is for these values of the variables."""
    put = [(variable, smt.BitVecVal(values[str(variable)], 16)) for variable in (A, B, C) if str(variable) in values]

    def of(term: smt.Term) -> smt.Term:
        return smt.simplify(smt.substitute(term, *put))

    bits = word.sum.bits.items()
    held = {name: of(term).as_long() for name, term in word.sum.terms.items()}
    found = (word.sum.constant + sum(c * (held[name] >> k & 1) for (name, k), c in bits)) % 0xFFFF
    return found or (0xFFFF if smt.is_true(of(word.ones)) else 0)


EDGES = [0, 1, 2, 0x7FFF, 0x8000, 0xFF00, 0x00FF, 0xFFFE, 0xFFFF]


def fold(*items: int) -> int:
    found = 0
    for item in items:
        found += item
        found = (found & 0xFFFF) + (found >> 16)
    return found


@pytest.mark.parametrize("a", EDGES)
def test_words_added_and_complemented_are_those_of_hardware(a: int) -> None:
    for b in EDGES:
        for c in (0, 0x1234, 0xFFFF):
            values = {"a": a, "b": b, "c": c}
            assert number(added([A, B, C]), values) == fold(a, b, c)
            assert number(~added([A, B, C]), values) == 0xFFFF ^ fold(a, b, c)
            assert number(added([~added([A, B]), C]), values) == fold(0xFFFF ^ fold(a, b), c)
            assert number(added([smt.Concat(A, B)]), values) == fold(a, b)


@pytest.mark.parametrize("old", EDGES)
def test_an_updated_checksum_is_that_of_the_interpreter(old: int) -> None:
    from polysome.ir.checksum import updated as reference

    for b in EDGES:
        for c in EDGES:
            found = number(updated(A, words(C) - words(B)), {"a": old, "b": b, "c": c})
            assert found == reference(old, c - b)


def test_what_is_the_same_cancels_however_it_is_written() -> None:
    whole = smt.Concat(*BYTES)
    pieces = words(*(smt.Concat(BYTES[k], BYTES[k + 1]) for k in (4, 0, 6, 2)))
    single = Sum()
    for k, term in enumerate(BYTES):
        single = single + octet(term, k)
    nibbles = words(smt.Concat(smt.Extract(7, 4, BYTES[0]), smt.BitVecVal(0, 12)), smt.BitVecVal(0x1234, 16)) + words(
        smt.Concat(smt.BitVecVal(0, 4), smt.Extract(3, 0, BYTES[0]), BYTES[1])
    )
    assert words(whole).equals(pieces).eq(smt.BoolVal(True))
    assert words(whole).equals(single).eq(smt.BoolVal(True))
    assert (nibbles - words(0x1234, smt.Concat(BYTES[0], BYTES[1]))).is_zero
    assert (words(whole) - pieces + words(1)).is_zero is False
    assert (words(A) + words(B) - words(B)).is_zero is None
    # A byte that moves from an even to an odd place counts differently.
    assert not (octet(BYTES[0], 0) - octet(BYTES[0], 1)).is_zero


def test_what_does_not_cancel_is_proved_of_integers() -> None:
    solver = smt.Solver()
    solver.add(A == 0x1234, smt.Not((words(A) - words(B)).equals(words(0x1234) - words(B))))
    assert solver.check() == smt.unsat
    solver = smt.Solver()
    solver.add(A == 0x1235, (words(A) - words(B)).equals(words(0x1234) - words(B)))
    assert solver.check() == smt.unsat
    assert proved(words(A, ~A).zero())
    assert not proved(words(A, B).zero())


def test_words_are_equal_only_with_the_same_zero() -> None:
    assert proved(Word.of(A).equals(Word.of(A)))
    complement = ~Word.of(A)
    assert proved(complement.equals(Word.of(~A)))
    nothing = Word(words(A) - words(A), smt.BoolVal(True))
    assert not proved(nothing.equals(Word(Sum(), smt.BoolVal(False))))
    assert proved(nothing.equals(Word(Sum(), smt.BoolVal(True))))
    assert all(proved(claim) for claim in added([A, B]).obligations(added([B, A])))
    # Never ffff against the complement of a sum: they differ where all words are 0.
    kept = updated(smt.BitVecVal(0xFFFF, 16), words(A) - words(0))
    assert not proved(kept.equals(~added([A])))
    assert proved(smt.Implies(A != 0, kept.equals(~added([A]))))


def test_what_is_left_of_one_word_is_zero_only_as_0_or_ffff() -> None:
    assert proved(words(A).zero() == smt.Or(A == 0, A == 0xFFFF))
    assert proved((-words(A)).zero() == smt.Or(A == 0, A == 0xFFFF))
    assert proved(octet(BYTES[0], 0).zero() == (BYTES[0] == 0))
    assert proved((octet(BYTES[0], 1) - words(B) + words(B)).zero() == (BYTES[0] == 0))
    two = octet(BYTES[0], 1) + octet(BYTES[1], 0)
    assert proved(two.zero() == smt.Or(smt.Concat(BYTES[1], BYTES[0]) == 0, smt.Concat(BYTES[1], BYTES[0]) == 0xFFFF))
    # More than one word's worth, or a bit that counts twice, may be 0 otherwise.
    assert proved(smt.Implies(smt.And(A == 1, B == 0xFFFE), (words(A) + words(B)).zero()))
    assert proved(smt.Implies(A == 0x5555, words(A).times(3).zero()))
    assert proved(smt.Implies(A == 0xFFFE, (words(A) + Sum(1)).zero()))
    ones = smt.And(BYTES[0] == 1, BYTES[1] == 1)
    assert proved(smt.Implies(ones, (octet(BYTES[0], 0) - octet(BYTES[1], 0)).zero()))


def test_sums_are_written_anew_where_symbols_were_replaced() -> None:
    total = words(A, B) - words(C)
    condition = smt.Or(A == 1, smt.Not(total.zero()))
    replaced = smt.simplify(smt.substitute(condition, (C, B)))
    assert proved(again(replaced) == smt.Or(A == 1, smt.Not(smt.Or(A == 0, A == 0xFFFF))))
    assert proved(again(smt.And(total.zero(), A > 1)) == smt.And(total.zero(), A > 1))


@pytest.mark.parametrize("a", EDGES)
def test_over_bit_vectors_a_sum_is_zero_where_it_is_over_integers(a: int) -> None:
    low = smt.Extract(4, 0, C)
    half = words(smt.Concat(smt.BitVecVal(0, 11), low))
    of = ((1, 1, 0, 0), (1, -1, 1, 0), (-3, 2, -1, 7), (0x4000, -0x4000, 5, 0xFFFE))
    for b in EDGES:
        put = [(A, smt.BitVecVal(a, 16)), (B, smt.BitVecVal(b, 16)), (C, smt.BitVecVal(0x35, 16))]
        for x, y, z, constant in of:
            total = words(A).times(x) + words(B).times(y) + half.times(z) + Sum(constant)
            zero = (x * a + y * b + z * 0x15 + constant) % 0xFFFF == 0
            assert smt.simplify(smt.substitute(total.zero_in_bits(), *put)).eq(smt.BoolVal(zero))
    assert proved(smt.Implies(carried(A, B) == C, in_bits((words(A, B) - words(C)).zero())))
