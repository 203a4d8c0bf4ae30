"""What playbooks ask of the controller on its machine, over its Unix socket."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import grpc
import pytest

from polysome_controller import control_pb2 as pb
from polysome_controller import operate


class Controller(grpc.GenericRpcHandler):
    """Notes requests; refuses what is about `unknown`."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, Any]] = []

    def service(self, call: grpc.HandlerCallDetails) -> grpc.RpcMethodHandler:
        method = call.method.removeprefix("/polysome.control.Controller/")
        kind = pb.ConfigureRequest if method == "Configure" else pb.NfName

        def answer(request: Any, context: grpc.ServicerContext) -> pb.Nothing:
            self.asked.append((method, request))
            if method != "Configure" and request.name == "unknown":
                context.abort(grpc.StatusCode.FAILED_PRECONDITION, "there is no other NF server")
            return pb.Nothing()

        return grpc.unary_unary_rpc_method_handler(answer, kind.FromString, pb.Nothing.SerializeToString)


@pytest.fixture
def controller(tmp_path: Path) -> Iterator[tuple[Controller, str]]:
    found, socket = Controller(), str(tmp_path / "controller.sock")
    server = grpc.server(ThreadPoolExecutor(1))
    server.add_generic_rpc_handlers((found,))
    server.add_insecure_port(f"unix:{socket}")
    server.start()
    yield found, socket
    server.stop(None).wait()


def test_what_is_asked_reaches_the_controller(controller: tuple[Controller, str], tmp_path: Path) -> None:
    found, socket = controller
    config = tmp_path / "config.bin"
    config.write_bytes(b"rows")
    assert [operate.main((socket, *words)) for words in (("drain", "nf1"), ("undrain", "nf1"))] == [0, 0]
    assert operate.main((socket, "configure", str(config))) == 0
    (drain, name), (undrain, _), (configure, request) = found.asked
    assert (drain, name.name, undrain, configure) == ("Drain", "nf1", "Undrain", "Configure")
    assert request.config == b"rows" and request.version == hashlib.sha256(b"rows").hexdigest()


def test_a_refusal_is_told(controller: tuple[Controller, str], capsys: pytest.CaptureFixture[str]) -> None:
    assert operate.main((controller[1], "drain", "unknown")) == 2
    assert "drain unknown: there is no other NF server (FAILED_PRECONDITION)" in capsys.readouterr().err


def test_what_is_not_there_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert operate.main((str(tmp_path / "none.sock"), "drain", "nf1")) == 3
    assert operate.main((str(tmp_path / "none.sock"), "configure", str(tmp_path / "none.bin"))) == 3
    assert "none.bin cannot be read" in capsys.readouterr().err
    assert operate.main(("drain",)) == 2
    assert capsys.readouterr().err.startswith("usage: python3 -m polysome_controller.operate SOCKET")
