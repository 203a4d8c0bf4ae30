"""Arrays as terms."""

from __future__ import annotations

from typing import Any

from polysome.ir import program as ir
from polysome.kinds.state.array import Array
from polysome.symbolic.state import MOST
from polysome.symbolic.values import Term, choose, lift


class ArrayModel:
    """The initial value, the last others by place, then what is written."""

    def __init__(self, decl: ir.ArrayDecl, held: Array) -> None:
        self._initial = lift(decl.item, decl.initial)
        values = (held.get(i) for i in range(len(held)))
        other = [(i, lift(decl.item, v)) for i, v in enumerate(values) if v != decl.initial]
        self._values: list[tuple[Any, Any]] = list(other[-MOST:])

    def get(self, index: Term) -> Any:
        found = self._initial
        for at, value in self._values:
            found = choose(index == at, value, found)
        return found

    def set(self, guard: Term, index: Term, value: Any) -> None:
        self._values.append((index, choose(guard, value, self.get(index))))


MODEL = ArrayModel
