"""Which element of a register an access may touch: that of its queue pair, that of its slot, or the only one."""

from __future__ import annotations

from dataclasses import dataclass, field

from polysome import smt
from polysome.prove.p4.expressions import Value
from polysome.prove.p4.store import Access
from polysome.prove.window import Term

QUEUE_PAIR, SLOT, ONLY = "queue pair", "slot", "only one"


@dataclass
class Places:
    """Each register has one kind of index, the same whoever touches it."""

    kinds: dict[str, str] = field(default_factory=dict)
    _known: dict[tuple[int, int, int], tuple[str | None, tuple[Term, ...]]] = field(default_factory=dict)

    def fits(self, access: Access, pair: Term, seq: Term) -> bool:
        """`pair`: the queue pair's number; `seq`: the packet's. Elements are counted by the last bits of either."""
        kind = ONLY if isinstance(access.index, int) else self._kind(access.index, pair, seq)
        return kind is not None and self.kinds.setdefault(access.register, kind) == kind

    def _kind(self, index: Term, pair: Term, seq: Term) -> str | None:
        key = (index.get_id(), pair.get_id(), seq.get_id())
        if key not in self._known:
            self._known[key] = (_kind(index, pair, seq), (index, pair, seq))
        return self._known[key][0]


def _kind(index: Term, pair: Term, seq: Term) -> str | None:
    if _ends_with(pair, index):
        return QUEUE_PAIR
    return SLOT if _ends_with(seq, index) else None


def is_at(index: Value, number: Term) -> bool:
    """Is it the place of the queue pair, or of the seq, with this number?"""
    return isinstance(index, smt.Term) and _ends_with(number, index)


def _ends_with(number: Term, index: Term) -> bool:
    if index.size() > number.size():
        return False
    return bool(smt.is_true(smt.simplify(index == smt.Extract(index.size() - 1, 0, number))))
