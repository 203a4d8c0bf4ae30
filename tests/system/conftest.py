"""What the tests of whole systems share: the switch's own counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from polysome.testing.engines import system


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> Iterator[Counter[str]]:
    """What the switch's program counts in the runs of a test, by event."""
    found: Counter[str] = Counter()

    def noting(*about: Any) -> dict[str, int]:
        told = events(*about)
        found.update(told)
        return told

    events = system.events
    monkeypatch.setattr(system, "events", noting)
    yield found
