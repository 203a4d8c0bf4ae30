"""A trace: what a network function meets in one test, and all that its behaviour may depend on (LANGUAGE.md L2.7)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Arrival:
    """A packet as it arrives: the number of the port (an index into `Program.ports`), ns since 1970, the frame."""

    port: int
    time: int
    data: bytes


@dataclass(frozen=True, slots=True)
class Change:
    """Config items get new values at `time` (ns since 1970); values as `config.tables.Tables.replace` takes them."""

    time: int
    values: Mapping[str, Any]


@dataclass(frozen=True, slots=True, repr=False)
class Trace:
    """The config at the start (a value for every item of the program), packets in order of arrival, config changes.

    Times of arrivals may run back, as in real captures: `now` does not. Changes are in order of time.
    """

    config: Mapping[str, Any]
    arrivals: tuple[Arrival, ...]
    changes: tuple[Change, ...] = field(default=())

    def __repr__(self) -> str:
        """Short, for messages of tests: nobody reads kilobytes of frames."""
        arrivals, changes = len(self.arrivals), len(self.changes)
        changing = f", {changes} change{'s' * (changes != 1)} of config" if changes else ""
        return f"<Trace of {arrivals} packet{'s' * (arrivals != 1)}{changing}>"

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """So that Hypothesis shows this too, and not how it made the trace."""
        printer.text(repr(self))
