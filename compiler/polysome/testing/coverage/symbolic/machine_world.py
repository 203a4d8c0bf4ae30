"""The state and config that a run has left, as terms; or the state at the start with a config that may be chosen."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from polysome.interp.machine import Machine
from polysome.ir import program as ir
from polysome.ir import types as t
from polysome.kinds.state import TABLE_KINDS, brought
from polysome.symbolic.state import Item, StateModel
from polysome.symbolic.tables import chosen, table_model
from polysome.symbolic.values import (
    FALSE,
    Boxed,
    Rows,
    Term,
    anything,
    choose,
    conj,
    disj,
    equal,
    lift,
    neg,
)


class MachineWorld:
    """The state of `machine`, whose clock has come to where the next packet may arrive, and writes on top.

    `values`: the config, in the form of `Tables.replace`; None: it may be chosen (the machine has not seen a packet
    yet), and `chosen` holds the terms. The machine is used up: values are taken from its pools.
    Terms are not exact (some entries do not exist, none makes another one end): whoever uses a model runs it.
    """

    def __init__(self, machine: Machine, now: Term, values: Mapping[str, Any] | None) -> None:
        self.machine, self.program, self.now = machine, machine.program, now
        self.exact = True
        self._values = values
        self.limits: list[Term] = []
        self.chosen: dict[str, Any] = {}
        if values is None:
            self.chosen = {n: chosen(d.type, self.limits, self._ports) for n, d in self.program.config.items()}
        self._scalars = {
            n: lift(d.type, machine.scalars[n]) for n, d in self.program.state.items() if isinstance(d, ir.ScalarDecl)
        }
        self._models = {n: self._model(d) for n, d in self.program.state.items() if not isinstance(d, ir.ScalarDecl)}

    @property
    def _ports(self) -> int:
        return len(self.program.ports)

    def _model(self, decl: ir.AnyState) -> Any:
        """A state in terms, by what its kind's folder brings."""
        held = self.machine.states.objects[decl.name]
        match decl:
            case ir.MapDecl():
                return brought("model")["flow_map"](decl, held, self.limits)
            case ir.PoolDecl():
                return brought("model")["pool"](decl, held, self.limits, self._ports, self.chosen)
            case ir.ArrayDecl():
                return brought("model")["array"](decl, held)
            case ir.KindDecl(kind=kind):
                return brought("model").get(kind, StateModel)(decl, held)
            case ir.ScalarDecl():
                raise AssertionError("scalars are terms themselves")

    # ------------------------------------------------------------ config

    def config(self, name: str) -> Any:
        if name in self.chosen:
            return self.chosen[name]
        assert self._values is not None
        type, value = self.program.config[name].type, self._values[name]
        if isinstance(type, t.Table):
            return Rows(tuple(table_model(type).rows(type, value)))
        return lift(type, value)

    def unknown_length(self, table: ir.Expr, width: int) -> Term:
        return anything(t.Bits(width))

    def row(self, name: str, key: Any) -> tuple[Term, Any]:
        type = self.program.config[name].type
        assert isinstance(type, t.Table)
        rows = self.config(name).rows
        found, value = FALSE, None
        for there, of, item in reversed(rows):
            hit = conj(there, table_model(type).matches(key, of))
            found = disj(hit, found)
            value = item if value is None else choose(hit, item, value)
        if value is None:
            value = anything(type.value, self.limits, self._ports)
        return found, Boxed(value) if TABLE_KINDS[type.kind].identity else value

    # ------------------------------------------------------------ state

    def get(self, state: str, key: Any) -> tuple[Term, Any]:
        found: tuple[Term, Any] = self._models[state].get(lambda entry, _: equal(entry, key))
        return found

    def find(self, state: str, index: str, key: Any) -> tuple[Term, Any]:
        """Through an index, whose key is computed for every entry by `index_key`."""
        decl = self.program.state[state]
        assert isinstance(decl, ir.MapDecl)
        of = next(each for each in decl.indexes if each.name == index)
        found: tuple[Term, Any] = self._models[state].get(
            lambda k, v: equal(self.index_key(of, k, v), key), with_key=True
        )
        return found

    def index_key(self, index: ir.IndexDecl, key: Any, value: Any) -> Any:
        """The key of an entry in an index; the executor of this world sets what evaluates it."""
        raise NotImplementedError

    def take(self, pool: str, partition: Any) -> tuple[Term, Any]:
        found: tuple[Term, Any] = self._models[pool].take(partition)
        return found

    def scalar(self, state: str) -> Any:
        return self._scalars[state]

    def element(self, state: str, index: Term) -> Any:
        return self._models[state].get(index)

    def length(self, state: str) -> Term:
        known = None if isinstance(self.program.state[state], ir.ArrayDecl) else self._models[state].length()
        return anything(t.U64) if known is None else known

    def items(self, state: str) -> list[Item] | None:
        if isinstance(self.program.state[state], ir.MapDecl):
            return [(there, (key, value)) for there, key, value in self.entries(state)]
        found: list[Item] | None = self._models[state].items()
        return found

    def full(self, state: str, key: Any) -> Term:
        return FALSE if self._models[state].has_room() else neg(self.get(state, key)[0])

    def entries(self, state: str) -> list[tuple[Term, Any, Any]]:
        """What a map holds: (is it there, key, value)."""
        found: list[tuple[Term, Any, Any]] = self._models[state].all()
        return found

    def oldest(self, state: str) -> tuple[Any, Any] | None:
        """The entry that gives way to a new one."""
        found: tuple[Any, Any] | None = self._models[state].oldest()
        return found

    def put(self, guard: Term, state: str, key: Any, value: Any) -> None:
        self._models[state].written.append((guard, key, value))

    def remove(self, guard: Term, state: str, key: Any) -> None:
        self._models[state].written.append((guard, key, None))

    def write(self, guard: Term, state: str, index: Any, value: Any) -> None:
        if state in self._scalars:
            self._scalars[state] = choose(guard, value, self._scalars[state])
        else:
            self._models[state].set(guard, index, value)

    def call(self, guard: Term, state: str, method: str, args: list[Any]) -> Any:
        return self._models[state].call(guard, method, args)

    def holds(self, state: str, key: Any) -> Term | None:
        found: Term | None = self._models[state].contains(key)
        return found
