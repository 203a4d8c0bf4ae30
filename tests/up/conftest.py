"""Deployments for several modules. By one process at a time: the names of their namespaces are the machine's."""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
from tests.up.load.examples import EXAMPLES, Balanced, Between, balancer, between

# One file for the whole machine, whatever $TMPDIR says, and whichever checkout the tests are of.
LOCK = Path("/tmp/polysome-up.lock")


@pytest.fixture(scope="package")
def alone() -> Iterator[None]:
    """No other process has one of these deployments up."""
    with LOCK.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


@pytest.fixture(scope="package")
def lb(alone: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Balanced]:
    with balancer(tmp_path_factory.mktemp("lb")) as found:
        yield found


@pytest.fixture(scope="package")
def nat(alone: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Between]:
    """The inside has private addresses, and is known outside by those of the pool (examples/nat/config.toml)."""
    inside, outside, known_as = ["10.1.0.2/24"], ["198.51.100.2/24"], ["203.0.113.1", "203.0.113.2"]
    site = EXAMPLES / "nat" / "site.toml"
    with between("nat", site, tmp_path_factory.mktemp("nat"), inside, outside, known_as) as found:
        yield found


@pytest.fixture(scope="module", params=["firewall", "firewall_tofino"])
def firewall(
    alone: None, tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Iterator[Between]:
    """Also the bundle that is made for a Tofino in a rack."""
    with around_firewall(request.param, tmp_path_factory.mktemp("firewall")) as found:
        yield found


@pytest.fixture(scope="module")
def two(alone: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Between]:
    """Two NF servers."""
    with around_firewall("firewall_two", tmp_path_factory.mktemp("two")) as found:
        yield found


@pytest.fixture(scope="module")
def slow(alone: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Between]:
    """RDMA servers whose links are soon full."""
    with around_firewall("firewall_slow", tmp_path_factory.mktemp("slow")) as found:
        yield found


def around_firewall(site: str, folder: Path) -> AbstractContextManager[Between]:
    """IPv4 and IPv6; both sides are on one link as they see it."""
    inside, outside = ["10.1.0.2/24", "2001:db8::2/64"], ["10.1.0.3/24", "2001:db8::3/64"]
    return between("firewall", Path(__file__).parent / "sites" / f"{site}.toml", folder, inside, outside, inside)
