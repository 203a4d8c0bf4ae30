"""`--capture-links`: frames in order of time, and files that are in place whatever happens."""

from __future__ import annotations

from pathlib import Path

import pytest

from polysome.captures.errors import CaptureError
from polysome.captures.read import open_capture
from polysome.captures.write import PcapngWriter
from polysome.cli.link_captures import LinkCaptures
from polysome.engines.events import Framed

LINKS = ("nf", "server0")


def written(folder: Path) -> dict[str, list[tuple[int, int]]]:
    """The links' files, and no others: (interface, time) of each frame."""
    found = {}
    for path in folder.iterdir():
        with open_capture(path) as capture:
            found[path.name] = [(packet.interface, packet.time) for packet in capture]
    return found


def test_frames_are_in_order_of_time(tmp_path: Path) -> None:
    with LinkCaptures(tmp_path / "links", LINKS) as links:
        for link, incoming, time in (("nf", False, 50), ("server0", True, 40), ("nf", True, 30), ("nf", False, 10**9)):
            links.write(Framed(link, incoming, time, bytes(60)))
    assert written(tmp_path / "links") == {"nf.pcapng": [(1, 30), (0, 50), (0, 10**9)], "server0.pcapng": [(1, 40)]}


def test_what_was_told_is_kept_if_the_run_fails(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), LinkCaptures(tmp_path, LINKS) as links:
        links.write(Framed("nf", False, 50, bytes(60)))
        raise ZeroDivisionError
    assert written(tmp_path) == {"nf.pcapng": [(0, 50)], "server0.pcapng": []}


def test_a_disk_that_is_full_is_one_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fails(self: PcapngWriter, *rest: object) -> None:
        raise CaptureError(self.path, "no space")

    monkeypatch.setattr(PcapngWriter, "write", fails)
    with pytest.raises(SystemExit) as ended, LinkCaptures(tmp_path, LINKS) as links:
        for time in (1, 2, 10**9, 2 * 10**9):
            links.write(Framed("nf", False, time, bytes(60)))
    assert ended.value.code == 3 and capsys.readouterr().err.count("error:") == 1
    assert written(tmp_path) == {"nf.pcapng": [], "server0.pcapng": []}
