"""Site files: what they may say, and the errors that are not about one site only."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.plan.helpers import read_site

from polysome.config.items import ConfigFileError, Rejected
from polysome.plan.site import Site
from polysome.plan.site_file import open_site
from polysome.syntax.diagnostics import Report

FULL = """
[switch]
model = "tofino"
address = "192.0.2.1"
pipe = 1
names = { "1/0" = 128, "2/0" = 132 }
port_rate = "40Gbps"
mtu = "1400B"

[ports]
lan = ["1/0", "2/0"]
wan = 136

[[nf_servers]]
name = "nf1"
switch_port = 140
address = "192.0.2.11"
nic = "0000:3b:00.0"
cores = [2, 3, 4]
latency = "2ms"
mtu = "2000B"

[[rdma_servers]]
name = "memory1"
switch_port = 144
id = 7
address = "192.0.2.21"
nic = "mlx5_0"
numa = 1
memory = "16GiB"
spare_bandwidth = "20Gbps"
mac = "02:00:00:00:00:21"
ip = "10.0.0.21"

[plan]
hold = "5ms"

[params]
limit = "3Mbps"
flag = true
count = 4

[config]
table = "table.csv"
"""


def read(tmp_path: Path, text: str) -> Site:
    (tmp_path / "site.toml").write_text(text)
    return read_site(str(tmp_path / "site.toml"), ("lan", "wan"), Report())


def told(tmp_path: Path, text: str) -> list[tuple[str, int]]:
    """Codes and lines of what is reported."""
    path = tmp_path / "site.toml"
    path.write_text(text)
    report = Report()
    with pytest.raises(Rejected):
        read_site(str(path), ("lan", "wan"), report)
    source = report.sources[str(path)]
    return [(d.code, source.position(d.span.start)[0]) for d in report.diagnostics if d.span is not None]


def test_everything_a_site_may_say(tmp_path: Path) -> None:
    site = read(tmp_path, FULL)
    assert (site.switch.name, site.pipe, site.port_rate, site.mtu, site.hold) == (
        "tofino",
        1,
        40 * 10**9,
        1400,
        5 * 10**6,
    )
    assert site.traffic == ((128, 132), (136,)) and site.traffic_rate == 40 * 10**9
    assert site.largest_frame == 1400 + 14 + 8
    (nf,) = site.nf_servers
    assert (nf.name, nf.port, nf.nic.name, nf.cores) == ("nf1", 140, "connectx5", (2, 3, 4))
    assert (nf.latency, nf.largest_frame, nf.mac) == (2 * 10**6, 2014, None)
    (memory,) = site.rdma_servers
    assert (memory.id, memory.port, memory.memory, memory.spare) == (7, 144, 16 * 2**30, 20 * 10**9)
    assert (memory.mac, memory.ip) == (0x020000000021, 0x0A000015)
    assert site.rate_to(nf) == 40 * 10**9


def test_params_are_given_as_on_the_command_line(tmp_path: Path) -> None:
    (tmp_path / "site.toml").write_text(FULL)
    assert open_site(str(tmp_path / "site.toml"), Report()).params == ("limit=3Mbps", "flag=true", "count=4")


def line_of(text: str, part: str) -> int:
    return text[: text.index(part)].count("\n") + 1


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        ('memory = "16GiB"', "memory = 16", "E1012"),
        ('memory = "16GiB"', 'memory = "16Gbps"', "E1012"),
        ('memory = "16GiB"', 'mem = "16GiB"', "E1007"),
        ('mac = "02:00:00:00:00:21"', 'mac = "02-00"', "E1009"),
        ('ip = "10.0.0.21"', 'ip = "2001:db8::1"', "E1009"),
        ("cores = [2, 3, 4]", "cores = []", "E1006"),
        ("cores = [2, 3, 4]", 'cores = ["2"]', "E1006"),
        ("pipe = 1", "pipe = true", "E1006"),
        ("lan = [", "lna = [", "E1007"),
        ('name = "nf1"', "name = 5", "E1006"),
        ('hold = "5ms"', 'hold = "5"', "E1012"),
    ],
)
def test_what_is_wrong_is_told_where_it_stands(tmp_path: Path, old: str, new: str, code: str) -> None:
    assert old in FULL
    text = FULL.replace(old, new)
    assert told(tmp_path, text) == [(code, line_of(text, new))]


@pytest.mark.parametrize("part", ["switch", "ports", "nf_servers", "rdma_servers"])
def test_no_part_may_be_missing(tmp_path: Path, part: str) -> None:
    lines, skip = [], False
    for line in FULL.split("\n"):
        skip = line.strip("[]") == part if line.startswith("[") else skip
        lines += [] if skip else [line]
    assert told(tmp_path, "\n".join(lines))[0][0] == "E1008"


def test_all_that_is_wrong_is_told_at_once(tmp_path: Path) -> None:
    text = FULL.replace("id = 7", "id = 99").replace("switch_port = 140", "switch_port = 500")
    assert [code for code, _ in told(tmp_path, text)] == ["E1303", "E1306"]


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ConfigFileError):
        open_site(str(tmp_path / "none.toml"), Report())
