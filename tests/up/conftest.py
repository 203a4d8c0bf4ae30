"""Deployments for several modules, one at a time: the names of their namespaces are the machine's, and those that
nothing is asked of take half a core."""

from __future__ import annotations

import fcntl
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from typing import TypeVar

import pytest
from tests.up.load.examples import EXAMPLES, Balanced, Between, balancer, between

# One file for the whole machine, whatever $TMPDIR says, and whichever checkout the tests are of.
LOCK = Path("/tmp/polysome-up.lock")
SHARED = ("lb", "nat", "firewall", "two", "slow")  # the fixtures below, in the order in which they are up
T = TypeVar("T")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests of the same deployment follow each other; the others come first."""
    here = Path(__file__).parent
    places = [place for place, item in enumerate(items) if here in item.path.parents]
    ordered = sorted((items[place] for place in places), key=_deployment)
    for place, item in zip(places, ordered, strict=True):
        items[place] = item


def _deployment(item: pytest.Item) -> tuple[int, str]:
    used = next((n for n, name in enumerate(SHARED) if name in getattr(item, "fixturenames", ())), -1)
    given = getattr(item, "callspec", None)
    return used, str(given.params.get(SHARED[used], "")) if given is not None and used >= 0 else ""


class Stage:
    """What is up; it goes when something else is wanted."""

    def __init__(self, folders: pytest.TempPathFactory) -> None:
        self._folders, self._open = folders, ExitStack()
        self._name, self._found = "", object()

    def get(self, name: str, make: Callable[[Path], AbstractContextManager[T]]) -> T:
        """The deployment of that name; `make` starts it, in a folder of its own."""
        if name != self._name:
            self.clear()
            self._found, self._name = self._open.enter_context(make(self._folders.mktemp(name))), name
        return self._found  # type: ignore[return-value]

    def clear(self) -> None:
        self._name = ""
        self._open.close()


@pytest.fixture(scope="package")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """No other process has one of these deployments up."""
    with LOCK.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        found = Stage(tmp_path_factory)
        try:
            yield found
        finally:
            found.clear()


@pytest.fixture(scope="module")
def alone(stage: Stage) -> None:
    """Nothing is up, for a module that has deployments of its own."""
    stage.clear()


@pytest.fixture
def lb(stage: Stage) -> Balanced:
    return stage.get("lb", balancer)


@pytest.fixture
def nat(stage: Stage) -> Between:
    """The inside has private addresses, and is known outside by those of the pool (examples/nat/config.toml)."""
    inside, outside, known_as = ["10.1.0.2/24"], ["198.51.100.2/24"], ["203.0.113.1", "203.0.113.2"]
    site = EXAMPLES / "nat" / "site.toml"
    return stage.get("nat", lambda folder: between("nat", site, folder, inside, outside, known_as))


@pytest.fixture(params=["firewall", "firewall_tofino"])
def firewall(stage: Stage, request: pytest.FixtureRequest) -> Between:
    """Also the bundle that is made for a Tofino in a rack."""
    return _around_firewall(stage, request.param)


@pytest.fixture
def two(stage: Stage) -> Between:
    """Two NF servers."""
    return _around_firewall(stage, "firewall_two")


@pytest.fixture
def slow(stage: Stage) -> Between:
    """RDMA servers whose links are soon full."""
    return _around_firewall(stage, "firewall_slow")


def _around_firewall(stage: Stage, site: str) -> Between:
    """IPv4 and IPv6; both sides are on one link as they see it."""
    inside, outside = ["10.1.0.2/24", "2001:db8::2/64"], ["10.1.0.3/24", "2001:db8::3/64"]
    file = Path(__file__).parent / "sites" / f"{site}.toml"
    return stage.get(site, lambda folder: between("firewall", file, folder, inside, outside, inside))
