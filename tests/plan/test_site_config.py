"""`[config]` of a site file, and the sites of the examples: what a bundle gets from them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from tests.plan.helpers import FAIL, ROOT, program_of

from polysome.config.items import Rejected
from polysome.config.load import load_config
from polysome.ir import program as ir
from polysome.plan.architectures.ribosome.store import parking_of
from polysome.plan.site_complete import complete
from polysome.plan.site_config import SiteConfig, config_of
from polysome.plan.site_file import open_site, site_of
from polysome.plan.split import plan
from polysome.syntax.diagnostics import Report

SPEC = """
use net.l4;

struct Limit { rate: bitrate, burst: bytes }

nf several {
  port lan, wan;
  config blocked: set<ipv4>;
  config limits: map<ipv4, Limit>;
  config usual: Limit;
  config most: u16 = 7;
  relevant ipv4.dst else drop "not IPv4";
  on packet { send wan; }
}
"""
USUAL = 'usual = { rate = "1Mbps", burst = "4KB" }'
EXAMPLES = sorted(path.parent.name for path in (ROOT / "examples").glob("*/site.toml"))


def load(folder: Path, config: str, files: Mapping[str, str], spec: str = SPEC) -> ir.Program:
    """Writes all files, and checks the spec."""
    (folder / "several.nf").write_text(spec, encoding="utf-8")
    (folder / "site.toml").write_text((FAIL / "good.toml").read_text("utf-8") + f"\n[config]\n{config}\n", "utf-8")
    for name, text in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return program_of(folder / "several.nf")


def read(folder: Path, config: str, files: Mapping[str, str], report: Report, spec: str = SPEC) -> SiteConfig:
    program = load(folder, config, files, spec)
    file = open_site(str(folder / "site.toml"), report)
    site_of(file, program.ports, report)
    return config_of(file, program, report)


def told(folder: Path, config: str, files: Mapping[str, str]) -> list[tuple[str, str]]:
    """Codes, and the file in which each error is."""
    report = Report()
    with pytest.raises(Rejected):
        read(folder, config, files, report)
    return [(d.code, Path(d.span.file).name) for d in report.diagnostics if d.span is not None]


def test_values_in_place_are_read_as_in_a_config_file(tmp_path: Path) -> None:
    found = read(tmp_path, f'blocked = ["10.0.0.1"]\nmost = 9\n{USUAL}', {}, Report())
    assert found.values == {"blocked": frozenset({0x0A000001}), "limits": {}, "usual": (10**6, 4000), "most": 9}
    assert found.files == {}


def test_each_item_may_come_from_a_file_of_its_own(tmp_path: Path) -> None:
    files = {
        "tables/blocked.CSV": "value\n10.0.0.1\n10.0.0.2\n",
        "limits.toml": 'limits = [{ key = "10.0.0.3", rate = "2Mbps", burst = "8KB" }]\n',
    }
    found = read(tmp_path, f'blocked = "./tables/blocked.CSV"\nlimits = "limits.toml"\n{USUAL}', files, Report())
    assert found.values["blocked"] == {0x0A000001, 0x0A000002}
    assert found.values["limits"] == {0x0A000003: (2 * 10**6, 8000)} and found.values["most"] == 7
    assert found.files == {
        "tables/blocked.CSV": tmp_path / "tables/blocked.CSV",
        "limits.toml": tmp_path / "limits.toml",
    }


def test_a_whole_config_file_and_more(tmp_path: Path) -> None:
    found = read(tmp_path, 'file = "config.toml"\nmost = 3', {"config.toml": USUAL}, Report())
    assert found.values["usual"] == (10**6, 4000) and found.values["most"] == 3
    assert list(found.files) == ["config.toml"]


def test_what_the_command_line_gives_counts(tmp_path: Path) -> None:
    program, report = load(tmp_path, f"most = 3\n{USUAL}", {"own.toml": "most = 4"}), Report()
    file = open_site(str(tmp_path / "site.toml"), report)
    found = config_of(file, program, report, [str(tmp_path / "own.toml")])
    assert found.values["most"] == 4 and found.values["usual"] == (10**6, 4000) and found.files == {}


def test_an_item_that_is_called_file_is_that_item(tmp_path: Path) -> None:
    spec = SPEC.replace("config most: u16", "config file: u16")
    found = read(tmp_path, f"file = 5\n{USUAL}", {}, Report(), spec)
    assert found.values["file"] == 5


@pytest.mark.parametrize(
    ("config", "files", "expected"),
    [
        ('file = "c.toml"\nmost = 3', {"c.toml": f"{USUAL}\nmost = 4"}, [("E1004", "site.toml")]),
        ('file = "c.toml"', {"c.toml": f"{USUAL}\nmots = 4"}, [("E1003", "c.toml")]),
        ('file = "c.toml"', {"c.toml": "usual = "}, [("E1001", "c.toml")]),
        ('file = "c.csv"', {"c.csv": "value\n"}, [("E1307", "site.toml")]),
        ('blocked = "none.csv"', {}, [("E1307", "site.toml")]),
        ('usual = "c.csv"', {"c.csv": "rate,burst\n"}, [("E1307", "site.toml")]),
        ('blocked = "/etc/blocked.csv"', {}, [("E1307", "site.toml")]),
        ('blocked = "a/../../blocked.csv"', {}, [("E1307", "site.toml")]),
        (f'blocked = "c.toml"\n{USUAL}', {"c.toml": "most = 3"}, [("E1307", "site.toml")]),
        (f"{USUAL}\nmost = 70000", {}, [("E1011", "site.toml")]),
        ("most = 70000", {}, [("E1011", "site.toml"), ("E1005", "several.nf")]),
        (f'{USUAL}\nmost = "many"', {}, [("E1009", "site.toml")]),
    ],
)
def test_what_is_wrong_is_told_once_in_its_file(
    tmp_path: Path, config: str, files: Mapping[str, str], expected: list[tuple[str, str]]
) -> None:
    assert told(tmp_path, config, files) == expected


def test_config_must_be_a_table(tmp_path: Path) -> None:
    (tmp_path / "site.toml").write_text("config = 5\n", encoding="utf-8")
    (tmp_path / "several.nf").write_text(SPEC, encoding="utf-8")
    file = open_site(str(tmp_path / "site.toml"), report := Report())
    with pytest.raises(Rejected):
        config_of(file, program_of(tmp_path / "several.nf"), report)
    assert [d.code for d in report.diagnostics] == ["E1006"]


# ---------------------------------------------------------------- the examples


def test_there_are_examples() -> None:
    assert {"load_balancer", "nat"} < set(EXAMPLES)


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_example_s_site_has_all_that_a_bundle_needs(name: str) -> None:
    folder, report = ROOT / "examples" / name, Report()
    program = program_of(folder / f"{name}.nf")
    file = open_site(str(folder / "site.toml"), report)
    site = site_of(file, program.ports, report)
    complete(site, report)
    made = plan(program, site)
    parking = parking_of(made)
    assert parking is not None, "the example shows what RDMA servers are for"
    found = config_of(file, program, report)
    given = [f"{n}={folder / n}.csv" for n in program.config if (folder / f"{n}.csv").exists()]
    whole = folder / "config.toml"
    assert found.values == load_config(program, [*([str(whole)] if whole.exists() else []), *given], Report())
    if any(server.device == "soft" for server in site.rdma_servers):
        assert all(server.memory <= 256 * 2**20 and not server.huge_pages for server in site.rdma_servers)
