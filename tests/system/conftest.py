"""What the tests of whole systems share: the switch's own counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from polysome.engines.system import report


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> Iterator[Counter[str]]:
    """What the switch's program counts in the runs of a test, by event."""
    found: Counter[str] = Counter()

    def noting(*about: Any) -> dict[str, int]:
        told = events(*about)
        found.update(told)
        return told

    events = report.events
    monkeypatch.setattr(report, "events", noting)
    yield found
