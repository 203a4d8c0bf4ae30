"""Site files: what they may say, and the errors that are not about one site only."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from tests.plan.helpers import program_of, read_site

from polysome.config.items import ConfigFileError, Item, Rejected
from polysome.config.toml_text import read_toml
from polysome.plan import targets
from polysome.plan.architectures.ribosome.store import parking_of
from polysome.plan.site import BackOff, Controller, Site
from polysome.plan.site_complete import complete
from polysome.plan.site_file import SiteFile, open_site, site_of
from polysome.plan.split import plan
from polysome.syntax.diagnostics import Diagnostic, Report
from polysome.syntax.spans import Source, Span

FAIL = Path(__file__).parent / "fail"
SOURCES = str(Path(__file__).parents[2] / "compiler")

FULL = """
[switch]
model = "tofino"
address = "192.0.2.1"
pipe = 1
names = { "1/0" = 128, "2/0" = 132 }
control_port = 50152
port_rate = "40Gbps"
traffic_rate = "25Gbps"
mtu = "1400B"

[ports]
lan = ["1/0", "2/0"]
wan = 136

[[nf_servers]]
name = "nf1"
switch_port = 140
address = "192.0.2.11"
control_port = 50161
nic = "ens1f0"
mac = "02:00:00:00:00:11"
cores = [2]
latency = "2ms"
mtu = "2000B"

[[rdma_servers]]
name = "memory1"
switch_port = 144
address = "192.0.2.21"
control_port = 50151
nic = "mlx5_0"
interface = "ens1f0np0"
numa = 1
link_rate = "25Gbps"
huge_pages = false
memory = "16GiB"
spare_bandwidth = "20Gbps"
mac = "02:00:00:00:00:21"
ip = "10.0.0.21"

[controller]
metrics = "0.0.0.0:9464"
listen = "192.0.2.1:50070"
poll = "200ms"
queue_pair_poll = "20ms"
health = "1s"
probe = "2s"
back_off = { high = 0.9, low = 0.5, step = 0.2, headroom = 1 }

[plan]
hold = "5ms"
queue_pairs = 8
whole = 0.25

[params]
limit = "3Mbps"
flag = true
count = 4

[config]
table = "table.csv"
"""


SMALL = """
[switch]
model = "tofino"
[ports]
lan = 0
wan = 4
[[nf_servers]]
name = "nf1"
switch_port = 8
[[rdma_servers]]
name = "memory1"
switch_port = 12
memory = "16GiB"
[[rdma_servers]]
name = "memory2"
switch_port = 16
memory = "16GiB"
nic = "soft"
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
    assert site.traffic == ((128, 132), (136,)) and site.traffic_rate == 25 * 10**9
    assert site.largest_frame == 1400 + 14 + 8
    assert (site.address, site.control_port, site.queue_pairs) == ("192.0.2.1", 50152, 8)
    assert site.whole == 0.25 and (site.recirculation_port, site.generator_port) == (128 + 68, 128 + 68)
    (nf,) = site.nf_servers
    assert (nf.name, nf.port, nf.nic.name, nf.core) == ("nf1", 140, "connectx5", 2)
    assert (nf.latency, nf.largest_frame, nf.mac) == (2 * 10**6, 2014, 0x020000000011)
    assert (nf.address, nf.control_port, nf.device) == ("192.0.2.11", 50161, "ens1f0")
    (memory,) = site.rdma_servers
    assert (memory.port, memory.memory, memory.spare) == (144, 16 * 2**30, 20 * 10**9)
    assert (memory.mac, memory.ip, memory.numa, memory.huge_pages) == (0x020000000021, 0x0A000015, 1, False)
    assert (memory.address, memory.control_port) == ("192.0.2.21", 50151)
    assert (memory.device, memory.interface) == ("mlx5_0", "ens1f0np0")
    assert site.rate_to(nf) == 40 * 10**9 and site.rate_to(memory) == 25 * 10**9
    assert site.controller == Controller(
        "0.0.0.0:9464", "192.0.2.1:50070", 200 * 10**6, 20 * 10**6, 10**9, 2 * 10**9, BackOff(0.9, 0.5, 0.2, 1.0)
    )


