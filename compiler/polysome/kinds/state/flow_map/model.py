"""Maps and sets as terms."""

from __future__ import annotations

from typing import Any

from polysome.ir import program as ir
from polysome.kinds.state.flow_map import FlowMap
from polysome.symbolic.state import MOST
from polysome.symbolic.values import FALSE, TRUE, Term, anything, bits, choose, conj, disj, lift, neg


class MapModel:
    """The entries of a map, the last ones, then what is written, in order: (condition, key, value or None)."""

    def __init__(self, decl: ir.MapDecl, held: FlowMap, limits: list[Term]) -> None:
        self._map, self._decl, self._limits = held, decl, limits
        there = held.items()[-MOST:]
        self._entries = [(TRUE, lift(decl.key, k), self._value(v)) for k, v in there]
        self.written: list[tuple[Term, Any, Any]] = []

    def _value(self, value: Any) -> Any:
        return () if self._decl.value is None else lift(self._decl.value, value)

    def get(self, hits: Any, with_key: bool = False) -> tuple[Term, Any]:
        """The last entry for which `hits(key, value)` holds; its value, or (key, value)."""
        found: Term = FALSE
        shown: Any = None
        for guard, key, value in [*self._entries, *self.written]:
            hit = conj(guard, hits(key, value)) if value is not None else conj(guard, hits(key, shown))
            found = disj(conj(found, neg(hit)), hit) if value is not None else conj(found, neg(hit))
            if value is not None:
                here = (key, value) if with_key else value
                shown = here if shown is None else choose(hit, here, shown)
        if shown is None:
            type = self._decl.value
            value = () if type is None else anything(type, self._limits)
            shown = (anything(self._decl.key, self._limits), value) if with_key else value
        return found, shown

    def all(self) -> list[tuple[Term, Any, Any]]:
        return self._entries + [(guard, key, value) for guard, key, value in self.written if value is not None]

    def oldest(self) -> tuple[Any, Any] | None:
        entry = self._map._by_use.first()
        return None if entry is None else (lift(self._decl.key, entry.key), self._value(entry.value))

    def length(self) -> Term | None:
        """None: it may be anything."""
        return None if self.written else bits(len(self._map), 64)

    def has_room(self) -> bool:
        """As it was before what is written."""
        return len(self._map) < self._decl.capacity


MODEL = MapModel
