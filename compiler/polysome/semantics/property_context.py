"""Where an expression of a property stands."""

from __future__ import annotations

from abc import abstractmethod

from polysome.ir import properties as pr
from polysome.ir import types as t
from polysome.semantics.context import Shared
from polysome.semantics.expressions import Expressions
from polysome.semantics.scope import NfScope
from polysome.syntax import ast


class PropertyContext(Expressions):
    """A place in one property; names that stand for packets are locals of type `pr.Packet`.

    `wire` types what is said of one packet: the words after `p.in` mean there what they mean in a handler.
    `within`: the functions over packets that it is inside of, where headers that the parser never extracts are not
    valid (L12.15).
    """

    def __init__(self, shared: Shared, scope: NfScope) -> None:
        super().__init__(shared, scope, frozenset(("config",)))
        alone = NfScope(scope.names, ports=scope.ports, params=scope.params)
        self.within: tuple[str, ...] = ()
        self.wire = Expressions(shared, alone, frozenset(("packet",)))

    @abstractmethod
    def about_packets(self, function: str) -> PropertyContext:
        """A place in the function, where nothing of state, config or of these locals may be used."""

    @abstractmethod
    def domain(self, node: ast.Expr, count: int) -> tuple[pr.Domain, tuple[t.Type, ...]]:
        """What `count` names run over, and their types; E0906 if they cannot."""
