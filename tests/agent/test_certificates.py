"""An agent takes new certificates while it runs; how it does is tested with the switch, which has the same code."""

from __future__ import annotations

import time
from pathlib import Path

import grpc
import pytest
from tests.agent.conftest import Start
from tests.agent.machines import Agent, Client, need_root, wait_until
from tests.certificates import Authority

pytestmark = pytest.mark.slow


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    """In place of the one that the tests of a module share: this one revokes."""
    need_root()
    return Authority(tmp_path / "tls", "memory0", "controller")


def test_a_renewed_certificate_and_a_revoked_controller(
    agent: Agent, client: Client, authority: Authority, address: str
) -> None:
    state = client.call("Health").certificate
    assert (state.name, state.serial, state.trouble) == ("memory0", authority.serial("memory0"), "")
    authority.renew("memory0")
    wait_until(lambda: client.call("Health").certificate.serial == authority.serial("memory0"))
    authority.revoke("controller")
    agent.wait_for("has another list of revoked certificates")
    assert client.refusal("Health") == grpc.StatusCode.PERMISSION_DENIED
    agent.wait_for("the certificate of `controller` is revoked")
    authority.certify("controller")
    again = Client(address, "memory0", authority, "controller")
    assert again.call("Health").certificate.serial == authority.serial("memory0")
    again.close()


def test_a_controller_whose_certificate_ends_is_refused(agent: Agent, authority: Authority, address: str) -> None:
    """On the connection that it has: TLS does not look again."""
    authority.ending("controller", 4 / 86_400)
    client = Client(address, "memory0", authority, "controller")
    assert client.call("Health").certificate.name == "memory0"
    time.sleep(5.1)  # it ends with a second
    assert client.refusal("Health") == grpc.StatusCode.PERMISSION_DENIED
    agent.wait_for("the certificate of `controller` has expired, on 20")
    client.close()


def test_without_a_list_there_is_no_start(start: Start, authority: Authority) -> None:
    authority.replace("revoked.pem", authority.read("revoked.pem")[:100])
    agent = start()
    assert agent.process.wait(timeout=20) == 3
    assert "revoked.pem is no list of revoked certificates of this authority" in agent.said()
