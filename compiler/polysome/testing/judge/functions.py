"""Python functions that are being written, one inside the other, with what each needs from outside."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from polysome.ir import program as ir
from polysome.ir import types as t
from polysome.testing.judge import conditions
from polysome.testing.judge.operators import Code, Operators

INDENT = "    "


@dataclass
class Context:
    """The function that is being written. What depends on none of the slots in `bound` comes in as a parameter.

    `params`: their names, by what the calling function (`parent`) passes; the outermost has no parent, and all slots.
    """

    parent: Context | None
    bound: set[int]
    names: dict[int, str]
    column: bool = False
    params: dict[str, str] = field(default_factory=dict)
    types: list[t.Type] = field(default_factory=list)


class Functions(Operators):
    """Functions and tables of one property, in `lines`; what equals another is that one."""

    def __init__(self, program: ir.Program) -> None:
        super().__init__(program, {})
        self.lines: list[str] = []
        self.kinds: dict[int, str] = {}  # what the slots stand for
        self.maybe: set[int] = set()  # slots of `let`s that may be undefined
        self.context = Context(None, set(), {})
        self._made: dict[str, str] = {}
        self._free: dict[int, tuple[ir.Node, frozenset[int]]] = {}

    def free(self, e: ir.Node) -> frozenset[int]:
        found = self._free.get(id(e))
        if found is None:
            found = self._free[id(e)] = (e, conditions.free(e))
        return found[1]

    def slot(self, slot: int) -> str:
        return self.context.names.get(slot, f"s{slot}")

    @contextmanager
    def inside(
        self, bound: Iterable[int], names: dict[int, str] | None = None, column: bool = False
    ) -> Iterator[Context]:
        """Code for a function of its own, whose own slots are `bound`."""
        self.context = Context(self.context, set(bound), names or {}, column)
        yield self.context
        assert self.context.parent is not None
        self.context = self.context.parent

    def passed_in(self, e: ir.Expr) -> Code:
        """A parameter of the function that is being written, for what its caller computes."""
        context = self.context
        assert context.parent is not None
        self.context = context.parent
        code = self.value(e)
        self.context = context
        if code.text not in context.params:
            context.params[code.text] = f"a{len(context.params)}"
            context.types.append(e.type)
        return Code(context.params[code.text], code.maybe)

    def function(self, prefix: str, params: str, body: list[str]) -> str:
        """The name of a function with this body; the same text is one function."""
        text = f"({params}):\n" + "\n".join(INDENT + line for line in body)
        key = prefix + text
        if key not in self._made:
            name = self._made[key] = f"{prefix}{len(self._made)}"
            self.lines.append(f"def {name}{text}")
        return self._made[key]

    def memo(self, kind: str, function: str) -> str:
        """A table (Column, Recent, Indexes) over a function."""
        key = f"{kind}({function})"
        if key not in self._made:
            name = self._made[key] = f"c{len(self._made)}"
            self.lines.append(f"{name} = {key}")
        return self._made[key]
