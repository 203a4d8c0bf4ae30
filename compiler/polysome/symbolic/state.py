"""State as terms: what it held at some moment, and what handlers do to it from then on.

How a kind is one says its folder's `model.py`. Of a kind that is used through methods, its `MODEL` is a `StateModel`,
made of its declaration and of what the interpreter holds. Terms need not be exact: whoever uses a model runs it.
"""

from __future__ import annotations

from typing import Any

from polysome.ir import program as ir
from polysome.symbolic.values import Term

MOST = 24  # entries of a map or array that are looked at: the last ones
Item = tuple[Term, tuple[Any, ...]]  # is it there, and the values of a loop's names


class StateModel:
    """A kind that is used through methods. This one knows nothing: each answer is None, for "it may be anything"."""

    def __init__(self, decl: ir.KindDecl, held: Any) -> None:
        self.decl, self.held = decl, held

    def call(self, guard: Term, method: str, args: list[Any]) -> Any:
        """What `state.method(args)` yields, where the condition `guard` holds: under it, what it writes is written."""
        return None

    def contains(self, key: Any) -> Term | None:
        """`key in state`."""
        return None

    def items(self) -> list[Item] | None:
        """What a loop runs over."""
        return None if list(self.held) else []
