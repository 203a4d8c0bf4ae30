"""`ring` as terms."""

from __future__ import annotations

from typing import Any

from polysome import smt
from polysome.ir import program as ir
from polysome.symbolic.state import StateModel
from polysome.symbolic.values import TRUE, Term, bits, conj, disj, equal, lift, neg


class RingModel(StateModel):
    """All values in order, with the condition under which each was pushed and not cleared since."""

    def __init__(self, decl: ir.KindDecl, held: Any) -> None:
        super().__init__(decl, held)
        self._values: list[tuple[Term, Any]] = [(TRUE, lift(decl.params[0], value)) for value in held.items]

    def call(self, guard: Term, method: str, args: list[Any]) -> Any:
        match method:
            case "push":
                self._values.append((guard, args[0]))
            case "clear":
                self._values = [(conj(there, neg(guard)), value) for there, value in self._values]
            case "held":
                count = self._count(0)
                return smt.If(smt.ULE(count, self._room), count, self._room)
        return None

    def contains(self, key: Any) -> Term:
        return disj(
            *(
                conj(there, smt.ULT(self._count(place + 1), self._room), equal(value, key))
                for place, (there, value) in enumerate(self._values)
            )
        )

    @property
    def _room(self) -> Term:
        return bits(self.decl.options["room"], 64)

    def _count(self, first: int) -> Term:
        """How many were pushed from a place on."""
        total = bits(0, 64)
        for there, _ in self._values[first:]:
            total = total + smt.If(there, bits(1, 64), bits(0, 64))
        return total


MODEL = RingModel
