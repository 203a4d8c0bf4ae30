"""The `name value;` clauses in the braces of state, schedule, config and traffic declarations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from polysome.ir import types as t
from polysome.kinds.base import Option
from polysome.semantics.expressions import Expressions
from polysome.syntax import ast
from polysome.syntax.diagnostics import did_you_mean, listed
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

    def __init__(
        self, x: Expressions, clauses: tuple[ast.Clause, ...], known: Iterable[str], what: str, span: Span
    ) -> None:
        self.x, self.span, self.what = x, span, what
        self.by_name: dict[str, ast.Clause] = {}
        self.unknown = 0  # clauses; each may be a misspelt one that is then not missing as well
        names = list(known)
        for clause in clauses:
            name = clause.name.text
            if name not in names:
                self.unknown += 1
                x.report.add(
                    "E0510",
                    f"{what} has no clause `{name}`",
                    clause.name.span,
                    why="Each kind has its own clauses.",
                    mend=_mend_clause(name, names),
                )
            elif name in self.by_name:
                x.report.add(
                    "E0511",
                    f"`{name}` is given twice",
                    clause.name.span,
                    also=[(self.by_name[name].span, "first given here")],
                    why="A clause has one value.",
                    mend="Remove one of them.",
                )
            else:
                self.by_name[name] = clause
                self._no_addition(clause, "max", clause.maximum, ("idle", "age"))
                self._no_addition(clause, "per", clause.per, ("new",))

    def _no_addition(self, clause: ast.Clause, word: str, value: ast.Expr | None, takers: tuple[str, ...]) -> None:
        if value is not None and clause.name.text not in takers:
            self.x.report.add(
                "E0513",
                f"`{clause.name.text}` takes no `{word}`",
                value.span,
                why=f"Only {' and '.join(f'`{n}`' for n in takers)} take{'s' if len(takers) == 1 else ''} one.",
                mend="Remove it.",
            )

    def __contains__(self, name: str) -> bool:
        return name in self.by_name

    def missing(self, name: str, why: str, mend: str) -> None:
        """E0512: a clause that must be there is not."""
        self.unknown -= 1
        if self.unknown < 0:
            self.x.report.add("E0512", f"{self.what} needs `{name}`", self.span, why=why, mend=mend)

    def constant(self, name: str, term: str) -> Any:
        """The value of a clause with one constant, None if absent or wrong."""
        value = self.one(name)
        return None if value is None else self.x.constant(value, _TERMS[term])

    def one(self, name: str) -> ast.Expr | None:
        """The single value of a clause, None if it is absent or was reported."""
        clause = self.by_name.get(name)
        if clause is None:
            return None
        if len(clause.args) == 1 and clause.args[0].end is None:
            return clause.args[0].value
        self.x.report.add(
            "E0513",
            f"`{name}` takes one value",
            clause.span,
            why="It is one number, quantity or expression, not a list or a range.",
            mend="Put several into a tuple: `class (a, b);`."
            if name == "class"
            else f"Write `{name} …;` with one value.",
        )
        return None

    def none(self, name: str) -> None:
        """E0513 if the clause, a mere word, has values."""
        clause = self.by_name.get(name)
        if clause is not None and clause.args:
            self.x.report.add(
                "E0513", f"`{name}` takes no value", clause.span, why="The word says it all.", mend=f"Write `{name};`."
            )

    def options(self, options: Iterable[Option]) -> dict[str, int]:
        """The constants of a kind's options, with defaults; E0512 for a required one."""
        found: dict[str, int] = {}
        for option in options:
            value = self.constant(option.name, option.term)
            if value is None and option.name not in self.by_name:
                value = option.default
                if option.required:
                    self.missing(option.name, _sentence(option.why or "it sizes the state"), f"Add `{option.name} …;`.")
            if value is not None:
                found[option.name] = value
        return found

    def when_full(self, allowed: Mapping[str, str], required: bool) -> str | None:
        """`when full …`: the policy's name; E0514 if it must be given and is not, E0515 if it is unknown."""
        clause = self.by_name.get("when full")
        if clause is None:
            self.unknown -= required
            if required and self.unknown < 0:
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


_HABITS = {
    "idle": ("timeout", "ttl", "expire", "expires", "expiry", "lifetime", "idle_timeout"),
    "age": ("max_age", "hard_timeout"),
    "capacity": ("size", "max_entries", "entries", "max_size", "limit"),
    "mean": ("size",),
    "when full": ("full", "overflow", "eviction", "evict", "on_full"),
}


def _mend_clause(word: str, names: list[str]) -> str:
    """The clause that another system calls so, or one that looks like it, or all."""
    habit = next((n for n, words in _HABITS.items() if n in names and word in words), None)
    if habit is not None:
        return f"Did you mean `{habit}`?"
    return did_you_mean(word, names) or (f"There are: {listed(names)}." if names else "Remove it: there are none.")


def _sentence(text: str) -> str:
    return text[0].upper() + text[1:] + ("" if text.endswith(".") else ".")
