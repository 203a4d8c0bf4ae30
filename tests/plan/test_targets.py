"""Targets: that the files are right, and what is told of one that is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from polysome.config.items import Rejected
from polysome.plan import frames, targets
from polysome.resources import folder
from polysome.syntax.diagnostics import Report


def test_all_targets_can_be_read() -> None:
    assert {"linux", "software", "tofino", "tofino2"} <= set(targets.known("switch"))
    assert {"connectx5", "linux", "software"} <= set(targets.known("nic")) & set(targets.known("server"))
    for name in targets.known("switch"):
        chip = targets.switch(name)
        assert chip.first_port < chip.last_port < chip.ports_per_pipe
        assert not chip.first_port <= chip.recirculation_port <= chip.last_port
        assert chip.mirror_header_most_bytes >= frames.BRIDGE
        assert chip.egress_depth_least_bytes < chip.egress_depth_most_bytes
        assert chip.queue_limit_bytes < chip.packet_buffer_bytes
    for name in targets.known("nic"):
        card = targets.nic(name)
        assert card.goodput_bps < card.rate_bps and card.outstanding_reads >= 16
        assert all(m & (m - 1) == 0 for m in card.path_mtus_bytes)
        assert targets.server(name).memory_bytes >= 2**28


def test_a_target_takes_what_it_does_not_say_from_another() -> None:
    software, tofino = targets.switch("software"), targets.switch("tofino")
    assert software.port_rate_bps != tofino.port_rate_bps and software.stages == tofino.stages
    assert software.name == "software"


def test_an_unknown_target_is_no_target() -> None:
    with pytest.raises(KeyError):
        targets.switch("connectx5")


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        ("stages = 12", "stages = 0", "E1306"),
        ("stages = 12", "stages = 12.5", "E1006"),
        ("stages = 12", "stagse = 12", "E1007"),
        ("stages = 12", "", "E1008"),
        ('architecture = "tna"', 'architecture = "v1model"', "E1006"),
        ("stages = 12", 'stages = 12\nlike = "tofin"', "E1305"),
        ("mirror_length_counts_header = true", "mirror_length_counts_header = 1", "E1006"),
    ],
)
def test_a_wrong_target_is_told_where_and_what_is_allowed(tmp_path: Path, old: str, new: str, code: str) -> None:
    text = (folder("targets") / "tofino" / "target.toml").read_text()
    assert old in text
    (tmp_path / "chip").mkdir()
    (tmp_path / "chip" / "target.toml").write_text(text.replace(old, new))
    report = Report()
    with pytest.raises(Rejected):
        targets.read("chip", "switch", targets.Switch, report, tmp_path)
    (found,) = report.diagnostics
    assert found.code == code and found.span is not None and found.why and found.mend
    path = str(tmp_path / "chip" / "target.toml")
    at = report.sources[path].position(found.span.start)[0]
    expected = text[: text.index("[switch]" if code == "E1008" else old)].count("\n") + 1
    assert at == expected + (code == "E1305")
