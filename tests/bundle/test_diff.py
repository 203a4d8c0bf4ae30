"""`polysome diff`: what a change of the inputs means for each machine."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from tests.bundle.helpers import changed, compiled, copied, polysome

UNCHANGED = {"switch": "unchanged", "memory1": "unchanged", "memory2": "unchanged", "nf1": "unchanged"}
THIRD = """
[[rdma_servers]]
name = "memory3"
switch_port = 42
address = "192.0.2.23"
nic = "soft"
interface = "eth1"
memory = "128MiB"

[controller]"""


def compared(old: Path, new: Path) -> Any:
    result = polysome("diff", old, new, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def after(soft: Path, tmp_path: Path, file: str, text: str, instead: str, *more: str) -> Any:
    """What is said after one change of one input."""
    inputs = copied(tmp_path / "inputs")
    if file:
        changed(inputs / file, text, instead)
    new = compiled(inputs / "load_balancer.nf", inputs / "site.toml", tmp_path / "new", *more)
    found = compared(soft, new)
    return {machine["name"]: machine for machine in found["machines"]}, found


def changes(machines: Any) -> dict[str, str]:
    return {name: machine["change"] for name, machine in machines.items()}


def test_the_same_inputs_change_nothing(soft: Path, tmp_path: Path) -> None:
    machines, found = after(soft, tmp_path, "", "", "")
    assert changes(machines) == UNCHANGED and found["next"] == "nothing to do"
    assert polysome("diff", soft, soft).stdout == "load_balancer: the same for all machines\n"


def test_rows_of_the_config_are_reloaded(soft: Path, tmp_path: Path) -> None:
    machines, found = after(soft, tmp_path, "config.toml", "02:00:00:00:0b:02", "02:00:00:00:0b:22")
    assert changes(machines) == UNCHANGED | {"nf1": "new configuration"}
    assert machines["nf1"]["reasons"] == ["config backends: 1 changed"]
    assert "nothing is lost" in machines["nf1"]["effect"]
    (row,) = found["inputs"]["rows"]
    assert "0b:02, uplink: servers } -> Backend { ip: 10.0.1.2, mac: 02:00:00:00:0b:22" in row


def test_rows_that_come_and_go_are_counted(soft: Path, tmp_path: Path) -> None:
    last = '  { ip = "10.0.1.3", mac = "02:00:00:00:0b:03", uplink = "servers" },\n'
    new = "".join(last.replace(".1.3", f".2.{n}") for n in range(1, 10))
    machines, found = after(soft, tmp_path, "config.toml", last, new)
    assert machines["nf1"]["reasons"] == ["config backends: 9 added, 1 removed"]
    assert len(found["inputs"]["rows"]) == 6 and found["inputs"]["rows"][-1] == "backends: and 5 more rows"


def test_rows_in_another_order_are_a_change(soft: Path, tmp_path: Path) -> None:
    """The load balancer takes backends in turn."""
    first, second = (f'  {{ ip = "10.0.1.{n}", mac = "02:00:00:00:0b:0{n}", uplink = "servers" }},\n' for n in (1, 2))
    machines, _ = after(soft, tmp_path, "config.toml", first + second, second + first)
    assert machines["nf1"]["reasons"] == ["config backends: the same rows in another order"]


def test_a_param_restarts_the_nf_alone(soft: Path, tmp_path: Path) -> None:
    machines, found = after(soft, tmp_path, "", "", "", "--param", "vip=10.0.0.7")
    assert changes(machines) == UNCHANGED | {"nf1": "restart", "switch": "new configuration"}
    assert machines["nf1"]["reasons"] == ["param vip: 10.0.0.100 -> 10.0.0.7"]
    assert "the next process goes on with its state" in machines["nf1"]["effect"]
    assert machines["switch"]["reasons"] == ["the NF is another one"]
    assert found["next"].endswith("/deploy/rolling-update.yml")


def test_other_fields_are_another_p4_program(soft: Path, tmp_path: Path) -> None:
    use = 'require ipv4.ttl > 1 else drop "too old";\n    require ipv4.dst == vip'
    inputs = copied(tmp_path / "inputs")
    changed(inputs / "load_balancer.nf", "dst, protocol}", "dst, protocol, ttl}")
    changed(inputs / "load_balancer.nf", "require ipv4.dst == vip", use)
    found = compared(soft, compiled(inputs / "load_balancer.nf", inputs / "site.toml", tmp_path / "new"))
    machines = {machine["name"]: machine for machine in found["machines"]}
    assert changes(machines)["switch"] == "new P4 program" and changes(machines)["nf1"] == "restart"
    assert "reads ipv4.ttl too" in machines["switch"]["reasons"]
    assert "all traffic stops" in machines["switch"]["effect"]
    assert found["inputs"]["spec"] == ["source/load_balancer.nf was changed"]


def test_sizes_of_the_plan_are_told(soft: Path, tmp_path: Path) -> None:
    machines, _ = after(
        soft, tmp_path, "load_balancer.nf", "schedule {", "traffic { rate 200Mbps; mean 1000B; }\n\n  schedule {"
    )
    assert machines["switch"]["change"] == "new P4 program"
    assert any(why.startswith("cells: 32 768 -> ") for why in machines["switch"]["reasons"])
    assert changes(machines)["memory1"] == "restart"
    assert any(why.startswith("region: 64 MiB -> ") for why in machines["memory1"]["reasons"])
    assert "packets parked on it are lost" in machines["memory1"]["effect"]


def test_machines_come_and_go(soft: Path, tmp_path: Path) -> None:
    machines, _ = after(soft, tmp_path, "site.toml", "\n[controller]", THIRD)
    assert changes(machines)["memory3"] == "new machine"
    back = {m["name"]: m for m in compared(tmp_path / "new", soft)["machines"]}
    assert back["memory3"]["change"] == "gone"


def test_an_address_restarts_its_part_and_the_controller(soft: Path, tmp_path: Path) -> None:
    machines, _ = after(soft, tmp_path, "site.toml", "192.0.2.22", "192.0.2.32")
    assert changes(machines) == UNCHANGED | {"memory2": "restart", "switch": "new configuration"}
    assert machines["memory2"]["reasons"] == ["listen: 192.0.2.22:50051 -> 192.0.2.32:50051"]
    assert machines["switch"]["reasons"] == ["rdma_servers[memory2].address: 192.0.2.22:50051 -> 192.0.2.32:50051"]


def test_code_that_a_part_does_not_include_does_not_touch_it(soft: Path, tmp_path: Path) -> None:
    """As if a newer Polysome had another agent: manifests are of what is there."""
    import hashlib

    new = tmp_path / "new"
    shutil.copytree(soft, new)
    agent = new / "runtime" / "rdma" / "agent" / "main.cpp"
    agent.write_text(agent.read_text() + "// newer\n")
    manifest = json.loads((new / "manifest.json").read_text())
    manifest["files"]["runtime/rdma/agent/main.cpp"] = hashlib.sha256(agent.read_bytes()).hexdigest()
    manifest["polysome"] = "9.9"
    (new / "manifest.json").write_text(json.dumps(manifest))
    found = {m["name"]: m for m in compared(soft, new)["machines"]}
    assert changes(found) == UNCHANGED | {"memory1": "restart", "memory2": "restart"}
    assert found["memory1"]["reasons"][0].endswith("-> 9.9")


def test_two_nf_servers_are_updated_one_by_one(tofino: Path, tmp_path: Path) -> None:
    source = tofino / "source"
    arguments = ("--config", source / "config" / "config.toml", "--param", "vip=10.0.0.7")
    new = compiled(source / "load_balancer.nf", source / "site.toml", tmp_path / "new", *arguments)
    text = polysome("diff", tofino, new).stdout
    assert text.count("restart: the next process goes on with its state") == 2
    assert text.rstrip().endswith("/deploy/rolling-update.yml")


@pytest.mark.parametrize(
    ("old", "new", "kept"),
    [
        ("idle 30s", "idle 60s", True),
        ("capacity 4M", "capacity 8M", True),
        ("when full evict oldest", "when full pass", False),
    ],
)
def test_whether_the_next_process_can_go_on_with_the_state(
    old: str, new: str, kept: bool, soft: Path, tmp_path: Path
) -> None:
    inputs = copied(tmp_path / "inputs")
    changed(inputs / "load_balancer.nf", old, new)
    compiled(inputs / "load_balancer.nf", inputs / "site.toml", tmp_path / "new")
    text = polysome("diff", soft, tmp_path / "new").stdout
    assert ("the next process goes on with its state" in text) == kept
    assert ("its state is made up in another way, so it is lost" in text) != kept
    assert text.rstrip().endswith("/deploy/rolling-update.yml")


def test_the_text_says_what_json_says(soft: Path, tmp_path: Path) -> None:
    after(soft, tmp_path, "config.toml", "02:00:00:00:0b:02", "02:00:00:00:0b:22")
    lines = polysome("diff", soft, tmp_path / "new").stdout.splitlines()
    assert lines[0] == "load_balancer: what was changed"
    assert "  memory1  unchanged" in lines
    assert "  nf1      new configuration: reloaded by the controller between two packets; nothing is lost" in lines
    assert "             config backends: 1 changed" in lines


def test_another_architecture_is_another_program_and_other_machines(soft: Path, tmp_path: Path) -> None:
    inputs = soft / "source"
    whole = compiled(inputs / "load_balancer.nf", inputs / "site.toml", tmp_path / "whole", "--architecture=whole")
    said = polysome("diff", soft, whole).stdout
    assert "  architecture: ribosome -> whole\n" in said and "all packets go whole now\n" in said
    assert "  memory1  gone: nothing of this NF runs there any more\n" in said
    back = polysome("diff", whole, soft).stdout
    assert "  memory2  new machine: it is installed and started\n" in back and "packets are split now\n" in back


@pytest.mark.parametrize("how", ["changed", "missing", "none", "other", "newer", "nf"])
def test_what_is_refused(how: str, soft: Path, tmp_path: Path) -> None:
    new, said = tmp_path / "new", ""
    if how in ("changed", "missing"):
        shutil.copytree(soft, new)
        file = new / "nf" / "dpdk.cpp"
        file.write_text("changed") if how == "changed" else file.unlink()
        said = f"nf/dpdk.cpp {'was changed' if how == 'changed' else 'is missing'}"
    elif how == "none":
        new.mkdir()
        said = f"{new} is no bundle: it has no manifest.json"
    elif how == "other":
        assert polysome("compile", soft / "source" / "load_balancer.nf", "-o", new).exit_code == 0
        said = "its manifest.json is of something else"
    elif how == "newer":
        shutil.copytree(soft, new)
        changed(new / "manifest.json", '"architecture": "ribosome"', '"architecture": "parked"')
        said = "is a bundle of another Polysome: its architecture is none of this one"
    else:
        inputs = copied(tmp_path / "inputs")
        changed(inputs / "load_balancer.nf", "nf load_balancer {", "nf balancer {")
        compiled(inputs / "load_balancer.nf", inputs / "site.toml", new)
        said = "is a bundle of load_balancer"
    result = polysome("diff", soft, new)
    assert result.exit_code == 2 and said in result.output and "mend: " in result.output, result.output
