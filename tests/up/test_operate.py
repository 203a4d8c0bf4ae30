"""What an operator changes in a running deployment."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.up.load.examples import EXAMPLES, VIP, Balanced
from tests.up.load.web import curl
from tests.up.needed import DEPLOYED, need
from tests.up.running import polysome

need("nginx", "curl", "nft")
pytestmark = DEPLOYED

BACKEND = 'backends = [{ ip = "10.0.1.2", mac = "02:00:00:00:0b:02", uplink = "servers" }]\n'


@pytest.fixture
def restored(lb: Balanced) -> Iterator[None]:
    """The example's own config again, whatever the test did."""
    yield
    done = polysome("config", lb.up.folder, "--config", EXAMPLES / "load_balancer" / "config.toml")
    assert done.returncode == 0, done.stderr


def answers(lb: Balanced) -> set[str]:
    return {curl(lb.client, f"http://{VIP}/who").strip() for _ in range(6)}


def test_another_config_is_in_force_at_once(lb: Balanced, tmp_path: Path, restored: None) -> None:
    before = lb.up.status().version
    (tmp_path / "one.toml").write_text(BACKEND)
    done = polysome("config", "load_balancer", "--config", tmp_path / "one.toml")
    assert done.returncode == 0 and "is in force" in done.stdout, done.stderr
    assert answers(lb) == {"server2"}
    after = lb.up.status().version
    assert after not in ("", before) and after.startswith(done.stdout.split()[1])


def test_a_config_that_is_none_changes_nothing(lb: Balanced, tmp_path: Path) -> None:
    before = lb.up.status().version
    (tmp_path / "bad.toml").write_text(BACKEND.replace("10.0.1.2", "10.0.1"))
    done = polysome("config", lb.up.folder, "--config", tmp_path / "bad.toml")
    assert done.returncode == 2 and "bad.toml:1" in done.stderr, done.stderr
    done = polysome("config", lb.up.folder, "--spare", "nobody=1Gbps")
    assert done.returncode == 2 and "no RDMA server `nobody`" in done.stderr
    done = polysome("config", lb.up.folder, "--spare", "memory1=much")
    assert done.returncode == 2 and "SERVER=RATE" in done.stderr
    done = polysome("config", lb.up.folder)
    assert done.returncode == 2 and "--config FILE" in done.stderr
    assert lb.up.status().version == before and len(answers(lb)) == 3


def test_a_config_by_which_nothing_gets_through_needs_force(lb: Balanced, tmp_path: Path, restored: None) -> None:
    before = lb.up.status().version
    (tmp_path / "none.toml").write_text("backends = []\n")
    done = polysome("config", lb.up.folder, "--config", tmp_path / "none.toml")
    assert done.returncode == 2 and "division by zero (load_balancer.nf:" in done.stderr, done.stderr
    assert "Nothing has changed" in done.stderr and lb.up.status().version == before and len(answers(lb)) == 3
    done = polysome("config", lb.up.folder, "--config", tmp_path / "none.toml", "--force")
    assert done.returncode == 0 and lb.up.status().version != before, done.stderr


def test_the_only_nf_server_keeps_the_traffic(lb: Balanced) -> None:
    done = polysome("drain", lb.up.folder, "nf1")
    assert done.returncode == 2 and "no other NF server" in done.stderr, done.stderr
    done = polysome("undrain", lb.up.folder, "nf2")
    assert done.returncode == 2 and "there is no NF server `nf2`" in done.stderr
    assert lb.up.status().active == "nf1" and len(answers(lb)) == 3
