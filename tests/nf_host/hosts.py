"""NF hosts for tests: built once per content, between two ends of a cable, with certificates of their own."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import select
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from tests import tags
from tests.addresses import free_address
from tests.backends.examples import EXAMPLES
from tests.certificates import Authority

from polysome.backends.folder import contents
from polysome.backends.nf_cpp import build
from polysome.backends.nf_cpp.config_blob import encode
from polysome.backends.nf_cpp.generate import namespace
from polysome.config.load import load_config
from polysome.deploy.build import messages
from polysome.ir import program as ir
from polysome.resources import folder
from polysome.syntax.diagnostics import Report
from polysome_protocol import CONTENT, ETHERNET

SWITCH = bytes.fromhex("020000000001")
HEAD, LINK = CONTENT, ETHERNET.size
WHOLE = 1
CONTROLLER = 255  # the port of its probes, and the verdict of their answers
DEADLINE = 10.0  # s; for what takes a moment


def need() -> None:
    """Skips unless this is root, and what the hosts are built from is here."""
    if os.geteuid() != 0:
        pytest.skip("network interfaces and raw sockets need root")
    pytest.importorskip("grpc", reason="needs Python's gRPC: pip install grpcio")
    packages = {"ip": "iproute2", "openssl": "openssl", "pkg-config": "pkg-config", "protoc": "protobuf-compiler"}
    packages |= {"grpc_cpp_plugin": "protobuf-compiler-grpc libgrpc++-dev libprotobuf-dev"}
    absent = [package for command, package in packages.items() if shutil.which(command) is None]
    if build.missing() is not None or absent:
        pytest.skip(f"needs the Debian packages {', '.join(absent or ['clang'])}")


def control() -> Any:
    """The messages of control.proto."""
    place = str(folder("runtime") / "controller")
    if place not in sys.path:
        sys.path.append(place)
    return pytest.importorskip("polysome_controller.control_pb2", reason="needs Python's protobuf")


def values(program: ir.Program) -> Mapping[str, Any]:
    """The example's config, if it has any."""
    file = EXAMPLES / program.name / "config.toml"
    return load_config(program, [str(file)] if file.exists() else [], Report())


def config(program: ir.Program) -> bytes:
    return encode(program, values(program))


def built(program: ir.Program, host: str = "af_packet_host") -> Path:
    """The program fields_HOST.cpp of an NF, kept by what it is made of. What no NF changes is compiled once for all."""
    name = namespace(program)
    files = {path: data.decode() for path, data in contents(program, b"").items() if path.endswith((".cpp", ".hpp"))}
    source = files[f"fields_{host}.cpp"].replace('"nf/', '"')
    libraries = [*pkg_config("--libs", "grpc++", "protobuf", "libcrypto")]
    headers: list[str] = []
    if host == "dpdk":
        libraries += [flag for flag in pkg_config("--libs", "libdpdk") if flag != "-Wl,--as-needed"]
        includes = [flag.replace("-I", "-isystem", 1) for flag in pkg_config("--cflags", "libdpdk")]
        headers = [*(flag for flag in includes if not flag.startswith("-march")), "-march=native"]
    flags = ["-std=c++20", "-O0", "-Wall", "-Wextra", "-Werror", *headers, *_service(), "-Wl,--no-as-needed"]
    return build.built(name, files[f"nf/{name}.hpp"], source, (*flags, *libraries))


@cache
def _service() -> tuple[str, ...]:
    """An object file with the service Nf, and the messages of control.proto."""
    place = messages(folder("runtime"))
    flags = ("-std=c++20", "-O0", "-w", "-c", f"-isystem{place / 'control'}")
    made = build.built("control", "", '#include "host/nf_control.hpp"\n', flags)
    return str(made), str(place / "libpolysome_control.a")


@cache
def pkg_config(*arguments: str) -> list[str]:
    """What pkg-config says, which for gRPC takes it half a second."""
    done = subprocess.run(["pkg-config", *arguments], capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"needs the Debian packages of {' '.join(arguments[1:])}: {done.stderr.strip()}")
    return done.stdout.split()


def _run(command: Sequence[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=280)
    if done.returncode:
        pytest.fail(f"{' '.join(command)}\n{(done.stdout + done.stderr)[-4000:]}", pytrace=False)
    return done.stdout


def frame(
    nf: bytes, flags: int, number: int, seq: int, length: int, port: int, content: bytes, back: bool = False
) -> bytes:
    """A frame from the switch to the NF with that address, or `back`."""
    addresses = (SWITCH, nf) if back else (nf, SWITCH)
    said = {"parse_class": number, "seq": seq, "queue_pair": 7, "length": length, "port": port}
    return tags.frame(*addresses, flags, content, **said)


# ---------------------------------------------------------------- certificates


def certificates(place: Path, names: Sequence[str]) -> Path:
    """An authority, and a certificate for each name, NAME.pem and NAME.key."""
    return Authority(place / "tls", *names).folder


# ---------------------------------------------------------------- the cable


@dataclass
class Cable:
    """Two interfaces of this machine; `near` is the switch's end, with a socket."""

    near: str
    far: str
    socket: socket.socket = field(init=False)

    def make(self) -> None:
        _run(["ip", "link", "add", self.near, "mtu", "3000", "type", "veth", "peer", "name", self.far, "mtu", "3000"])
        for name in (self.near, self.far):
            Path(f"/proc/sys/net/ipv6/conf/{name}/disable_ipv6").write_text("1")
            _run(["ip", "link", "set", name, "up"])

    def open(self) -> None:
        self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22)
        self.socket.bind((self.near, 0))

    def remove(self) -> None:
        subprocess.run(["ip", "link", "del", self.near], capture_output=True, check=False)

    def mac(self) -> bytes:
        """Of the far end."""
        return bytes.fromhex(Path(f"/sys/class/net/{self.far}/address").read_text().strip().replace(":", ""))

    def take(self, count: int, seconds: float = DEADLINE) -> list[bytes]:
        """The next frames that the far end sends; fewer if they do not come in time."""
        found: list[bytes] = []
        until = time.monotonic() + seconds
        while len(found) < count and (left := until - time.monotonic()) > 0:
            if not select.select([self.socket], [], [], left)[0]:
                break
            data, (_, _, kind, _, _) = self.socket.recvfrom(65536)
            if kind != socket.PACKET_OUTGOING:
                found.append(data)
        return found

    def ask(self, frame: bytes, seconds: float = DEADLINE) -> bytes:
        """Sends a frame and gives its answer; empty if there is none."""
        self.socket.send(frame)
        return b"".join(self.take(1, seconds))


