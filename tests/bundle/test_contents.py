"""What is in a bundle: files, configurations, reproducible to the byte."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from google.protobuf import json_format
from tests.bundle.helpers import EXAMPLE, ROOT, changed, compiled, copied, files, hardware, polysome, without_hashes

from polysome_controller import control_pb2

GOLDEN = ROOT / "tests" / "golden" / "bundle"
# Folders whose files are copied from elsewhere, and long texts that are generated.
COPIED = ("runtime/", "switch/controller/", "nf/fastclick/")
LONG = (".cpp", ".hpp", ".p4", ".html", ".sh", ".bin", ".nf", ".toml", "manifest.json", "plan.json", "CMakeLists.txt")


@pytest.mark.parametrize("name", ["soft", "tofino"])
def test_its_files_and_short_texts(
    name: str, request: pytest.FixtureRequest, golden: Callable[[Path, str], None]
) -> None:
    found = {path: data for path, data in files(request.getfixturevalue(name)).items() if not path.startswith(COPIED)}
    short = [path for path in found if not path.endswith(LONG) and path != "nf/README.md"]
    if name == "tofino":  # what the other one does not show
        short = [p for p in short if re.search(r"machines/|bundle\.conf|inventory|\.service|json$", p)]
    parts = ["\n".join(found) + "\n"]
    parts += [f"\n---- {path}\n{without_hashes(found[path].decode())}" for path in short]
    golden(GOLDEN / f"{name}.txt", "".join(parts))


def test_the_same_inputs_give_the_same_bytes_anywhere(
    soft: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = copied(tmp_path / "elsewhere" / "inputs")
    monkeypatch.chdir(here)
    monkeypatch.setenv("TZ", "Pacific/Auckland")
    compiled(Path("load_balancer.nf"), Path("site.toml"), tmp_path / "again")
    assert files(tmp_path / "again") == files(soft)


def test_no_path_of_this_machine_is_in_it(soft: Path) -> None:
    places = {str(ROOT).encode(), str(soft.parent).encode(), str(Path.home()).encode() + b"/"} - {b"//", b"/root/"}
    found = [path for path, data in files(soft).items() if any(place in data for place in places)]
    assert not found


def test_the_manifest_names_every_file_by_its_hash(soft: Path) -> None:
    manifest = json.loads((soft / "manifest.json").read_text())
    found = {path: hashlib.sha256(data).hexdigest() for path, data in files(soft).items() if path != "manifest.json"}
    assert manifest["files"] == found
    assert manifest["machines"] == {"switch": "switch", "memory1": "rdma", "memory2": "rdma", "nf1": "nf"}
    assert manifest["params"]["vip"] == "10.0.0.100"
    assert {"ipv4.src", "l4.dport"} <= set(manifest["relevant"])
    assert (
        manifest["library"]["stdlib/net/ipv4.nf"]
        == hashlib.sha256((ROOT / "stdlib/net/ipv4.nf").read_bytes()).hexdigest()
    )


def test_the_inputs_are_in_it_and_make_the_same_bundle(soft: Path, tmp_path: Path) -> None:
    source = soft / "source"
    assert (source / "config.toml").read_bytes() == (EXAMPLE / "config.toml").read_bytes()
    compiled(source / "load_balancer.nf", source / "site.toml", tmp_path / "again")
    assert files(tmp_path / "again") == files(soft)


@pytest.mark.parametrize("name", ["soft", "tofino"])
def test_configurations_are_messages(name: str, request: pytest.FixtureRequest) -> None:
    bundle: Path = request.getfixturevalue(name)
    manifest = json.loads((bundle / "manifest.json").read_text())
    kinds = {"switch/controller.json": control_pb2.ControllerConfig, "switch/soft.json": control_pb2.SwitchConfig}
    for machine, role in manifest["machines"].items():
        if role == "rdma":
            kinds[f"rdma/{machine}.json"] = control_pb2.AgentConfig
        if role == "nf":
            kinds[f"nf/{machine}.json"] = control_pb2.NfConfig
    read = {path: json_format.Parse((bundle / path).read_text(), kind()) for path, kind in kinds.items()}
    controller = read["switch/controller.json"]
    program = (bundle / "switch" / "load_balancer.p4").read_bytes()
    header = (bundle / "nf" / "nf" / "load_balancer.hpp").read_bytes()
    assert controller.program_hash == hashlib.sha256(program).hexdigest()
    assert controller.nf_hash == hashlib.sha256(header).hexdigest()
    for server in controller.rdma_servers:
        agent = read[f"rdma/{server.name}.json"]
        assert (agent.region, agent.queue_pairs, agent.mtu) == (server.region, server.queue_pairs, server.mtu)
        assert agent.listen == server.address and agent.switch_mac == controller.switch_mac
        assert agent.tls.certificate.endswith(f"/{server.name}.pem")
    assert [read[f"nf/{server.name}.json"].listen for server in controller.nf_servers] == [
        server.address for server in controller.nf_servers
    ]


def test_scripts_may_be_run_and_nothing_else(soft: Path) -> None:
    paths = [path for path in soft.rglob("*") if path.is_file()]
    scripts = {p.relative_to(soft).as_posix() for p in paths if p.read_bytes().startswith(b"#!")}
    assert {
        p.relative_to(soft).as_posix() for p in paths if os.access(p, os.X_OK) and p.stat().st_mode & 0o111
    } == scripts
    assert {"install.sh", "deploy/certificates.sh", "switch/build-sde.sh", "switch/build-p4c.sh"} <= scripts


def test_the_plan_is_that_of_polysome_plan(soft: Path) -> None:
    shown = json.loads(polysome("plan", EXAMPLE / "load_balancer.nf", "--site", EXAMPLE / "site.toml", "--json").stdout)
    planned = json.loads((soft / "plan.json").read_text())
    assert planned["store"]["cells"]["value"] == shown["store"]["cells"]["value"]
    assert planned["links"][2]["load"] == shown["links"][2]["load"]


def test_the_report_loads_nothing_and_escapes(tmp_path: Path) -> None:
    inputs = copied(tmp_path / "inputs")
    spec = (inputs / "load_balancer.nf").rename(inputs / "<b>&.nf")
    report = (compiled(spec, inputs / "site.toml", tmp_path / "out") / "report.html").read_text()
    assert not re.search(r"(src|href)=|url\(|@import|https?:", report)
    assert "(&lt;b&gt;&amp;.nf:18)" in report and "<b>&" not in report
    for said in ("ipv4.src", "RDMA server memory1", "power of two", "queue pairs 0 to 31", "Security"):
        assert said in report


@pytest.mark.parametrize("name", ["bridge", "router6"])
def test_an_nf_whose_packets_go_whole(name: str, tmp_path: Path) -> None:
    example = ROOT / "examples" / name
    ports = {"bridge": ("p1", "p2", "p3"), "router6": ("west", "east")}[name]
    configs = [f"--config={path}" for path in example.glob("config.toml")]
    configs += [f"--config={path.stem}={path}" for path in example.glob("*.csv")]
    bundle = compiled(
        example / f"{name}.nf", hardware(tmp_path, "tofino", *ports, rate="10Gbps"), tmp_path / "out", *configs
    )
    agent = json.loads((bundle / "rdma" / "memory1.json").read_text())
    assert (agent["region"], agent["queue_pairs"]) == (0, 0)
    assert json.loads((bundle / "plan.json").read_text())["store"] is None
    assert "all packets travel to the NF" in (bundle / "report.html").read_text()


def test_a_bundle_of_whole_packets_has_switch_and_nf_servers(tmp_path: Path) -> None:
    """From the same site: nothing in it is of RDMA servers."""
    bundle = compiled(
        EXAMPLE / "load_balancer.nf",
        hardware(tmp_path, "tofino", "clients", "servers", rate="10Gbps"),
        tmp_path / "out",
        f"--config={EXAMPLE / 'config.toml'}",
        "--architecture=whole",
    )
    manifest = json.loads((bundle / "manifest.json").read_text())
    assert manifest["architecture"] == "whole" and set(manifest["machines"].values()) == {"switch", "nf"}
    assert manifest["requires"] == {} and not (bundle / "rdma").exists()
    config = json.loads((bundle / "switch" / "controller.json").read_text())
    assert not {"rdma_servers", "buckets", "bring_up", "sweep", "timeout"} & set(config)
    assert len(list((bundle / "deploy" / "machines").iterdir())) == len(manifest["machines"]) == 3
    assert "ICRC" not in (bundle / "deploy" / "machines" / "switch.conf").read_text()
    readme, report = ((bundle / name).read_text() for name in ("README.md", "report.html"))
    assert "RDMA server" not in readme and "icrc" not in readme
    assert "architecture whole" in report and "queue pairs" not in report
    assert "polysome_rdma:\n      hosts: {}\n" in (bundle / "deploy" / "inventory.yml").read_text()


def test_a_tofino2_has_a_program_of_its_own(tmp_path: Path, tofino: Path) -> None:
    site = hardware(tmp_path, "tofino2", "clients", "servers")
    bundle = compiled(EXAMPLE / "load_balancer.nf", site, tmp_path / "out", "--config", EXAMPLE / "config.toml")
    assert "t2na.p4" in (bundle / "switch" / "load_balancer.p4").read_text()
    assert "--target tofino2 --arch t2na" in (bundle / "switch" / "build-p4c.sh").read_text()
    assert "--target tofino --arch tna" in (tofino / "switch" / "build-p4c.sh").read_text()


def test_params_and_config_of_the_command_line_go_first(tmp_path: Path) -> None:
    inputs = copied(tmp_path / "inputs")
    with (inputs / "site.toml").open("a", encoding="utf-8") as site:
        site.write('\n[params]\nvip = "10.0.0.1"\n')
    rows = inputs / "other.toml"
    rows.write_text('backends = [{ ip = "10.9.9.9", mac = "02:00:00:00:0b:09", uplink = "servers" }]\n')
    bundle = compiled(
        inputs / "load_balancer.nf", inputs / "site.toml", tmp_path / "out", "--param", "vip=10.0.0.2", "--config", rows
    )
    assert json.loads((bundle / "manifest.json").read_text())["params"]["vip"] == "10.0.0.2"
    (row,) = json.loads((bundle / "nf" / "config.json").read_text())["backends"]
    assert row.startswith("Backend { ip: 10.9.9.9")
    assert (bundle / "source" / "config" / "other.toml").read_bytes() == rows.read_bytes()


def test_a_changed_file_of_a_bundle_stays(tmp_path: Path) -> None:
    inputs = copied(tmp_path / "inputs")
    bundle = compiled(inputs / "load_balancer.nf", inputs / "site.toml", tmp_path / "out")
    (bundle / "switch" / "soft.json").write_text("{}")
    result = polysome("compile", inputs / "load_balancer.nf", "--site", inputs / "site.toml", "-o", bundle)
    assert result.exit_code == 2 and "soft.json was changed since it was written" in result.output
    assert (bundle / "switch" / "soft.json").read_text() == "{}"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('address = "192.0.2.11"\n', "", "E1309"),
        ('file = "config.toml"', 'file = "none.toml"', "none.toml"),
        ('file = "config.toml"', 'backends = [{ ip = "10.0.1.1" }]', "mac"),
        ('model = "linux"', 'model = "linnux"', "Did you mean `linux`?"),
    ],
)
def test_mistakes_in_the_site_file(old: str, new: str, said: str, tmp_path: Path) -> None:
    inputs = copied(tmp_path / "inputs")
    changed(inputs / "site.toml", old, new)
    result = polysome("compile", inputs / "load_balancer.nf", "--site", inputs / "site.toml", "-o", tmp_path / "out")
    assert result.exit_code == 2 and said in result.output and "site.toml" in result.output, result.output
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("option", "value"), [("--profile", f"clients={EXAMPLE / 'clients.pcap'}"), ("--print-after", "layout")]
)
def test_options_that_are_not_for_bundles(option: str, value: str, tmp_path: Path) -> None:
    arguments = ("--site", EXAMPLE / "site.toml", "-o", tmp_path / "out", option, value)
    result = polysome("compile", EXAMPLE / "load_balancer.nf", *arguments)
    assert result.exit_code == 2 and f"--site and {option}" in result.output


def test_the_end_is_worth_reading(tmp_path: Path) -> None:
    result = polysome("compile", EXAMPLE / "load_balancer.nf", "--site", EXAMPLE / "site.toml", "-o", tmp_path / "out")
    lines = result.stdout.splitlines()
    assert len(lines) <= 15 and all(len(line) <= 120 for line in lines if str(tmp_path) not in line)
    text = result.stdout
    for said in (
        "memory2  192.0.2.22",
        "64 queue pairs",
        "1 Gbps",
        f"polysome up {tmp_path / 'out'}",
        "packets of 98 to 1515",
    ):
        assert said in text, text
