"""The switch program as C++ comes from the cache, and from the translator where the cache is of no use."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.p4.test_forwarding import STATIONS

from polysome.backends.bundle import translation
from polysome.backends.system.library import limits, translated
from polysome.plan import targets


def test_a_program_is_translated_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    asked = []

    def counted(*arguments: object) -> str:
        asked.append(arguments)
        return translated(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(translation, "translated", counted)
    tofino, soft = (limits(targets.switch(name)) for name in ("tofino", "software"))
    first = translation.translation("stations.p4", STATIONS, tofino)
    assert first == translated("stations.p4", STATIONS, tofino)
    assert translation.translation("stations.p4", STATIONS, tofino) == first and len(asked) == 1
    translation.translation("stations.p4", STATIONS + "\n", tofino)  # another text
    translation.translation("stations.p4", STATIONS, soft)  # another chip
    assert len(asked) == 3
    assert len(list((tmp_path / "polysome" / "native").glob("*.hpp"))) == 3


def test_a_cache_that_cannot_be_made_costs_only_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blocked = tmp_path / "file"
    blocked.touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(blocked))
    chip = limits(targets.switch("tofino"))
    assert translation.translation("stations.p4", STATIONS, chip) == translated("stations.p4", STATIONS, chip)
