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


@pytest.mark.parametrize("port", [40_001, 40_002, 40_003])
def test_the_backend_that_a_connection_gets(lb: Balanced, port: int) -> None:
    flow = f"tcp {lb.sources[0]}:{port} -> {VIP}:80"
    done = polysome("trace", lb.up.folder, flow)
    assert done.returncode == 0, done.stderr
    said = set(re.findall(r"10\.0\.1\.(\d)", done.stdout))
    answer = curl(lb.client, f"http://{VIP}/who", "--interface", lb.sources[0], "--local-port", str(port))
    assert said == {answer.strip().removeprefix("server")}, f"{done.stdout}\n{answer}"
    again = json.loads(polysome("trace", "load_balancer", flow, "--json").stdout)
    assert again["sent"] and again["ports"] == ["servers"] and said == set(re.findall(r"10\.0\.1\.(\d)", str(again)))