def test_what_a_site_leaves_out_has_the_stated_defaults(tmp_path: Path) -> None:
    site = read(tmp_path, SMALL)
    assert (site.address, site.control_port, site.queue_pairs, site.hold) == (None, 50052, None, None)
    assert (site.mtu, site.traffic_rate, site.port_rate) == (1500, 100 * 10**9, 100 * 10**9)
    assert site.controller == Controller(
        "127.0.0.1:9464", None, 100 * 10**6, 10 * 10**6, 500 * 10**6, 10**9, BackOff(0.95, 0.8, 0.1, 0.9)
    )
    (nf,), (first, second) = site.nf_servers, site.rdma_servers
    assert (nf.control_port, nf.device, nf.core) == (50061, None, 0)
    assert (first.control_port, first.numa, first.link_rate, first.spare) == (50051, 0, None, None)
    assert first.huge_pages and not second.huge_pages, "a program that answers needs none"


@pytest.mark.parametrize(("nic", "largest"), [("eth1", 9600), ("0000:3b:00.0", 14 + 1600)])
def test_what_the_nf_s_program_takes_for_dpdk_is_less_than_a_nic_does(tmp_path: Path, nic: str, largest: int) -> None:
    (nf,) = read(tmp_path, SMALL.replace("switch_port = 8", f'switch_port = 8\nnic = "{nic}"')).nf_servers
    assert nf.largest_frame == largest
    host = (Path(__file__).parents[2] / "runtime/host/fields_dpdk.hpp").read_text()
    assert re.search(r"uint16_t mtu = 1'600;", host)


def test_a_mac_address_of_what_dpdk_takes_is_refused(tmp_path: Path) -> None:
    text = SMALL.replace("switch_port = 8", 'switch_port = 8\nnic = "0000:3b:00.0"\nmac = "02:00:00:00:00:11"')
    assert told(tmp_path, text) == [("E1310", line_of(text, "mac ="))]


def test_the_speeds_of_ports_are_those_that_the_controller_sets() -> None:
    text = (Path(__file__).parents[2] / "runtime/controller/polysome_controller/bfrt_tables.py").read_text()
    known = {int(speed) * 10**9 for speed in re.findall(r'^    (\d+): \("BF_SPEED', text, re.MULTILINE)}
    for name in ("tofino", "tofino2"):
        assert set(targets.switch(name).port_speeds_bps) <= known
    assert set(targets.switch("tofino2").port_speeds_bps) == known


@pytest.mark.parametrize(
    ("text", "value"), [("1GiB", 2**30), ("1.5GB", 1_500_000_000), ("1048576B", 2**20), ("2048MiB", 2**31)]
)
def test_sizes_have_units(tmp_path: Path, text: str, value: int) -> None:
    assert read(tmp_path, SMALL.replace("16GiB", text)).rdma_servers[0].memory == value


def test_a_plan_has_the_queue_pairs_and_the_links_of_its_site(tmp_path: Path) -> None:
    text = SMALL.replace("switch_port = 12", 'switch_port = 12\nlink_rate = "50Gbps"')
    text = text.replace('model = "tofino"', 'model = "tofino"\ntraffic_rate = "10Gbps"')
    made = plan(program_of(FAIL / "common.nf"), read(tmp_path, text + "[plan]\nqueue_pairs = 2\n"))
    parking = parking_of(made)
    assert parking is not None
    assert (parking.queue_pairs.value, parking.queue_pairs.formula) == (2, "as the site says")
    capacity = {link.name: link.capacity for link in made.links if link.direction == "to"}
    slow, fast = capacity["RDMA server memory1"], capacity["RDMA server memory2"]
    assert (slow.value, slow.formula) == (50 * 10**9, "link_rate") and fast.value == 100 * 10**9


def test_params_are_given_as_on_the_command_line(tmp_path: Path) -> None:
    (tmp_path / "site.toml").write_text(FULL)
    assert open_site(str(tmp_path / "site.toml"), Report()).params == ("limit=3Mbps", "flag=true", "count=4")


def test_params_of_blocks_may_stand_in_tables(tmp_path: Path) -> None:
    (tmp_path / "site.toml").write_text('[params]\n"a.b" = 1\n[params.c]\nd = "2s"\n')
    assert open_site(str(tmp_path / "site.toml"), Report()).params == ("a.b=1", "c.d=2s")


