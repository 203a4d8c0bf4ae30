"""Queue pairs are proved before they have traffic; what is missing is named, and nothing goes by them meanwhile."""

from __future__ import annotations

import os
import re
import shutil
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.up.load.examples import BUILDING, EXAMPLES, bundle
from tests.up.load.network import ip
from tests.up.needed import DEPLOYED
from tests.up.running import Up
from tests.up.small_bundle import rewrite

from polysome.deploy import run as runs

pytestmark = DEPLOYED

NF = "firewall"
SITE = Path(__file__).parent / "sites" / f"{NF}.toml"
LONGEST = 60.0


@pytest.fixture(scope="module")
def made(alone: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return bundle(EXAMPLES / NF / f"{NF}.nf", SITE, tmp_path_factory.mktemp("proving") / "bundle")


@contextmanager
def running(made: Path, folder: Path) -> Iterator[Up]:
    up = Up(made, folder)
    try:
        up.wait_for("traffic enters", BUILDING)
        yield up
    finally:
        up.end(signal.SIGTERM)
        runs.clean(folder)
        shutil.rmtree(runs.PLACE / NF, ignore_errors=True)


def until(up: Up, wanted: Callable[[Any], bool]) -> Any:
    """The status that is as wanted."""
    deadline = time.monotonic() + LONGEST
    while not wanted(status := up.status()):
        assert time.monotonic() < deadline, f"{status.parts}\n{up.log('controller')}"
        time.sleep(0.1)
    return status


def all_up(status: Any) -> bool:
    return bool(status.queue_pairs) and all(pair.state == "up" for pair in status.queue_pairs)


def details(status: Any) -> list[str]:
    return [part.detail for part in status.parts if part.role == "rdma"]


def test_every_queue_pair_is_proved_and_a_smaller_mtu_is_named(made: Path, tmp_path: Path) -> None:
    with running(made, tmp_path / "run") as up:
        status = until(up, all_up)
        proved = [(int(a), int(b)) for a, b in re.findall(r"pairs (\d+) to (\d+) are proved", up.log("controller"))]
        assert sum(last - first + 1 for first, last in proved) == len(status.queue_pairs)
        agent = up.pid("memory1")
        ip("-n", f"ps-{NF}-switch", "link", "set", "port40", "mtu", "1000")
        os.kill(agent, signal.SIGKILL)
        status = until(up, lambda s: any("needs an MTU of" in detail for detail in details(s)))
        own = [pair for pair in status.queue_pairs if pair.server == "memory1"]
        assert own and not any(pair.state == "up" for pair in own)
        assert all(pair.state == "up" for pair in status.queue_pairs if pair.server != "memory1")
        ip("-n", f"ps-{NF}-switch", "link", "set", "port40", "mtu", "9000")
        until(up, all_up)


def test_a_switch_that_does_not_append_icrc_has_no_traffic_on_queue_pairs(made: Path, tmp_path: Path) -> None:
    """The controller of this bundle does not tell it to."""
    changed = tmp_path / "bundle"
    shutil.copytree(made, changed)
    tables = "switch/controller/polysome_controller/tables.py"
    text = (changed / tables).read_text(encoding="utf-8")
    assert text.count("append_icrc=True") == 1
    rewrite(changed, tables, text.replace("append_icrc=True", "append_icrc=False"))
    with running(changed, tmp_path / "run") as up:
        missing = "the requests lack their four bytes of ICRC"
        status = until(up, lambda s: s.parts and all(missing in detail for detail in details(s)))
        assert "setting `append_icrc` of switch port 40" in details(status)[0]
        assert {part.state for part in status.parts if part.role == "rdma"} == {"refused"}
        assert not any(pair.state == "up" for pair in status.queue_pairs)
