"""The interpreter's code, with a counter at every outcome of every branch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from polysome.interp.code import Generated, generate, safe_name
from polysome.interp.statement_code import INDENT, StatementCode
from polysome.ir import program as ir
from polysome.testing.coverage.points import Points, operands, points


@dataclass(frozen=True, eq=False)
class Counting:
    """`hits[n]` counts number n of `Points`, over all runs of `generated`."""

    generated: Generated
    hits: list[int]

    def taken(self) -> list[int]:
        """The counts since the last call."""
        counts = self.hits[:]
        self.hits[:] = [0] * len(counts)
        return counts


@lru_cache(maxsize=64)
def counting(program: ir.Program) -> Counting:
    """The code of a program that counts."""
    found = points(program)
    hits = [0] * found.numbers
    generated = generate(program, lambda p: _CountingCode(p, found))
    generated.constants.update({"HITS": hits, "HIT": _counter(hits)})
    return Counting(generated, hits)


def _counter(hits: list[int]) -> Callable[[int, bool], bool]:
    def hit(first: int, condition: bool) -> bool:
        hits[first if condition else first + 1] += 1
        return condition

    return hit


class _CountingCode(StatementCode):
    def __init__(self, program: ir.Program, points: Points) -> None:
        super().__init__(program)
        self._points = points
        self._entry: str | None = None
        self._entered = {
            **{f"packet_{i}": points.first(h) for i, h in enumerate(program.packet_handlers)},
            **{f"end_{safe_name(h.map)}": points.first(h) for h in program.end_handlers.values()},
            **{f"every_{i}": points.first(h) for i, h in enumerate(program.timers)},
            "lacking": points.first(program.contract) if program.contract is not None else None,
        }

    def function(self, name: str, params: str, body: ir.Body, uses_packet: bool, fallthrough: str = "") -> None:
        entered = self._entered.get(name)
        self._entry = None if entered is None else f"HITS[{entered}] += 1"
        self._counted = name != "lacking"  # what stands after `relevant … else` is no line of code
        super().function(name, params, body, uses_packet, fallthrough)

    def body(self, body: ir.Body) -> None:
        entry, self._entry = self._entry, None
        if entry is not None:
            self.put(INDENT + entry)
        super().body(body)

    def statement(self, s: ir.Statement) -> None:
        first = self._points.first(s)
        if self._counted:
            self.put(f"HITS[{self._points.line(s)}] += 1")
        match s:
            case ir.If(condition=c, then=then, orelse=orelse) if first is not None:
                self._if(self._hit(first, self.code(c)), then, orelse)
            case ir.ForEach() if first is not None:
                self.put(f"before_{first} = HITS[{first}]")
                self._entry = f"HITS[{first}] += 1"
                super().statement(s)
                self.put(f"if HITS[{first}] == before_{first}: HITS[{first + 1}] += 1")
            case _:
                super().statement(s)

    def _bind(self, s: ir.Lookup) -> None:
        super()._bind(s)
        first = self._points.first(s)
        if first is not None:
            self.put(self._hit(first, f"s{s.slot} is not None"))

    def code(self, e: ir.Expr) -> str:
        match e:
            case ir.Choose(condition=c, then=a, orelse=b) if (first := self._points.first(e)) is not None:
                return f"({self.code(a)} if {self._hit(first, self.code(c))} else {self.code(b)})"
            case ir.Binary(op="and" | "or" as op, left=a, right=b):
                counted = list(operands(e))
                return f"({self._operand(a, counted)} {op} {self._operand(b, counted)})"
            case _:
                return super().code(e)

    def _operand(self, e: ir.Expr, counted: list[ir.Expr]) -> str:
        first = self._points.condition(e) if any(e is c for c in counted) else None
        return self.code(e) if first is None else self._hit(first, self.code(e))

    def _hit(self, first: int, condition: str) -> str:
        return f"HIT({first}, {condition})"
