"""What happened is told to status and to the log, and a log that is full ends nothing."""

from __future__ import annotations

import sys

import pytest

from polysome_controller.journal import Journal


def test_an_event_is_a_line_of_the_log_and_known_to_status(capsys: pytest.CaptureFixture[str]) -> None:
    journal = Journal()
    journal.warning("nf1", "down:\n no answer")
    assert capsys.readouterr().err == "polysome-controller: warning: nf1: down: no answer\n"
    assert [(one.severity, one.part, one.text) for one in journal.latest()] == [("warning", "nf1", "down: no answer")]


def test_a_full_disk_under_the_log_ends_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    journal = Journal()
    full = open("/dev/full", "w", encoding="utf-8")  # noqa: SIM115 - closing it fails, as writing does
    monkeypatch.setattr(sys, "stderr", full)
    journal.warning("nf1", "down")
    journal.info("nf1", "up")
    assert [one.text for one in journal.latest()] == ["down", "up"]
    with pytest.raises(OSError):
        full.close()
