"""The `name value;` clauses in the braces of state, schedule, config and traffic declarations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from polysome.ir import types as t
from polysome.kinds.base import Option
from polysome.semantics.expressions import Expressions
from polysome.syntax import ast
from polysome.syntax.diagnostics import did_you_mean
from polysome.syntax.spans import Span

_TERMS: dict[str, t.Type] = {
    "count": t.U64,
    "u64": t.U64,
    "bytes": t.BYTES,
    "duration": t.DURATION,
    "bitrate": t.BITRATE,
    "packetrate": t.PACKETRATE,
    "percent": t.Quantity("percent"),
}


class Clauses:
    """The clauses of one declaration: each known, given once, and of the right type."""

    def __init__(self, x: Expressions, clauses: tuple[ast.Clause, ...], known: Iterable[str], what: str, span: Span) -> None:
        self.x, self.span, self.what = x, span, what
        self.by_name: dict[str, ast.Clause] = {}
        names = list(known)
        for clause in clauses:
            name = clause.name.text
            if name not in names:
                x.report.add(
                    "E0510",
                    f"{what} has no clause `{name}`",
                    clause.name.span,
                    why="Each kind has its own clauses.",
                    mend=did_you_mean(name, names),
                )
            elif name in self.by_name:
                x.report.add(
                    "E0511",
                    f"`{name}` is given twice",
                    clause.name.span,
                    also=[(self.by_name[name].span, "first given here")],
                    why="Which one counts?",
                    mend="Remove one.",
                )
            else:
                self.by_name[name] = clause

    def __contains__(self, name: str) -> bool:
        return name in self.by_name

    def missing(self, name: str, why: str, mend: str) -> None:
        """E0512: a clause that must be there is not."""
        self.x.report.add("E0512", f"{self.what} needs `{name}`", self.span, why=why, mend=mend)

    def constant(self, name: str, term: str) -> Any:
        """The value of a clause with one constant, None if absent or wrong."""
        clause = self.by_name.get(name)
        if clause is None:
            return None
        if len(clause.args) != 1 or clause.args[0].end is not None:
            self._one_value(clause)
            return None
        return self.x.constant(clause.args[0].value, _TERMS[term])

    def _one_value(self, clause: ast.Clause) -> None:
        self.x.report.add(
            "E0513",
            f"`{clause.name.text}` takes one value",
            clause.span,
            why="It is a single limit.",
            mend=f"Write `{clause.name.text} …;`.",
        )

    def options(self, options: Iterable[Option]) -> dict[str, int]:
        """The constants of a kind's options, with defaults; E0512 for a required one."""
        found: dict[str, int] = {}
        for option in options:
            value = self.constant(option.name, option.term)
            if value is None and option.name not in self.by_name:
                value = option.default
                if option.required:
                    self.missing(option.name, option.why or "It sizes the state.", f"Add `{option.name} …;`.")
            if value is not None:
                found[option.name] = value
        return found

    def when_full(self, allowed: Mapping[str, str], required: bool) -> str | None:
        """`when full …`: the policy's name; E0514 if it must be given and is not, E0515 if it is unknown."""
        clause = self.by_name.get("when full")
        if clause is None:
            if required:
                self.x.report.add(
                    "E0514",
                    f"{self.what} does not say what happens when it is full",
                    self.span,
                    why="Memory ends; what a new flow then means is a decision of the operator, not of the compiler.",
                    mend="Add one of: " + ", ".join(f"`when full {w};`" for w in allowed) + ".",
                )
            return None
        text = " ".join(w.text for w in clause.words)
        if text not in allowed:
            self.x.report.add(
                "E0515",
                f"`when full {text}` is not possible here",
                clause.span,
                why="What can happen depends on the kind.",
                mend="Use " + " or ".join(f"`when full {w};`" for w in allowed) + ".",
            )
            return None
        return allowed[text]
