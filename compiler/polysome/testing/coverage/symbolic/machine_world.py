"""The state and config that a run has left, as terms; or the state at the start with a config that may be chosen."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from polysome import smt
from polysome.interp.machine import Machine
from polysome.ir import program as ir
from polysome.ir import types as t
from polysome.kinds.state.flow_map import FlowMap
from polysome.kinds.state.pool import Pool
from polysome.kinds.values import Prefix
from polysome.symbolic.terms import in_prefix
from polysome.symbolic.values import (
    FALSE,
    TRUE,
    Boxed,
    Rows,
    Term,
    anything,
    bits,
    choose,
    chosen,
    conj,
    disj,
    equal,
    lift,
    neg,
)

MOST = 24  # entries of a map or array that are looked at: the last ones


class MachineWorld:
    """The state of `machine`, whose clock has come to where the next packet may arrive, and writes on top.

    `values`: the config, in the form of `Tables.replace`; None: it may be chosen (the machine has not seen a packet
    yet), and `chosen` holds the terms. The machine is used up: values are taken from its pools.
    Terms are not exact (entries beyond MOST do not exist, none makes another one end): whoever uses a model runs it.
    """

    def __init__(self, machine: Machine, now: Term, values: Mapping[str, Any] | None) -> None:
        self.machine, self.program, self.now = machine, machine.program, now
        self.exact = True
        self._values = values
        self.limits: list[Term] = []
        self.chosen: dict[str, Any] = {}
        ports = len(self.program.ports)
        if values is None:
            self.chosen = {n: chosen(d.type, self.limits, ports) for n, d in self.program.config.items()}
        self._maps = {
            n: _Log(machine.states.objects[n], d) for n, d in self.program.state.items() if isinstance(d, ir.MapDecl)
        }
        self._scalars = {
            n: lift(d.type, machine.scalars[n]) for n, d in self.program.state.items() if isinstance(d, ir.ScalarDecl)
        }
        self._arrays = {n: self._array(d) for n, d in self.program.state.items() if isinstance(d, ir.ArrayDecl)}

    # ------------------------------------------------------------ config

    def config(self, name: str) -> Any:
        if name in self.chosen:
            return self.chosen[name]
        assert self._values is not None
        type, value = self.program.config[name].type, self._values[name]
        if isinstance(type, t.Table):
            return Rows(tuple(self._table(value, type)))
        return lift(type, value)

    def unknown_length(self, table: ir.Expr, width: int) -> Term:
        return anything(t.Bits(width))

    def row(self, name: str, key: Any) -> tuple[Term, Any]:
        type = self.program.config[name].type
        assert isinstance(type, t.Table)
        rows = self.config(name).rows
        found, value = FALSE, None
        for there, of, item in reversed(rows):
            hit = conj(there, _matches(type, key, of))
            found = disj(hit, found)
            value = item if value is None else choose(hit, item, value)
        if value is None:
            value = anything(type.value, self.limits, len(self.program.ports))
        return found, Boxed(value) if type.kind == "map" else value

    def _table(self, value: Any, type: t.Table) -> list[tuple[Term, Any, Any]]:
        """The rows of a table, those that win a lookup first."""
        match type.kind:
            case "map":
                return [(TRUE, lift(type.key, k), lift(type.value, v)) for k, v in value.items()]
            case "lpm":
                rows = sorted(value, key=lambda row: -row[0].length)
                return [(TRUE, lift(t.PREFIX, prefix), lift(type.value, v)) for prefix, v in rows]
            case "acl":
                ordered = sorted(value, key=lambda row: -row.priority)
                return [(TRUE, row.matchers, lift(type.value, row.value)) for row in ordered]
            case _:
                return [(TRUE, None, lift(type.value, v)) for v, weight in value if weight]

    # ------------------------------------------------------------ state

    def get(self, state: str, key: Any) -> tuple[Term, Any]:
        return self._maps[state].get(lambda entry, _: equal(entry, key), self.limits)

    def find(self, state: str, index: str, key: Any) -> tuple[Term, Any]:
        """Through an index, whose key is computed for every entry by `index_key`."""
        decl = self.program.state[state]
        assert isinstance(decl, ir.MapDecl)
        number = next(n for n, i in enumerate(decl.indexes) if i.name == index)
        log = self._maps[state]
        return log.get(lambda k, v: equal(self.index_key(decl.indexes[number], k, v), key), self.limits, with_key=True)

    def index_key(self, index: ir.IndexDecl, key: Any, value: Any) -> Any:
        """The key of an entry in an index; the executor of this world sets what evaluates it."""
        raise NotImplementedError

    def take(self, pool: str, partition: Any) -> tuple[Term, Any]:
        decl = self.program.state[pool]
        assert isinstance(decl, ir.PoolDecl)
        if self.chosen and any(isinstance(axis, str) for axis in decl.axes):
            return self._first(decl)
        asked = [] if decl.per is None else list(self.machine.states.objects[pool]._partitions)
        known = [part for part in asked if part is not ...]
        found, value = self._taken(decl, None if decl.per is None else ...)
        for part in known:
            assert decl.per is not None
            there, item = self._taken(decl, part)
            here = equal(lift(decl.per.type, part), partition)
            found, value = choose(here, there, found), choose(here, item, value)
        return found, value

    def _taken(self, decl: ir.PoolDecl, partition: Any) -> tuple[Term, Any]:
        """What a partition gives now; `...` is one that the machine was never asked, the same for all packets here."""
        pool: Pool = self.machine.states.objects[decl.name]
        taken = pool.take(partition)
        if taken is None:
            return FALSE, anything(t.FromPool(decl.name, decl.item), self.limits, len(self.program.ports))
        return TRUE, Boxed(lift(decl.item, taken.value))

    def _first(self, decl: ir.PoolDecl) -> tuple[Term, Any]:
        """What a pool over lists that may be chosen gives first."""
        found, items = TRUE, []
        for axis in decl.axes:
            if isinstance(axis, str):
                there, _, value = self.chosen[axis].rows[0]
                found = conj(found, there)
                items.append(value)
            else:
                items.append(axis[0])
        parts = decl.item.fields if isinstance(decl.item, t.Struct) else ((("", decl.item)),)
        lifted = tuple(
            lift(type, item) if isinstance(item, int) else item for (_, type), item in zip(parts, items, strict=True)
        )
        return found, Boxed(lifted if isinstance(decl.item, t.Struct) else lifted[0])

    def scalar(self, state: str) -> Any:
        return self._scalars[state]

    def element(self, state: str, index: Term) -> Any:
        initial, values = self._arrays[state]
        for at, value in values:
            initial = choose(_at(index, at), value, initial)
        return initial

    def length(self, state: str) -> Term:
        log = self._maps.get(state)
        if log is not None and not log.written:
            return bits(len(self.machine.states.objects[state]), 64)
        decl = self.program.state[state]
        if isinstance(decl, ir.PoolDecl) and decl.per is None and not self.chosen:
            return bits(self.machine.states.objects[state].available(None), 64)
        return anything(t.U64)

    def items(self, state: str) -> list[tuple[Term, tuple[Any, ...]]] | None:
        log = self._maps.get(state)
        if log is not None:
            return [(there, (key, value)) for there, key, value in log.all()]
        return None if len(list(self.machine.states.objects[state])) else []

    def full(self, state: str, key: Any) -> Term:
        decl = self.program.state[state]
        assert isinstance(decl, ir.MapDecl)
        if len(self.machine.states.objects[state]) < decl.capacity:
            return FALSE
        return neg(self.get(state, key)[0])

    def entries(self, state: str) -> list[tuple[Term, Any, Any]]:
        """What a map holds: (is it there, key, value)."""
        return self._maps[state].all()

    def oldest(self, state: str) -> tuple[Any, Any] | None:
        """The entry that gives way to a new one."""
        return self._maps[state].oldest()

    def put(self, guard: Term, state: str, key: Any, value: Any) -> None:
        self._maps[state].written.append((guard, key, value))

    def remove(self, guard: Term, state: str, key: Any) -> None:
        self._maps[state].written.append((guard, key, None))

    def write(self, guard: Term, state: str, index: Any, value: Any) -> None:
        if state in self._scalars:
            self._scalars[state] = choose(guard, value, self._scalars[state])
        else:
            initial, values = self._arrays[state]
            old = self.element(state, index)
            self._arrays[state] = initial, [*values, (index, choose(guard, value, old))]

    def _array(self, decl: ir.ArrayDecl) -> tuple[Any, list[tuple[Any, Any]]]:
        values = self.machine.states.objects[decl.name]._values
        other = [(i, lift(decl.item, v)) for i, v in enumerate(values) if v != decl.initial][-MOST:]
        return lift(decl.item, decl.initial), list(other)


class _Log:
    """The entries of a map, then what is written, in order: (condition, key, value or None)."""

    def __init__(self, map: FlowMap, decl: ir.MapDecl) -> None:
        self._map, self._decl = map, decl
        there = map.items()[-MOST:]
        self._entries = [(TRUE, lift(decl.key, k), self._value(v)) for k, v in there]
        self.written: list[tuple[Term, Any, Any]] = []

    def _value(self, value: Any) -> Any:
        return () if self._decl.value is None else lift(self._decl.value, value)

    def get(self, hits: Any, limits: list[Term], with_key: bool = False) -> tuple[Term, Any]:
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
            value = () if type is None else anything(type, limits)
            shown = (anything(self._decl.key, limits), value) if with_key else value
        return found, shown

    def all(self) -> list[tuple[Term, Any, Any]]:
        return self._entries + [(guard, key, value) for guard, key, value in self.written if value is not None]

    def oldest(self) -> tuple[Any, Any] | None:
        entry = self._map._by_use.first()
        return None if entry is None else (lift(self._decl.key, entry.key), self._value(entry.value))


def _at(index: Term, at: Any) -> Term:
    return index == at


def _matches(type: t.Table, key: Any, of: Any) -> Term:
    """Does a key match a row's key (map), prefix (lpm), or matchers (acl)?"""
    match type.kind:
        case "lpm":
            return in_prefix(key, of)
        case "acl":
            parts = key if isinstance(key, tuple) else (key,)
            of = of if isinstance(of, tuple) else (of,)
            return conj(*(_matches_part(part, one) for part, one in zip(parts, of, strict=True)))
        case _:
            return equal(key, of)


def _matches_part(part: Term, matcher: Any) -> Term:
    match matcher:
        case None:
            return TRUE
        case Prefix():
            return in_prefix(part, lift(t.PREFIX, matcher) if isinstance(matcher.value, int) else matcher)
        case (low, high):
            return conj(smt.UGE(part, low), smt.ULE(part, high))
        case _:
            return part == (int(matcher) if isinstance(matcher, (int, bool)) else matcher)