def test_a_param_is_no_array(tmp_path: Path) -> None:
    (tmp_path / "site.toml").write_text("[params]\nlimit = [1]\n")
    with pytest.raises(Rejected):
        open_site(str(tmp_path / "site.toml"), report := Report())
    assert [d.code for d in report.diagnostics] == ["E1006"]


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
        ("cores = [2]", "cores = []", "E1006"),
        ("cores = [2]", 'cores = ["2"]', "E1006"),
        ("cores = [2]", "cores = [2, 3]", "E1310"),
        ("whole = 0.25", "whole = 1.5", "E1306"),
        ("whole = 0.25", 'whole = "1"', "E1006"),
        ('traffic_rate = "25Gbps"', 'traffic_rate = "30Gbps"', "E1310"),
        ('link_rate = "25Gbps"', 'link_rate = "20Gbps"', "E1310"),
        ("pipe = 1", "pipe = true", "E1006"),
        ("lan = [", "lna = [", "E1007"),
        ('name = "nf1"', "name = 5", "E1006"),
        ('hold = "5ms"', 'hold = "5"', "E1012"),
        ('hold = "5ms"', 'hold = "0s"', "E1306"),
        ('latency = "2ms"', 'latency = "1min"', "E1306"),
        ('link_rate = "25Gbps"', 'link_rate = "25GBps"', "E1012"),
        ('listen = "192.0.2.1:50070"', 'listen = "192.0.2.1"', "E1009"),
        ('listen = "192.0.2.1:50070"', 'listen = "192.0.2.1:0"', "E1009"),
        ('listen = "192.0.2.1:50070"', 'listen = "224.0.0.1:50070"', "E1009"),
        ('ip = "10.0.0.21"', 'ip = "0.0.0.0"', "E1009"),
        ('name = "nf1"', 'name = "Nf1"', "E1009"),
        ('name = "nf1"', 'name = "nf1-"', "E1009"),
        ('name = "nf1"', f'name = "{"n" * 41}"', "E1009"),
        ('name = "nf1"', 'name = "switch"', "E1301"),
        ('names = { "1/0" = 128, "2/0" = 132 }', 'names = { "1/0" = 128, "2/0" = 512 }', "E1306"),
        ("numa = 1", "numa = 64", "E1306"),
        ("huge_pages = false", "huge_pages = 0", "E1006"),
        ('traffic_rate = "25Gbps"', 'traffic_rate = "41Gbps"', "E1308"),
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
    text = FULL.replace("numa = 1", "numa = 99").replace("switch_port = 140", "switch_port = 500")
    text = text.replace('poll = "200ms"', "poll = 200", 1).replace("low = 0.5", "low = 0.9")
    assert [code for code, _ in told(tmp_path, text)] == ["E1303", "E1306", "E1012", "E1308"]


def test_a_wrong_switch_does_not_make_its_ports_wrong(tmp_path: Path) -> None:
    assert told(tmp_path, FULL.replace('model = "tofino"', 'model = "tofin"')) == [("E1305", 3)]


def members(table: Item, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Of every table in a file, as paths; the spec's own names aside."""
    inside = table.value.items() if isinstance(table.value, dict) else enumerate(table.value)
    for name, item in inside:
        if name not in ("params", "config", "ports", "names"):
            yield (*path, name)
            if isinstance(item.value, (dict, list)):
                yield from members(item, (*path, name))


ROOT = read_toml(Source("site.toml", FULL), Report())
MEMBERS = [path for path in members(ROOT) if isinstance(path[-1], str)]


def changed(path: tuple[str | int, ...], change: Callable[[dict[Any, Item], str], None]) -> list[Diagnostic]:
    """What is told after `change` of the table that holds the member at `path`."""
    root, report = read_toml(Source("site.toml", FULL), Report()), Report()
    table: Any = root.value
    for part in path[:-1]:
        table = table[part].value
    change(table, str(path[-1]))
    with suppress(Rejected):
        site_of(SiteFile("site.toml", root, (), {}), ("lan", "wan"), report)
        assert not report.diagnostics
    return report.diagnostics


@pytest.mark.parametrize("path", MEMBERS, ids=lambda path: ".".join(map(str, path)))
def test_a_misspelt_name_is_told_with_the_one_that_was_meant(path: tuple[str | int, ...]) -> None:
    def misspell(table: dict[Any, Item], name: str) -> None:
        table[f"{name[:2]}{name[1:]}"] = table.pop(name)

    (only,) = [d for d in changed(path, misspell) if d.code != "E1308"]  # nor are the others' relations right any more
    assert only.code == "E1007" and only.mend == f"Did you mean `{path[-1]}`?"


ODD = (5, -1, True, 1.5, float("nan"), "", "x", "0x", [], {}, [[]], {"a": 1}, [1, "a"], None, 2**70, "9" * 400)


@pytest.mark.parametrize("path", MEMBERS, ids=lambda path: ".".join(map(str, path)))
def test_no_value_of_any_member_is_too_odd_to_be_told(path: tuple[str | int, ...]) -> None:
    def item(value: Any, span: Span) -> Item:
        if isinstance(value, dict):
            return Item({name: item(member, span) for name, member in value.items()}, span)
        return Item([item(member, span) for member in value] if isinstance(value, list) else value, span)

    for value in ODD:

        def replace(table: dict[Any, Item], name: str, value: Any = value) -> None:
            table[name] = item(value, table[name].span)

        for d in changed(path, replace):
            assert re.fullmatch(r"E1(0\d\d|30\d)", d.code) and d.span is not None, d
            assert d.why.endswith(".") and d.mend.endswith((".", "?")), d


def test_other_commands_do_not_wait_for_pydantic() -> None:
    code = "import sys, polysome.cli.main, polysome.cli.check, polysome.plan.split; print('pydantic' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env={"PYTHONPATH": SOURCES})
    assert done.stdout == "False\n", done.stderr


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ConfigFileError):
        open_site(str(tmp_path / "none.toml"), Report())