@contextlib.contextmanager
def cable() -> Iterator[Cable]:
    made = Cable(f"pnf{os.getpid()}a", f"pnf{os.getpid()}b")
    made.remove()
    made.make()
    made.open()
    try:
        yield made
    finally:
        made.socket.close()
        made.remove()


# ---------------------------------------------------------------- the process


@dataclass
class Host:
    """A running host and how to talk to it as `controller`; `lease` counts up."""

    process: subprocess.Popen[str]
    place: Path
    address: str
    tls: Path
    number: int = 0

    def call(self, method: str, request: Any, answer: str, peer: str = "controller", tls: Path | None = None) -> Any:
        """grpc.RpcError if it is refused."""
        import grpc

        place = tls or self.tls
        authority = (self.tls / "authority.pem").read_bytes()
        parts = [(place / f"{peer}.{end}").read_bytes() for end in ("key", "pem")]
        options = [("grpc.ssl_target_name_override", "nf1"), ("grpc.enable_retries", 0)]
        with grpc.secure_channel(self.address, grpc.ssl_channel_credentials(authority, *parts), options) as channel:
            ask = channel.unary_unary(
                f"/polysome.control.Nf/{method}",
                request_serializer=type(request).SerializeToString,
                response_deserializer=getattr(control(), answer).FromString,
            )
            return ask(request, timeout=5, wait_for_ready=tls is None)

    def describe(self, **more: Any) -> Any:
        return self.call("Describe", control().DescribeRequest(challenge=b"c" * 16), "NfDescription", **more)

    def statistics(self) -> Any:
        return self.call("Statistics", control().Nothing(), "NfStatistics")

    def counters(self) -> dict[str, int]:
        found = self.statistics()
        return {c.name: c.value for c in [*found.counters, *found.drops]}

    def attempt(self, port: int, packet: bytes) -> Any:
        return self.call("Try", control().TryRequest(port=port, packet=packet), "TryResponse")

    def lease(self) -> Any:
        self.number += 1
        return control().Lease(epoch=1, number=self.number)

    def prepare(self, config: bytes, version: str | None = None, force: bool = False) -> str:
        version = hashlib.sha256(config).hexdigest() if version is None else version
        request = control().PrepareRequest(lease=self.lease(), version=version, config=config, force=force)
        self.call("Prepare", request, "Nothing")
        return version

    def commit(self, version: str) -> None:
        self.call("Commit", control().CommitRequest(lease=self.lease(), version=version), "Nothing")

    def log(self) -> str:
        return (self.place / "log").read_text()

    def end(self) -> int:
        """At once; SIGTERM would have it hand over its state."""
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(timeout=DEADLINE)


def configured(place: Path, interface: str, config: bytes, tls: Path, **more: Any) -> dict[str, Any]:
    """Writes NfConfig into `place`, which keeps the host's state from one run to the next, and what it names."""
    (place / "state").mkdir(parents=True, exist_ok=True)
    (place / "config.bin").write_bytes(config)
    files = {"authority": "authority.pem", "certificate": "nf1.pem", "key": "nf1.key", "revoked": "revoked.pem"}
    settings = {
        **{"server": "nf1", "interface": interface, "config": str(place / "config.bin"), "listen": free_address()},
        **{"state": str(place / "state"), "tls": {name: str(tls / file) for name, file in files.items()}},
        **more,
    }
    (place / "nf.json").write_text(json.dumps(settings))
    return settings


@contextlib.contextmanager
def running(program: Path, place: Path, interface: str, config: bytes, tls: Path, **more: Any) -> Iterator[Host]:
    """A host; when this is entered, it listens. As `configured`."""
    settings = configured(place, interface, config, tls, **more)
    with (place / "log").open("w") as log:
        process = subprocess.Popen([str(program), str(place / "nf.json")], stderr=log, text=True, cwd=place)
    host = Host(process, place, settings["listen"], tls)
    try:
        until(lambda: re.search(r"info: \S+ on ", host.log()) or process.poll() is not None)
        assert process.poll() is None, host.log()
        yield host
    finally:
        process.kill()
        process.wait(timeout=DEADLINE)


def ended(program: Path, place: Path) -> subprocess.CompletedProcess[str]:
    """A host that ends by itself, with the configuration in `place`."""
    return subprocess.run([program, place / "nf.json"], capture_output=True, text=True, check=False, timeout=DEADLINE)


def until(condition: Any, seconds: float = DEADLINE) -> None:
    """Waits until it is true; fails if it is not in time."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.01)
