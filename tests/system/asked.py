"""What the controller of a simulated system asks of switch and agents, and when."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from tests.system.at_work import START, AtWork

from polysome.engines.system.control.switch import SimulatedSwitch
from polysome.plan.architectures.ribosome.simulated import Agent
from polysome_controller.driver import Put, Remove, SetRegister, Update
from polysome_controller.pairs import PairWatch
from polysome_controller.program import PRIMARIES

Line = tuple[int, str]  # ns from the first packet, and what


class Asked:
    """Lines since the system began its work, in order."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.lines: list[Line] = []
        self._system: AtWork | None = None
        for name in ("describe", "health", "reset", "clear"):
            self._note(patch, Agent, name, lambda agent, *_, name=name: f"{agent.name} {name}")
        self._note(patch, SimulatedSwitch, "_apply", lambda _, update: _words(update))
        self._note(patch, PairWatch, "look", lambda _: "look")

    @contextmanager
    def of(self, system: AtWork) -> Iterator[AtWork]:
        self.lines.clear()
        self._system = system
        yield system
        self._system = None

    def count(self, *ends: str) -> int:
        return sum(text.endswith(ends) for _, text in self.lines)

    def times(self, what: str) -> list[int]:
        return [time for time, text in self.lines if text == what]

    def _note(self, patch: pytest.MonkeyPatch, of: type, name: str, text: Callable[..., str]) -> None:
        method = getattr(of, name)

        def noted(*given: Any) -> Any:
            if self._system is not None:
                self.lines.append((self._system.running.progress().now - START, text(*given)))
            return method(*given)

        patch.setattr(of, name, noted)


def _words(update: Update) -> str:
    match update:
        case SetRegister(register, index, value):
            return f"{'up' if value else 'down'} {index}" if register == PRIMARIES else f"{register} {index}"
        case Put(table) | Remove(table):
            return f"{'no ' if isinstance(update, Remove) else ''}{table}"
        case _:
            return type(update).__name__


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Asked:
    return Asked(monkeypatch)
