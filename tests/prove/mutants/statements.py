"""All changes of one node of the statements of an emitted P4 program."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from tests.prove.mutants.expressions import Change, Expressions, text, within, words_left_out

from polysome.p4 import program as pr


def name(s: pr.Stmt) -> str:
    """A statement, short enough for a line of a report."""
    match s:
        case pr.Assign():
            return f"{text(s.target)} = {text(s.value)}"
        case pr.SetValid():
            return f"{s.header}.set{'V' if s.valid else 'Inv'}alid()"
        case pr.If():
            return f"if ({text(s.condition)})"
        case pr.Apply() | pr.ApplySwitch():
            return f"{s.table}.apply()"
        case pr.Do():
            return text(s.value)
        case pr.Run():
            return f"{s.action}()"
        case pr.Count():
            return f"{s.counter}.count()"
        case pr.Extract():
            return f"extract {s.header}"
        case pr.EmitHeader():
            return f"emit {s.header}"
        case pr.Advance():
            return f"advance {s.bits}"
        case pr.ChecksumSubtract() | pr.ChecksumDeposit():
            return f"{s.unit}.{'subtract' if isinstance(s, pr.ChecksumSubtract) else 'deposit'}"
        case _:
            return type(s).__name__


@dataclass(frozen=True)
class Statements:
    """Changes of the statements of one gress."""

    expressions: Expressions

    def body(self, body: tuple[pr.Stmt, ...]) -> Iterator[Change[tuple[pr.Stmt, ...]]]:
        """One statement is left out, exchanged with the next, or another."""
        for n, s in enumerate(body):
            if not isinstance(s, pr.Declare):
                yield _kind(s), f"{name(s)}: left out", body[:n] + body[n + 1 :]
            if n + 1 < len(body) and _ordered(s, body[n + 1]):
                swapped = (*body[:n], body[n + 1], s, *body[n + 2 :])
                yield "order", f"{name(s)}: exchanged with {name(body[n + 1])}", swapped
            for kind, words, new in self.of(s):
                yield kind, words, (*body[:n], new, *body[n + 1 :])

    def of(self, s: pr.Stmt) -> Iterator[Change[pr.Stmt]]:
        """One node of `s` is another."""
        values = self.expressions
        match s:
            case pr.Assign():
                yield from self._inside(s, values.of(s.value), lambda new: replace(s, value=new))
            case pr.SetValid():
                yield "validity", f"{name(s)}: the opposite", replace(s, valid=not s.valid)
                yield from self._header(s)
            case pr.If():
                yield from self._if(s)
            case pr.ApplySwitch():
                for kind, words, cases in within(s.cases, self._case, "case"):
                    yield kind, f"{name(s)}, {words}", replace(s, cases=cases)
            case pr.Do():
                yield from self._inside(s, values.of(s.value), lambda new: replace(s, value=new))
            case pr.Run():
                for kind, words, body in self.body(s.body):
                    yield kind, f"{name(s)}: {words}", replace(s, body=body)
            case pr.Count():
                yield from self._inside(s, values.of(s.index), lambda new: replace(s, index=new), "count")
            case pr.Extract() | pr.EmitHeader():
                yield from self._header(s)
            case pr.Advance():
                yield "advance", f"{name(s)}: a byte more", replace(s, bits=s.bits + 8)
                if s.bits >= 8:
                    yield "advance", f"{name(s)}: a byte less", replace(s, bits=s.bits - 8)
            case pr.ChecksumSubtract():
                for kind, words, items in words_left_out(s.items):
                    yield kind, f"{name(s)}, {words}", replace(s, items=items)
                for kind, words, items in within(s.items, values.of, "item"):
                    yield kind, f"{name(s)}, {words}", replace(s, items=items)
            case pr.EmitMirror():
                yield from self._inside(s, values.of(s.session), lambda new: replace(s, session=new))
                for kind, words, items in within(s.items, values.of, "item"):
                    yield kind, f"{name(s)}, {words}", replace(s, items=items)
            case _:
                pass

    def _inside(
        self,
        s: pr.Stmt,
        changes: Iterator[Change[pr.Expr]],
        put: Callable[[pr.Expr], pr.Stmt],
        only: str = "",
    ) -> Iterator[Change[pr.Stmt]]:
        for kind, words, new in changes:
            yield only or kind, f"{name(s)}: {words}", put(new)

    def _if(self, s: pr.If) -> Iterator[Change[pr.Stmt]]:
        for kind, words, new in self.expressions.condition(s.condition, lambda c: replace(s, condition=c)):
            yield kind, f"if: {words}", new
        for kind, words, body in self.body(s.yes):
            yield kind, _inner(words, name(s)), replace(s, yes=body)
        for kind, words, body in self.body(s.no):
            yield kind, _inner(words, f"not {name(s)}"), replace(s, no=body)

    def _case(
        self, case: tuple[tuple[str, ...], tuple[pr.Stmt, ...]]
    ) -> Iterator[Change[tuple[tuple[str, ...], tuple[pr.Stmt, ...]]]]:
        for kind, words, body in self.body(case[1]):
            yield kind, words, (case[0], body)

    def _header(self, s: pr.Extract | pr.EmitHeader | pr.SetValid) -> Iterator[Change[pr.Stmt]]:
        if (other := self.expressions.beside(s.header)) is not None:
            yield "header", f"{name(s)}: {other} in its place", replace(s, header=other)


def _kind(s: pr.Stmt) -> str:
    match s:
        case pr.Extract():
            return "extract"
        case pr.EmitHeader():
            return "emit"
        case pr.Count():
            return "count"
        case pr.ChecksumSubtract() | pr.ChecksumDeposit():
            return "checksum"
        case _:
            return "statement"


def _inner(words: str, condition: str) -> str:
    """What happens where, with the innermost condition only."""
    return words if ", in " in words else f"{words}, in {condition}"


def _ordered(a: pr.Stmt, b: pr.Stmt) -> bool:
    """Are they such that their order is the order of bytes?"""
    both = (a, b)
    return a != b and any(all(isinstance(s, kind) for s in both) for kind in (pr.Extract, pr.EmitHeader))
