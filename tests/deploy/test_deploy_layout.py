"""Where the parts of a bundle go, before anything is made."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.up.small_bundle import rewrite, write

from polysome.deploy.bundle import Bundle, open_bundle
from polysome.deploy.errors import DeployError
from polysome.deploy.layout import command, layout

pytest.importorskip("google.protobuf", reason="Protocol Buffers are not installed")
RUN = Path("/run/polysome/small")


@pytest.fixture
def bundle(tmp_path: Path) -> Bundle:
    return open_bundle(write(tmp_path / "bundle", "small"))


def changed(bundle: Bundle, path: str, **values: object) -> Bundle:
    """With other members of a configuration."""
    text = json.dumps(json.loads((bundle.folder / path).read_text()) | values)
    rewrite(bundle.folder, path, text)
    return open_bundle(bundle.folder)


def test_machines_have_the_addresses_of_the_site(bundle: Bundle) -> None:
    assert {m.name: m.address for m in layout(bundle, RUN).machines} == {
        "switch": "192.0.2.1",
        "nf1": "192.0.2.11",
        "memory1": "192.0.2.21",
    }


@pytest.mark.parametrize("address", ["127.0.0.1:50061", "0.0.0.0:50061", "192.0.2.1:50061", "nf1.example:50061"])
def test_machines_without_an_address_of_their_own_get_one(bundle: Bundle, address: str) -> None:
    servers = [{"name": "nf1", "address": address, "port": 32}]
    found = layout(changed(bundle, "switch/controller.json", nf_servers=servers), RUN)
    given = {m.name: m.address for m in found.machines}
    assert given["nf1"] == "198.18.255.1" and given["switch"] == "192.0.2.1"
    controller = json.loads(next(part.config for part in found.parts if part.name == "controller"))
    assert controller["nf_servers"][0]["address"] == "198.18.255.1:50061"


def test_every_port_has_a_cable(bundle: Bundle) -> None:
    found = layout(bundle, RUN)
    ends = {cable.name: (cable.port, cable.other.namespace, cable.other.interface) for cable in found.cables}
    assert ends == {
        "left": (0, "ps-small-port-left", "eth0"),
        "right0": (1, "ps-small-port-right", "eth0"),
        "right1": (2, "ps-small-port-right", "eth1"),
        "nf1": (32, "ps-small-nf1", "data"),
        "memory1": (40, "ps-small-memory1", "lent"),
    }
    memory, nf = ({c.name: c.other for c in found.cables}[name] for name in ("memory1", "nf1"))
    assert (memory.mac, memory.ip) == ("02:00:00:00:00:21", "198.51.100.7")
    assert nf.mac == "02:70:6f:6c:79:02" and nf.ip == ""


def test_the_switch_s_ports_carry_the_longest_frame_that_leaves(bundle: Bundle) -> None:
    """1500 of a packet, 8 of two tags and 64 of what the NF pushes; the neighbour's own packets have 1500."""
    longer = changed(bundle, "plan.json", out_frame={"value": 1522 + 64})
    cables = {cable.name: cable for cable in layout(longer, RUN).cables}
    assert {cables[name].switch.mtu for name in ("left", "right0", "right1")} == {1500 + 8 + 64}
    assert {cables[name].other.mtu for name in ("left", "right0", "right1")} == {1500}
    assert (cables["left"].other.takes, cables["left"].too_long) == (1500 + 14 + 4, 1500 + 14 + 8 + 64)
    assert cables["nf1"].too_long == 0


def test_the_link_of_the_nf_carries_whole_packets(bundle: Bundle) -> None:
    longer = changed(bundle, "plan.json", nf_link={"value": 9022 + 26})
    nf = next(cable for cable in layout(longer, RUN).cables if cable.name == "nf1")
    assert {nf.switch.mtu, nf.other.mtu} == {9022 + 26 - 14}


def test_a_bundle_without_a_plan_is_refused(bundle: Bundle) -> None:
    rewrite(bundle.folder, "plan.json", None)
    with pytest.raises(DeployError, match="is no plan"):
        open_bundle(bundle.folder)


