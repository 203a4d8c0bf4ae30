"""Agents that run: one cable, one build and one set of certificates for all tests of a module."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.agent.agent_build import agent as built_agent
from tests.agent.machines import SWITCH_IP, Agent, Cable, Client, SwitchEnd, need_root
from tests.certificates import Authority

REGION = 1 << 20


@pytest.fixture(scope="module")
def program() -> Path:
    need_root()
    return built_agent()


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    need_root()
    return Authority(tmp_path_factory.mktemp("certificates") / "tls", "memory0", "controller")


@pytest.fixture
def cable() -> Iterator[Cable]:
    need_root()
    made = Cable()
    try:
        made.open()
        yield made
    finally:
        made.close()


@pytest.fixture
def address() -> Iterator[str]:
    """Where the agent listens: reached from all network namespaces, and by the user that it becomes."""
    folder = Path(tempfile.mkdtemp(prefix="polysome-agent-"))
    folder.chmod(0o777)
    yield f"unix:{folder}/agent"
    shutil.rmtree(folder)


@pytest.fixture
def config(authority: Authority, address: str) -> dict[str, Any]:
    return {
        "server": "memory0",
        "device": "soft",
        "interface": "server0",
        "region": REGION,
        "queue_pairs": 4,
        "mtu": 4096,
        "switch_mac": "02:70:6f:6c:79:01",
        "switch_ip": SWITCH_IP,
        "outstanding_reads": 16,
        "listen": address,
        "tls": {
            "authority": str(authority.folder / "authority.pem"),
            "certificate": str(authority.folder / "memory0.pem"),
            "key": str(authority.folder / "memory0.key"),
            "revoked": str(authority.folder / "revoked.pem"),
        },
    }


Start = Callable[..., Agent]


@pytest.fixture
def start(program: Path, cable: Cable, config: dict[str, Any], tmp_path: Path) -> Iterator[Start]:
    """Starts an agent with the config, changed by the arguments; it does not wait for it."""
    started: list[Agent] = []

    def begin(**changes: Any) -> Agent:
        path = tmp_path / f"agent{len(started)}.json"
        path.write_text(json.dumps(config | changes), encoding="utf-8")
        started.append(Agent(program, cable, path, path.with_suffix(".log")))
        return started[-1]

    yield begin
    for agent in started:
        if agent.process.poll() is None:
            agent.process.kill()
            agent.process.wait()


@pytest.fixture
def agent(start: Start) -> Agent:
    running = start()
    running.wait_for("ready")
    return running


@pytest.fixture
def client(agent: Agent, authority: Authority, address: str) -> Iterator[Client]:
    """The controller."""
    made = Client(address, "memory0", authority, "controller")
    yield made
    made.close()


@pytest.fixture
def switch(client: Client, cable: Cable) -> Iterator[SwitchEnd]:
    made = SwitchEnd(cable, client.call("Describe", challenge=bytes(16)))
    yield made
    made.close()
