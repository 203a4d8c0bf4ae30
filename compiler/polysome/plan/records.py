"""Tables of a target's TOML file to records: what members there may be, and every error with its place.

What is wrong with a file as such has the codes of configuration files (E1001, E1006 to E1012); E1306 is a number
outside the range that makes sense.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from polysome.config.items import Item, Rejected, describe
from polysome.syntax.diagnostics import Report, did_you_mean, listed
from polysome.syntax.spans import Span

T = TypeVar("T")
Read = Callable[[Item, Report], T]
_REQUIRED: Any = object()


class Table:
    """The members of a TOML table, taken one by one; `done` says whether all was right and nothing else is there."""

    def __init__(self, item: Item, name: str, report: Report) -> None:
        if not isinstance(item.value, dict):
            wrong(item, f"a table for {name}", f"{name} has named members.", "Write each as `name = value`.", report)
        self.item, self.name, self.report = item, name, report
        self.known: list[str] = []
        self.missing: list[str] = []
        self.failed = False

    def take(self, name: str, read: Read[T], default: T = _REQUIRED) -> T:
        """The value of a member; after an error something that `done` keeps from being used."""
        self.known.append(name)
        item = self.item.value.get(name)
        if item is None:
            if default is _REQUIRED:
                self.missing.append(name)
            return default
        try:
            return read(item, self.report)
        except Rejected:
            self.failed = True
            return default

    def place(self, name: str) -> Span:
        """Where a member stands, or else its table."""
        item = self.item.value.get(name)
        return self.item.span if item is None else item.span

    def done(self) -> None:
        """Reports E1007 for every member that was not asked for, and E1008; Rejected if anything was wrong."""
        for name, item in self.item.value.items():
            if name not in self.known:
                self.failed = True
                self.report.add(
                    "E1007",
                    f"there is no `{name}` here",
                    item.name or item.span,
                    why=f"{self.name} has {listed(self.known)}.",
                    mend=did_you_mean(name, self.missing or self.known) or "Remove it.",
                )
        if self.missing and not self.failed:
            self.failed = True
            self.report.add(
                "E1008",
                f"{listed(self.missing)} {'is' if len(self.missing) == 1 else 'are'} missing",
                self.item.span,
                why=f"{self.name} has no default for {'it' if len(self.missing) == 1 else 'them'}.",
                mend="Add it here." if len(self.missing) == 1 else "Add them here.",
            )
        if self.failed:
            raise Rejected


def wrong(item: Item, expected: str, why: str, mend: str, report: Report) -> Any:
    """E1006: not even the right form."""
    report.add("E1006", f"expected {expected}, found {describe(item)}", item.span, why=why, mend=mend)
    raise Rejected


def refuse(code: str, message: str, span: Span, report: Report, *, why: str, mend: str) -> Any:
    """Reports, and raises Rejected."""
    report.add(code, message, span, why=why, mend=mend)
    raise Rejected


# ---------------------------------------------------------------- what members are read as


def text(item: Item, report: Report) -> str:
    """A text that is not empty."""
    if not isinstance(item.value, str) or not item.value:
        wrong(item, "a name in quotes", "A name is a text.", 'Write for example `"nf1"`.', report)
    return str(item.value)


def yes(item: Item, report: Report) -> bool:
    if not isinstance(item.value, bool):
        wrong(item, "true or false", "This is a yes or no.", "Write `true` or `false`.", report)
    return bool(item.value)


def one_name(*known: str) -> Read[str]:
    """One of these names."""

    def read(item: Item, report: Report) -> str:
        if item.value not in known:
            wrong(item, listed(known), "There are no others.", did_you_mean(str(item.value), known), report)
        return str(item.value)

    return read


def whole(least: int, most: int) -> Read[int]:
    """A whole number of that range, both ends included; E1306 else."""

    def read(item: Item, report: Report) -> int:
        if not isinstance(item.value, int) or isinstance(item.value, bool):
            wrong(item, "a whole number", "This is a number without a unit.", f"Write a number from {least}.", report)
        return within(item, int(item.value), least, most, report)

    return read


def within(item: Item, value: int, least: int, most: int, report: Report) -> int:
    """The value, if it is of that range; E1306 else."""
    if least <= value <= most:
        return value
    name = item.span if item.name is None else item.name.to(item.span)
    return int(
        refuse(
            "E1306",
            f"{describe(item)} is outside what is possible here",
            name,
            report,
            why=f"From {least} to {most} makes sense.",
            mend=f"Give a number from {least} to {most}.",
        )
    )


def many(read: Read[T], what: str) -> Read[tuple[T, ...]]:
    """An array of at least one, or one alone."""

    def members(item: Item, report: Report) -> Iterator[T]:
        rows = item.value if isinstance(item.value, list) else [item]
        if not rows:
            wrong(item, f"an array of {what}", "One at least is needed.", "Name one, or remove the line.", report)
        for row in rows:
            yield read(row, report)

    return lambda item, report: tuple(members(item, report))
