"""What the tests of the soft switch share: certificates, and a running switch with four ports."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.backends.examples import program
from tests.switch.process.harness import Client, Process, address, certificates, executable, pb, running
from tests.switch.process.namespaces import Namespace, Wire, namespace, need_namespaces

from polysome.plan.design import default_design

EXAMPLE = "load_balancer"
PORTS = {1: "sw1", 2: "sw2", 3: "sw3"}


@dataclass
class Site:
    """`wires`: our ends, by port of the switch."""

    namespace: Namespace
    process: Process
    controller: Client
    wires: dict[int, Wire]
    folder: Path
    tls: Path

    @property
    def buckets(self) -> int:
        return default_design(program(EXAMPLE)).sizes.buckets

    def station(self, mac: int, port: int) -> pb.Update:
        """Frames to `mac` leave by `port`."""
        key, parameter = mac.to_bytes(6, "big"), port.to_bytes(2, "big")
        entry = pb.Entry(table="Ingress.stations", key=[key], action="forward", parameters=[parameter])
        return pb.Update(put=entry)


@pytest.fixture(scope="session")
def tls(tmp_path_factory: pytest.TempPathFactory) -> Path:
    executable(EXAMPLE)
    return certificates(tmp_path_factory.mktemp("tls") / "site", "switch", "controller", "operator")


@contextmanager
def made(folder: Path, tls: Path, **more: Any) -> Iterator[Site]:
    """No port is set. `more`: of its configuration."""
    need_namespaces()
    with namespace() as inside:
        for port, interface in PORTS.items():
            inside.link(interface, f"our{port}")
        with running(EXAMPLE, folder, tls, PORTS, inside, **more) as process:
            controller = Client(address(folder), tls, "controller")
            wires = {port: inside.socket(f"our{port}") for port in PORTS}
            try:
                controller.describe()
                yield Site(inside, process, controller, wires, folder, tls)
            finally:
                controller.close()
                for wire in wires.values():
                    wire.close()


@pytest.fixture
def unset(tmp_path: Path, tls: Path) -> Iterator[Site]:
    """A switch that has just started: no port is set."""
    with made(tmp_path, tls) as site:
        yield site


@pytest.fixture
def site(unset: Site) -> Site:
    """All ports are set, plain."""
    unset.controller.write(*(pb.Update(port=pb.Port(port=port)) for port in PORTS))
    return unset