# ---------------------------------------------------------------- architectures


SLOW = SMALL.replace('model = "tofino"', 'model = "tofino"\ntraffic_rate = "10Gbps"', 1)  # one NF server has it all
WITHOUT = SLOW[: SLOW.index("[[rdma_servers]]")]


def test_a_site_for_whole_packets_needs_no_rdma_server(tmp_path: Path) -> None:
    site = read(tmp_path, 'architecture = "whole"\n' + WITHOUT)
    assert (site.architecture, site.rdma_servers, site.idle) == ("whole", (), ())
    made = plan(program_of(FAIL / "common.nf"), site)
    assert (made.architecture, made.store, made.split) == ("whole", None, ())
    assert {f.why for f in made.frames} == {"the architecture `whole` splits no packet"}
    assert not any("RDMA" in note for note in made.notes) and not any("RDMA" in link.name for link in made.links)


def test_rdma_servers_that_an_architecture_has_no_use_for_take_no_part(tmp_path: Path) -> None:
    """They stay in the file; that another port has theirs is still wrong."""
    site = read(tmp_path, 'architecture = "whole"\n' + SLOW)
    names = tuple(re.findall(r'name = "(memory\d)"', SMALL))
    assert names and (site.rdma_servers, site.idle) == ((), names)
    notes = plan(program_of(FAIL / "common.nf"), site).notes
    assert sum("take no part: the architecture `whole` has no use for them" in note for note in notes) == 1
    report = Report()
    twice = SMALL.replace("switch_port = 8\n", "switch_port = 12\n", 1)
    assert twice != SMALL
    (tmp_path / "twice.toml").write_text('architecture = "whole"\n' + twice)
    with suppress(Rejected):
        site_of(open_site(str(tmp_path / "twice.toml"), report), ("lan", "wan"), report)
    assert [d.code for d in report.diagnostics] == ["E1302"]


def test_a_bundle_of_whole_packets_asks_for_nothing_that_memory_servers_need(tmp_path: Path) -> None:
    """No ICRC, no interface of the controller's; with RDMA servers, a Tofino's site has to say both."""
    own = 'address = "192.0.2.1"\n'
    text = SLOW.replace('model = "tofino"\n', f'model = "tofino"\n{own}', 1)
    text = text.replace("switch_port = 8\n", 'switch_port = 8\naddress = "192.0.2.11"\nnic = "enp1s0"\n', 1)
    complete(read(tmp_path, 'architecture = "whole"\n' + text), report := Report())
    assert report.diagnostics == []
    with pytest.raises(Rejected):
        complete(read(tmp_path, text), report)
    assert any("`cpu_interface`, `icrc`, `nic_icrc`" in d.message for d in report.diagnostics)


def test_the_command_line_goes_before_the_file(tmp_path: Path) -> None:
    for said, given in (("whole", "ribosome"), ("ribosome", "whole")):
        (tmp_path / "site.toml").write_text(f'architecture = "{said}"\n' + SMALL)
        report = Report()
        file = open_site(str(tmp_path / "site.toml"), report)
        site = site_of(file, ("lan", "wan"), report, given)
        assert site.architecture == given and bool(site.rdma_servers) == (given == "ribosome")
