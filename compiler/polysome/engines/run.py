"""An NF at work: packets go in as they come, and what happens comes out as it happens."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, Self

from polysome.engines.events import Event
from polysome.engines.trace import Arrival

if TYPE_CHECKING:
    from polysome.engines.history import History
    from polysome.engines.interp.explain import Explanation


class Report(Protocol):
    """What a run came to beside its packets, for engines with more than an NF in them."""

    @property
    def held(self) -> int:
        """Packets that are neither sent nor dropped nor lost."""

    @property
    def losses(self) -> Mapping[str, int]:
        """Packets lost on the way, by cause."""

    def to_json(self) -> dict[str, object]: ...

    def lines(self) -> Iterator[str]:
        """The same for people."""


class Run(ABC):
    """An NF at work. Calls of `arrive`, `advance` and `finish` do their work as their events are read.

    They raise Failed if the engine fails, after the events of what happened before; then only `close` may be called.
    """

    history: History | None = None  # of an observed run, if the engine shows its state
    report: Report | None = None  # there after `finish`, if at all
    explanation: Explanation | None = None  # of packet `options.explain`, once it arrived
    notes: tuple[str, ...] = ()  # what was found out before it began, for the user
    links: tuple[str, ...] = ()  # of which `Framed` tells

    @abstractmethod
    def change_at(self, time: int, values: Mapping[str, Any]) -> None:
        """Config items change at `time`; given in order of time, before packets that arrive then."""

    @abstractmethod
    def arrive(self, packets: Sequence[Arrival]) -> Iterator[Event]:
        """Packets, in order of arrival; first of each, everything due at or before its time."""

    def advance(self, time: int) -> Iterator[Event]:
        """Time moves on to `time`, if that is later. Only for engines with Ability.steps."""
        raise NotImplementedError

    @abstractmethod
    def finish(self) -> Iterator[Event]:
        """The end of the trace: what is due at the last packet's time still happens."""

    def close(self) -> None:
        """Gives back what it holds; nothing is called after this."""
        return

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def told(ask: Callable[[], None], taken: Callable[[], Iterable[Event]]) -> Iterator[Event]:
    """What happens when the engine is asked for something: all of it, even if that fails in the end."""
    try:
        ask()
    except Exception:
        yield from taken()
        raise
    yield from taken()
