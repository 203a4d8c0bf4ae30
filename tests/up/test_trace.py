"""`polysome trace` against a running deployment: it says what then happens."""

from __future__ import annotations

import json
import re

import pytest
from tests.up.load.examples import VIP, Balanced
from tests.up.load.web import curl
from tests.up.needed import DEPLOYED, need
from tests.up.running import polysome

need("nginx", "curl", "nft")
pytestmark = DEPLOYED


ATTEMPTS = 5


@pytest.mark.parametrize("port", [40_001, 40_002, 40_003])
def test_the_backend_that_a_connection_gets(lb: Balanced, port: int) -> None:
    """Unless another one takes its turn between, such as what a client sends again of a connection that an NF server
    forgot when it was killed."""
    for local in range(port, port + 10 * ATTEMPTS, 10):
        flow = f"tcp {lb.sources[0]}:{local} -> {VIP}:80"
        done = polysome("trace", lb.up.folder, flow)
        assert done.returncode == 0, done.stderr
        said = set(re.findall(r"10\.0\.1\.(\d)", done.stdout))
        answer = curl(lb.client, f"http://{VIP}/who", "--interface", lb.sources[0], "--local-port", str(local))
        if turn(lb) == turn_in(done.stdout) + 1:
            break
    assert said == {answer.strip().removeprefix("server")}, f"{done.stdout}\n{answer}"
    again = json.loads(polysome("trace", "load_balancer", flow, "--json").stdout)
    assert again["sent"] and again["ports"] == ["servers"] and said == set(re.findall(r"10\.0\.1\.(\d)", str(again)))


def turn(lb: Balanced) -> int:
    """Whose turn it is, of the connections that there have been."""
    return turn_in(polysome("trace", lb.up.folder, f"tcp {lb.sources[0]}:39999 -> {VIP}:80").stdout)


def turn_in(traced: str) -> int:
    found = re.search(r"turn read: (\d+)", traced)
    assert found is not None, traced
    return int(found[1])
