"""What state and config hold, as terms; here anything, to prove that nothing gets somewhere (see `machine_world`)."""

from __future__ import annotations

from typing import Any, Protocol

from polysome import smt
from polysome.ir import program as ir
from polysome.ir import types as t
from polysome.kinds.state import TABLE_KINDS
from polysome.symbolic.terms import resized
from polysome.symbolic.values import FALSE, Term, anything


class World(Protocol):
    """State and config at one moment. Reads give (found, value) where something may be absent.

    Writes happen under a condition, and later reads see them, or anything. `exact`: reads yield one value.
    """

    exact: bool
    now: Term
    limits: list[Term]

    def config(self, name: str) -> Any: ...

    def unknown_length(self, table: ir.Expr, width: int) -> Term: ...

    def row(self, name: str, key: Any) -> tuple[Term, Any]: ...

    def get(self, state: str, key: Any) -> tuple[Term, Any]: ...

    def find(self, state: str, index: str, key: Any) -> tuple[Term, Any]: ...

    def take(self, pool: str, partition: Any) -> tuple[Term, Any]: ...

    def scalar(self, state: str) -> Any: ...

    def element(self, state: str, index: Term) -> Any: ...

    def length(self, state: str) -> Term: ...

    def items(self, state: str) -> list[tuple[Term, tuple[Any, ...]]] | None:
        """What a loop runs over: (is it there, the values of its names); None: anything, any number of times."""

    def full(self, state: str, key: Any) -> Term:
        """Does a new entry for the key meet a full map?"""

    def put(self, guard: Term, state: str, key: Any, value: Any) -> None: ...

    def remove(self, guard: Term, state: str, key: Any) -> None: ...

    def write(self, guard: Term, state: str, index: Any, value: Any) -> None: ...

    def call(self, guard: Term, state: str, method: str, args: list[Any]) -> Any:
        """A method of a kind that is used through methods; None: it may yield anything."""

    def holds(self, state: str, key: Any) -> Term | None:
        """`key in state` for such a kind."""


class FreeWorld:
    """Every read may yield anything of its type, whatever was written."""

    def __init__(self, program: ir.Program) -> None:
        self._program = program
        self.exact = False
        self.now = smt.BitVec("now", 64)
        self.limits: list[Term] = []
        self._config: dict[str, Any] = {}
        self._lengths: dict[str, Term] = {}

    def config(self, name: str) -> Any:
        """The same all through a handler."""
        if name not in self._config:
            self._config[name] = self._any(self._program.config[name].type)
        return self._config[name]

    def unknown_length(self, table: ir.Expr, width: int) -> Term:
        name = table.name if isinstance(table, ir.Config) else ""
        if name not in self._lengths or not name:
            self._lengths[name] = smt.BitVec(f"len({name})", 64)
        return resized(self._lengths[name], width)

    def row(self, name: str, key: Any) -> tuple[Term, Any]:
        type = self._program.config[name].type
        assert isinstance(type, t.Table)
        return anything(t.BOOL), self._any(t.Ref(name, type.value) if TABLE_KINDS[type.kind].identity else type.value)

    def get(self, state: str, key: Any) -> tuple[Term, Any]:
        decl = self._map(state)
        return anything(t.BOOL), () if decl.value is None else self._any(decl.value)

    def find(self, state: str, index: str, key: Any) -> tuple[Term, Any]:
        decl = self._map(state)
        return anything(t.BOOL), (self._any(decl.key), () if decl.value is None else self._any(decl.value))

    def take(self, pool: str, partition: Any) -> tuple[Term, Any]:
        decl = self._program.state[pool]
        assert isinstance(decl, ir.PoolDecl)
        return anything(t.BOOL), self._any(t.FromPool(pool, decl.item))

    def scalar(self, state: str) -> Any:
        decl = self._program.state[state]
        assert isinstance(decl, ir.ScalarDecl)
        return self._any(decl.type)

    def element(self, state: str, index: Term) -> Any:
        decl = self._program.state[state]
        assert isinstance(decl, ir.ArrayDecl)
        return self._any(decl.item)

    def length(self, state: str) -> Term:
        return anything(t.U64)

    def items(self, state: str) -> list[tuple[Term, tuple[Any, ...]]] | None:
        return None

    def full(self, state: str, key: Any) -> Term:
        return FALSE if self._map(state).when_full == "evict" else anything(t.BOOL)

    def put(self, guard: Term, state: str, key: Any, value: Any) -> None: ...

    def remove(self, guard: Term, state: str, key: Any) -> None: ...

    def write(self, guard: Term, state: str, index: Any, value: Any) -> None: ...

    def call(self, guard: Term, state: str, method: str, args: list[Any]) -> Any:
        return None

    def holds(self, state: str, key: Any) -> Term | None:
        return None

    def _any(self, type: t.Type) -> Any:
        return anything(type, self.limits, len(self._program.ports))

    def _map(self, state: str) -> ir.MapDecl:
        decl = self._program.state[state]
        assert isinstance(decl, ir.MapDecl)
        return decl
