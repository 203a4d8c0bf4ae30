"""What the symbols say that stand for checksums: ones' complement sums, with the zero that the chip has."""

from __future__ import annotations

from collections.abc import Mapping

import z3

from polysome.p4.limits import ChipLimits
from polysome.prove.ones import ONES, Word, added, words
from polysome.prove.p4.store import Residual, Sum
from polysome.prove.window import Term


def as_word(high: Term, low: Term, sums: Mapping[str, Sum], chip: ChipLimits) -> Word:
    """Two bytes as a word: of a symbol that stands for a sum, the sum."""
    joined = z3.simplify(z3.Concat(high, low))
    name = str(joined) if z3.is_const(joined) else ""
    return meaning(name, sums, chip) if name in sums else Word.of(joined)


def meaning(name: str, sums: Mapping[str, Sum], chip: ChipLimits) -> Word:
    """What the symbol of that name stands for."""
    of = sums[name]
    if isinstance(of, Residual):
        # 0 minus each word is adding its complement: nothing is added only if all words are ffff.
        something = z3.simplify(z3.Not(z3.And(*(w == ONES for w in of.words))))
        return Word(-words(*of.words), something if chip.residual_zero_is_ones else z3.Bool(f"{name} is ones"))
    items = [meaning(str(w), sums, chip) if z3.is_const(w) and str(w) in sums else w for w in of.words]
    total = ~added(items)
    return Word(total.sum, z3.BoolVal(True)) if of.ones else total
