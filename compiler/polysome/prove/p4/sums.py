"""What the symbols say that stand for checksums: ones' complement sums, with the zero that the chip has."""

from __future__ import annotations

from collections.abc import Mapping

from polysome import smt
from polysome.p4.limits import ChipLimits
from polysome.prove.ones import ONES, Word, added, words
from polysome.prove.p4.store import Residual, Sum
from polysome.prove.window import Term


def as_word(high: Term, low: Term, sums: Mapping[str, Sum], chip: ChipLimits) -> Word:
    """Two bytes as a word: of a symbol that stands for a sum, the sum."""
    joined = smt.simplify(smt.Concat(high, low))
    name = joined.name
    return meaning(name, sums, chip) if name in sums else Word.of(joined)


def meaning(name: str, sums: Mapping[str, Sum], chip: ChipLimits) -> Word:
    """What the symbol of that name stands for."""
    of = sums[name]
    if isinstance(of, Residual):
        # 0 minus each word is adding its complement: nothing is added only if all words are ffff.
        something = smt.simplify(smt.Not(smt.And(*(w == ONES for w in of.words))))
        return Word(-words(*of.words), something if chip.residual_zero_is_ones else smt.Bool(f"{name} is ones"))
    items = [meaning(w.name, sums, chip) if w.name in sums else w for w in of.words]
    total = ~added(items)
    return Word(total.sum, smt.BoolVal(True)) if of.ones else total
