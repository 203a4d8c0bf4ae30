"""The soft switch of an example as a process, and a controller for it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import grpc
import pytest
from tests.backends.examples import program
from tests.certificates import Authority
from tests.native.native_build import need
from tests.switch.process.namespaces import Namespace

from polysome.backends.bundle.files import runtime
from polysome.backends.bundle.soft_switch import emit
from polysome.backends.nf_cpp.build import BuildError
from polysome.deploy.build import component
from polysome.plan.design import default_design

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "runtime" / "controller"))

from polysome_controller import control_pb2 as pb  # noqa: E402

SERVICE = "/polysome.control.SoftSwitch/"
RUNTIME = ("nf", "host", "switch", "rdma", "control", "protocol")
ANSWERS = {
    "Describe": pb.SwitchDescription,
    "Write": pb.Nothing,
    "Read": pb.ReadResponse,
    "Statistics": pb.SwitchStatistics,
}


@cache
def bundle_part(example: str) -> Mapping[str, bytes]:
    """What the bundle has of the soft switch, and the runtime it needs."""
    return {**emit(default_design(program(example))), **runtime(*RUNTIME)}


@cache
def executable(example: str) -> Path:
    """NAME_switch, built as `polysome up` builds it; from the user's cache if it was built before."""
    need("protoc", "grpc_cpp_plugin", "openssl")
    with tempfile.TemporaryDirectory(prefix="polysome-switch-") as folder:
        for path, data in bundle_part(example).items():
            Path(folder, path).parent.mkdir(parents=True, exist_ok=True)
            Path(folder, path).write_bytes(data)
        try:
            return component(Path(folder, "switch", "soft"), f"{example}_switch")
        except BuildError as error:
            if "no gRPC for C++" in str(error):
                pytest.skip(
                    "the soft switch needs the Debian packages libgrpc++-dev, libprotobuf-dev, protobuf-compiler-grpc"
                )
            raise


# ---------------------------------------------------------------- certificates


def certificates(folder: Path, *names: str) -> Path:
    """An authority of its own, and a certificate for each name."""
    return Authority(folder, *names).folder


# ---------------------------------------------------------------- the process


class Client:
    """Calls of one peer. `name`: its certificate in `folder`; the authority's is that of `trusts`."""

    def __init__(self, address: str, folder: Path, name: str, trusts: Path | None = None) -> None:
        read = ((trusts or folder) / "authority.pem", folder / f"{name}.key", folder / f"{name}.pem")
        secret = grpc.ssl_channel_credentials(*(path.read_bytes() for path in read))
        # A channel of its own: gRPC would share connections of equal settings.
        options = [("grpc.ssl_target_name_override", "switch"), ("grpc.use_local_subchannel_pool", 1)]
        self._channel = grpc.secure_channel(address, secret, options)
        self.boot = 0
        self.epoch, self._number = 1, 0

    def call(self, method: str, request: Any) -> Any:
        ask = self._channel.unary_unary(
            SERVICE + method,
            request_serializer=type(request).SerializeToString,
            response_deserializer=ANSWERS[method].FromString,
        )
        return ask(request, timeout=10)

    def describe(self) -> Any:
        answer = self.call("Describe", pb.DescribeRequest(challenge=os.urandom(16)))
        self.boot = answer.boot
        return answer

    def write(self, *updates: Any) -> None:
        self._number += 1
        lease = pb.Lease(epoch=self.epoch, number=self._number)
        self.call("Write", pb.WriteRequest(lease=lease, boot=self.boot, updates=updates))

    def refused(self, *updates: Any) -> str:
        """What the switch says of a request that it must refuse."""
        with pytest.raises(grpc.RpcError) as error:
            self.write(*updates)
        assert error.value.code() == grpc.StatusCode.INVALID_ARGUMENT
        return str(error.value.details())

    def cells(self, register: str, index: int = 0, count: int = 1, field: str = "") -> list[int]:
        cell = pb.Cell(register=register, index=index, field=field)
        return list(self.call("Read", pb.ReadRequest(registers=[cell], counts=[count])).registers[0].values)

    def statistics(self) -> Any:
        return self.call("Statistics", pb.Nothing())

    def drops(self) -> dict[str, int]:
        return {counter.name: counter.value for counter in self.statistics().drops}

    def port(self, number: int) -> Any:
        return next(port for port in self.statistics().ports if port.port == number)

    def close(self) -> None:
        self._channel.close()


class Process:
    """A running switch; `log` is what it has said."""

    def __init__(self, example: str, config: Mapping[str, Any], folder: Path, namespace: Namespace | None) -> None:
        path = folder / "soft.json"
        path.write_text(json.dumps(config), encoding="utf-8")
        self._log = folder / "switch.log"
        inside = ["ip", "netns", "exec", namespace.name] if namespace is not None else []
        with self._log.open("w") as log:
            self.popen = subprocess.Popen([*inside, executable(example), path], stderr=log)

    @property
    def log(self) -> str:
        return self._log.read_text(encoding="utf-8")

    def await_log(self, text: str, seconds: float = 5) -> None:
        """Until it has said `text`."""
        end = time.monotonic() + seconds
        while text not in self.log:
            assert self.popen.poll() is None, f"it has ended: {self.log}"
            assert time.monotonic() < end, f"no `{text}` in: {self.log}"
            time.sleep(0.01)

    def seconds(self) -> float:
        """Of processor time, so far."""
        fields = Path(f"/proc/{self.popen.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def stop(self) -> int:
        """Ends it as systemd does; its exit code."""
        self.popen.terminate()
        return self.popen.wait(5)


@contextmanager
def running(
    example: str, folder: Path, tls: Path, ports: Mapping[int, str], namespace: Namespace | None = None, **more: Any
) -> Iterator[Process]:
    """The switch with interfaces in its ports, once it listens, at `address(folder)`; killed at the end."""
    config = configuration(folder, tls, ports, **more)
    process = Process(example, config, folder, namespace)
    try:
        process.await_log("listens on")
        yield process
    finally:
        process.popen.kill()
        process.popen.wait()


def address(folder: Path) -> str:
    """A Unix socket: it is there in all network namespaces."""
    return f"unix:{folder}/switch.socket"


def configuration(folder: Path, tls: Path, ports: Mapping[int, str], **more: Any) -> dict[str, Any]:
    files = {"authority": "authority.pem", "certificate": "switch.pem", "key": "switch.key", "revoked": "revoked.pem"}
    return {
        "ports": [{"port": port, "interface": interface} for port, interface in ports.items()],
        "listen": address(folder),
        "tls": {what: str(tls / file) for what, file in files.items()},
        **more,
    }
