"""L8.3: changes of the configuration from an event file."""

from __future__ import annotations

from pathlib import Path

import pytest

from polysome.config.events import ConfigChange, in_order, load_events
from polysome.config.items import ConfigFileError
from polysome.kinds.values import Prefix
from polysome.syntax.diagnostics import Report, SpecError

from .helpers import nf, said

CONFIG = "config rows: list<Pair>; config routes: lpm<ipv4, u8>; config one: duration = 1s;"
LINES = """\
{"at": "2s", "set": {"rows": [{"low": 1, "high": 2}], "one": "5ms"}}

{"at": 1700000000000000001, "set": {"routes": {"10.0.0.0/8": 7}}}
{"at": "1.5s", "set": {"rows": []}}
{"set": {"one": "6ms"}, "at": "2s"}
{"at": "0s", "set": {}}
"""


def load(folder: Path, text: str) -> list[ConfigChange]:
    path = folder / "events.jsonl"
    path.write_text(text, encoding="utf-8")
    return load_events(nf(CONFIG), str(path), Report())


def test_L8_3_changes(tmp_path: Path) -> None:
    assert load(tmp_path, LINES) == [
        ConfigChange(2 * 10**9, None, {"rows": ((1, 2),), "one": 5_000_000}, 1),
        ConfigChange(None, 1700000000000000001, {"routes": ((Prefix(32, 10 << 24, 8), 7),)}, 3),
        ConfigChange(1_500_000_000, None, {"rows": ()}, 4),
        ConfigChange(2 * 10**9, None, {"one": 6_000_000}, 5),
        ConfigChange(0, None, {}, 6),
    ]
    assert load(tmp_path, "") == [] and load(tmp_path, "\n\n") == []


def test_L2_3_changes_happen_by_time_then_in_file_order(tmp_path: Path) -> None:
    changes = load(tmp_path, LINES)
    first = 1700000000000000000
    assert [change.line for change in in_order(changes, first)] == [6, 3, 4, 1, 5]
    assert [change.line for change in in_order(changes, first + 1)] == [3, 6, 4, 1, 5]
    assert changes[0].due(first) == first + 2 * 10**9 and changes[1].due(first) == first + 1


def test_places_of_errors(tmp_path: Path) -> None:
    with pytest.raises(SpecError) as caught:
        load(
            tmp_path,
            '{"at": "1s", "set": {"rows": [{"low": 1}]}}\r\n\r\n{"at": 1e3, "set": {"routes": {"10.0.0.1/8": 1}}}',
        )
    assert said(caught.value) == [("E1008", 1, 31), ("E1103", 3, 8), ("E1009", 3, 32)]


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ConfigFileError, match="cannot be read"):
        load_events(nf(CONFIG), str(tmp_path / "none.jsonl"), Report())