def test_a_bundle_that_is_not_as_it_was_written_is_refused(bundle: Bundle) -> None:
    """A file that was changed, one that went, and names that would lead elsewhere, with the right digests."""
    file = bundle.folder / "runtime" / "waits.cpp"
    file.write_text(file.read_text() + "// more\n")
    with pytest.raises(DeployError, match=r"waits\.cpp was changed") as caught:
        open_bundle(bundle.folder)
    assert caught.value.code == 2
    file.unlink()
    with pytest.raises(DeployError, match=r"waits\.cpp is missing"):
        open_bundle(bundle.folder)


@pytest.mark.parametrize("name", ["../../etc", "a/b", ".hidden", "..", "", "-rf"])
def test_a_name_leads_nowhere_else(bundle: Bundle, name: str) -> None:
    with pytest.raises(DeployError, match="is no name"):
        changed(bundle, "switch/controller.json", nf=name)
    servers = [{"name": name, "address": "192.0.2.11:50061", "port": 32}]
    with pytest.raises(DeployError, match="is no name"):
        changed(bundle, "switch/controller.json", nf="small", nf_servers=servers)


def test_a_server_without_data_addresses_gets_those_of_the_simulated_system(bundle: Bundle) -> None:
    site = bundle.folder / "source" / "site.toml"
    lines = site.read_text().splitlines()
    text = "\n".join(line for line in lines if not line.startswith(("ip =", "mac =")))
    rewrite(bundle.folder, "source/site.toml", text + "\n")
    end = next(c.other for c in layout(open_bundle(bundle.folder), RUN).cables if c.name == "memory1")
    assert (end.mac, end.ip) == ("02:70:6f:6c:79:10", "198.19.255.16")


def test_no_part_stays_root_for_want_of_its_user(bundle: Bundle) -> None:
    found = layout(changed(bundle, "nf/nf1.json", user="daemon"), RUN)
    users = {part.name: json.loads(part.config).get("user", "") for part in found.parts}
    assert users["nf1"] == "daemon" and users["memory1"] == "nobody", "the bundle's is unknown here"


def test_the_controller_is_the_bundles_own(bundle: Bundle) -> None:
    part = next(part for part in layout(bundle, RUN).parts if part.name == "controller")
    words = command(part, bundle.folder, None)
    assert f"PYTHONPATH={bundle.folder}/switch/controller" in words and words[:4] == [
        "ip", "netns", "exec", "ps-small-switch"
    ]  # fmt: skip
    assert words[-1] == "/run/polysome/small/config/controller.json"


def clocks(bundle: Bundle, timeout: int) -> tuple[int, int, int]:
    """How much slower the switch's clock runs; the controller's timeout and longest queueing, of 1000 ns."""
    slow = layout(changed(bundle, "switch/controller.json", timeout=str(timeout), longest_queueing="1000"), RUN)
    configs = {part.name: json.loads(part.config) for part in slow.parts}
    own = configs["controller"]
    return configs["switch"]["slower"], int(own.get("timeout", 0)), int(own["longest_queueing"])


def test_clocks_of_hardware_run_slower(bundle: Bundle) -> None:
    """A timeout of 2 ms becomes one that a process can keep, for the switch and for who waits for it."""
    assert clocks(bundle, 2_000_000) == (30, 60_000_000, 30_000)
    assert clocks(bundle, 1_999_999) == (31, 61_999_969, 31_000)
    assert clocks(bundle, 59_999_999) == (2, 119_999_998, 2_000)
    assert clocks(bundle, 60_000_000) == (1, 60_000_000, 1_000)
    assert clocks(bundle, 70_000_000) == (1, 70_000_000, 1_000)
    assert clocks(bundle, 0) == (1, 0, 1_000), "a program that parks nothing waits for nothing"


def test_names_that_would_be_one(bundle: Bundle) -> None:
    servers = [{"name": "port-left", "address": "192.0.2.11:50061", "port": 32}]
    (bundle.folder / "nf" / "nf1.json").rename(bundle.folder / "nf" / "port-left.json")
    site = bundle.folder / "source" / "site.toml"
    site.write_text(site.read_text().replace('"nf1"', '"port-left"'))
    with pytest.raises(DeployError, match="two namespaces would be called ps-small-port-left"):
        layout(changed(bundle, "switch/controller.json", nf_servers=servers), RUN)


def test_a_path_that_no_socket_can_have(bundle: Bundle) -> None:
    with pytest.raises(DeployError, match="too long a path"):
        layout(bundle, Path("/run") / ("x" * 100))
