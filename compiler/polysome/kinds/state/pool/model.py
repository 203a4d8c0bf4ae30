"""Pools as terms."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from polysome.ir import program as ir
from polysome.ir import types as t
from polysome.kinds.state.pool import Pool
from polysome.symbolic.values import FALSE, TRUE, Boxed, Rows, Term, anything, bits, choose, conj, equal, lift


class PoolModel:
    """What a pool gives next; `held` is used up. `chosen`: the config, if it may be chosen."""

    def __init__(
        self, decl: ir.PoolDecl, held: Pool, limits: list[Term], ports: int, chosen: Mapping[str, Any]
    ) -> None:
        self._decl, self._pool, self._chosen = decl, held, chosen
        self._limits, self._ports = limits, ports

    def take(self, partition: Any) -> tuple[Term, Any]:
        """Is there one, and which."""
        decl = self._decl
        if self._chosen and any(isinstance(axis, str) for axis in decl.axes):
            return self._first()
        known = [] if decl.per is None else [part for part in self._pool.partitions() if part is not ...]
        found, value = self._taken(None if decl.per is None else ...)
        for part in known:
            assert decl.per is not None
            there, item = self._taken(part)
            here = equal(lift(decl.per.type, part), partition)
            found, value = choose(here, there, found), choose(here, item, value)
        return found, value

    def length(self) -> Term | None:
        """None: it may be anything."""
        known = self._decl.per is None and not self._chosen
        return bits(self._pool.available(None), 64) if known else None

    def _taken(self, partition: Any) -> tuple[Term, Any]:
        """What a partition gives now; `...` is one that the machine was never asked, the same for all packets here."""
        taken = self._pool.take(partition)
        if taken is None:
            return FALSE, anything(t.FromPool(self._decl.name, self._decl.item), self._limits, self._ports)
        return TRUE, Boxed(lift(self._decl.item, taken.value))

    def _first(self) -> tuple[Term, Any]:
        """What a pool over lists that may be chosen gives first."""
        decl, found, items = self._decl, TRUE, []
        for axis in decl.axes:
            if isinstance(axis, str):
                rows: Rows = self._chosen[axis]
                there, _, value = rows.rows[0]
                found = conj(found, there)
                items.append(value)
            else:
                items.append(axis[0])
        parts = decl.item.fields if isinstance(decl.item, t.Struct) else ((("", decl.item)),)
        lifted = tuple(
            lift(type, item) if isinstance(item, int) else item for (_, type), item in zip(parts, items, strict=True)
        )
        return found, Boxed(lifted if isinstance(decl.item, t.Struct) else lifted[0])


MODEL = PoolModel
