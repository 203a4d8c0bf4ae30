"""What an agent does not do: for whom, in which order, and with which configuration."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import grpc
import pytest
from tests.agent.conftest import Start
from tests.agent.machines import Agent, Cable, Client, run
from tests.certificates import Authority

from polysome_controller import control_pb2 as control

pytestmark = pytest.mark.slow

PEER = 0x40F787
DENIED, FAILED, INVALID = (
    grpc.StatusCode.PERMISSION_DENIED,
    grpc.StatusCode.FAILED_PRECONDITION,
    grpc.StatusCode.INVALID_ARGUMENT,
)


def state(client: Client) -> control.Registration:
    answer: control.Registration = client.call("Describe", challenge=bytes(16))
    return answer


def lease(epoch: int, number: int) -> control.Lease:
    return control.Lease(epoch=epoch, number=number)


def refused(agent: Agent) -> list[str]:
    return [line for line in agent.said().splitlines() if "refused" in line]


# ---------------------------------------------------------------- who


@pytest.mark.parametrize("method", ["Describe", "Reset", "Clear", "Health"])
def test_another_name_is_refused(method: str, agent: Agent, client: Client, authority: Authority, address: str) -> None:
    before = state(client)
    operator = Client(address, "memory0", authority, "operator")
    fields: dict[str, Any] = {}
    if method in ("Reset", "Clear"):
        fields = {"lease": lease(9, 9), "boot": before.boot}
    assert operator.refusal(method, **fields) == DENIED
    assert any("operator" in line and method in line for line in refused(agent))
    assert state(client) == before
    client.call("Clear", lease=lease(1, 1), boot=before.boot)  # the lease of the refused one has not counted
    operator.close()


def test_no_certificate_is_refused(agent: Agent, client: Client, authority: Authority, address: str) -> None:
    nobody = Client(address, "memory0", authority, "")
    assert nobody.refusal("Health") == grpc.StatusCode.UNAVAILABLE
    agent.wait_for("refused")
    nobody.close()


def test_another_authority_is_refused(
    agent: Agent, client: Client, authority: Authority, address: str, tmp_path: Path
) -> None:
    other = Authority(tmp_path / "other")
    other.certify("controller")
    stranger = Client(address, "memory0", other, "controller", trusts=authority)
    assert stranger.refusal("Health") == grpc.StatusCode.UNAVAILABLE
    agent.wait_for("refused")
    stranger.close()


def test_the_controller_stays_beside_strangers(start: Start, cable: Cable, authority: Authority) -> None:
    run("ip", "-n", cable.server, "link", "set", "lo", "up")
    place = "127.0.0.1:50051"
    start(listen=place).wait_for("ready")
    flood = (sys.executable, "-m", "tests.strangers", place, str(authority.folder), "operator")
    run("ip", "netns", "exec", cable.server, *flood, "memory0", "/polysome.control.Agent/Health")


# ---------------------------------------------------------------- in which order


def test_a_change_that_comes_again_is_refused(agent: Agent, client: Client) -> None:
    request = {"lease": lease(5, 7), "boot": state(client).boot, "pair": 0, "peer": PEER}
    client.call("Reset", **request)
    before = state(client)
    assert client.refusal("Reset", **request) == FAILED
    assert len(refused(agent)) == 1
    assert state(client) == before


@pytest.mark.parametrize("older", [(5, 6), (4, 100), (0, 0)])
def test_an_older_change_is_refused(older: tuple[int, int], agent: Agent, client: Client) -> None:
    boot = state(client).boot
    client.call("Reset", lease=lease(5, 7), boot=boot, pair=0, peer=PEER)
    before = state(client)
    assert client.refusal("Reset", lease=lease(*older), boot=boot, pair=0, peer=PEER) == FAILED
    assert client.refusal("Clear", lease=lease(*older), boot=boot) == FAILED
    assert len(refused(agent)) == 2
    assert state(client) == before


def test_a_new_epoch_begins_its_own_numbers(agent: Agent, client: Client) -> None:
    boot = state(client).boot
    client.call("Clear", lease=lease(5, 7), boot=boot)
    client.call("Clear", lease=lease(6, 1), boot=boot)
    client.call("Clear", lease=lease(6, 2), boot=boot)
    assert not refused(agent)


def test_what_is_meant_for_another_process_is_refused(agent: Agent, client: Client) -> None:
    before = state(client)
    assert client.refusal("Reset", lease=lease(1, 1), boot=before.boot ^ 2, pair=0, peer=PEER) == FAILED
    assert client.refusal("Clear", lease=lease(1, 2), boot=0) == FAILED
    assert len(refused(agent)) == 2
    assert state(client) == before


def test_nonsense_is_refused(client: Client) -> None:
    before = state(client)
    for number, (pair, peer) in enumerate([(4, PEER), (2**32 - 1, PEER), (0, 0), (0, 1 << 24)], 1):
        assert client.refusal("Reset", lease=lease(1, number), boot=before.boot, pair=pair, peer=peer) == INVALID
    assert client.refusal("Describe", challenge=bytes(15)) == INVALID
    assert state(client) == before


# ---------------------------------------------------------------- with which configuration

WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "address": ({"switch_mac": "02:70:6f:6c:79"}, "switch_mac"),
    "ip": ({"switch_ip": "198.19.255.256"}, "switch_ip"),
    "mtu": ({"mtu": 1500}, "mtu is that of an RDMA path, 256, 512, 1024, 2048 or 4096, not 1500"),
    "pairs": ({"queue_pairs": 70000}, "queue_pairs is 0 to 65536, not 70000"),
    "region": ({"region": 0}, "region and queue_pairs go together"),
    "reads": ({"outstanding_reads": 0}, "outstanding_reads is 1 to 255, not 0"),
    "port": ({"device": "mlx5_0"}, "device_port is a port of the device, from 1, not 0"),
    "tls": ({"tls": {}}, "tls.key is missing"),
    "name": ({"sever": "memory0"}, "sever"),
    "type": ({"mtu": "large"}, "mtu"),
    "several": ({"server": "", "mtu": 1}, "server is missing; mtu is"),
}
LACKING: dict[str, tuple[dict[str, Any], str]] = {
    "interface": ({"interface": "server1"}, "no network interface `server1`; `ip link` lists those there are"),
    "address": ({"interface": "lo"}, "lo is no Ethernet interface"),
    "device": ({"device": "mlx5_9", "device_port": 1}, "there is no RDMA device `mlx5_9`"),
    "memory": ({"region": 1 << 60}, f"no memory for a region of {1 << 60} bytes"),
    "key": ({"tls": {"authority": "/a", "certificate": "/b", "key": "/c", "revoked": "/d"}}, "/a"),
    "user": ({"user": "no-such-user"}, "there is no user `no-such-user`"),
    "listen": ({"listen": "192.0.2.1:1"}, "cannot listen on 192.0.2.1:1"),
}


def ended(agent: Agent) -> tuple[int, str]:
    return agent.process.wait(timeout=20), agent.said()


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_configuration(case: str, start: Start) -> None:
    changes, text = WRONG[case]
    code, said = ended(start(**changes))
    assert text in said
    assert code == 2
    assert said.startswith("polysome-agent: error: ")
    assert "ready" not in said


@pytest.mark.parametrize("case", LACKING)
def test_a_machine_that_lacks_something(case: str, start: Start) -> None:
    changes, text = LACKING[case]
    code, said = ended(start(**changes))
    assert text in said
    assert code == 3


def test_an_interface_without_address(start: Start, cable: Cable) -> None:
    run("ip", "-n", cable.server, "addr", "flush", "dev", "server0")
    code, said = ended(start())
    assert (code, "server0 has no IPv4 address: `ip addr add ADDRESS/LENGTH dev server0`" in said) == (3, True)


def test_an_interface_with_a_small_mtu(start: Start, cable: Cable) -> None:
    run("ip", "-n", cable.server, "link", "set", "dev", "server0", "mtu", "1500")
    code, said = ended(start())
    assert (code, "`ip link set dev server0 mtu 4200`" in said) == (3, True)


def test_no_argument(program: Path, tmp_path: Path) -> None:
    for arguments, code, text in (
        ((), 2, "usage: polysome-agent CONFIG.json"),
        ((str(tmp_path / "none.json"),), 3, "cannot be read"),
        ((os.devnull,), 2, "is no configuration"),
    ):
        done = subprocess.run([program, *arguments], capture_output=True, text=True, check=False, timeout=10)
        assert (done.returncode, text in done.stderr) == (code, True), done.stderr
