"""The controller runs without Polysome installed, from its own folder; certificates are made as a deployment's are."""

from __future__ import annotations

import shutil
import sys
import types
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

CONTROLLER = Path(__file__).parents[2] / "runtime" / "controller"
sys.path.insert(0, str(CONTROLLER))

pytest.importorskip("grpc", reason="the controller needs grpcio")
pytest.importorskip("prometheus_client", reason="the controller needs prometheus-client")

from polysome_controller import proving  # noqa: E402

from .certificates import make_certificates  # noqa: E402
from .fake_bfrt import Client, Switch, schema  # noqa: E402
from .fake_wire import FakeWire  # noqa: E402
from .site import Site  # noqa: E402


@pytest.fixture(scope="session")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with authority.pem, and NAME.pem and NAME.key for each part, and those of a stranger's authority."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl makes the certificates; it is not installed")
    folder = tmp_path_factory.mktemp("certificates")
    make_certificates(folder)
    return folder


@pytest.fixture
def client(monkeypatch: pytest.MonkeyPatch) -> Client:
    """A Tofino's daemon, and what stands for the SDE's client."""
    made = Client(Switch("balancer", schema()))
    package = types.ModuleType("bfrt_grpc")
    monkeypatch.setitem(sys.modules, "bfrt_grpc", package)
    monkeypatch.setitem(sys.modules, "bfrt_grpc.client", made)  # type: ignore[arg-type]
    return made


SiteMaker = Callable[..., Any]


@pytest.fixture
def wire(monkeypatch: pytest.MonkeyPatch) -> FakeWire:
    """What the controller's port is connected to, of the `site` that is made next."""
    made = FakeWire()
    monkeypatch.setattr(proving, "PacketSocket", made.socket)
    return made


@pytest.fixture
def site(certificates: Path, tmp_path: Path, request: pytest.FixtureRequest) -> SiteMaker:
    """`async with site(...) as s`: parts that run, and a controller that does not yet."""

    @asynccontextmanager
    async def make(**changes: Any) -> AsyncIterator[Site]:
        made = Site(certificates, tmp_path, **changes)
        if "wire" in request.fixturenames:
            request.getfixturevalue("wire").switch = made.switch
        try:
            yield made
        finally:
            await made.close()

    return make


Scenario = Callable[..., Coroutine[Any, Any, None]]
