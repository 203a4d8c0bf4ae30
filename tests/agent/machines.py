"""A server and a switch as two network namespaces with a cable between them, an agent in one, certificates for all."""

from __future__ import annotations

import ctypes
import os
import shutil
import socket
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import grpc
import pytest
from tests.agent import roce
from tests.certificates import Authority

from polysome_controller import control_pb2 as control

SERVER_IP, SWITCH_IP = "198.19.255.16", "198.19.255.254"
SWITCH = roce.End(bytes.fromhex("02706f6c7901"), socket.inet_aton(SWITCH_IP))
CLONE_NEWNET = 0x40000000
ETH_P_ALL = 3


def need_root() -> None:
    """Skips the test where there can be no network namespaces."""
    missing = [name for name in ("ip", "openssl") if not shutil.which(name)]
    if missing:
        pytest.skip(f"needs {', '.join(missing)} (apt install iproute2 openssl)")
    if os.geteuid() != 0 or subprocess.run(["ip", "netns", "list"], capture_output=True, check=False).returncode:
        pytest.skip("needs root, and the right to make network namespaces")


def run(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=30)
    assert done.returncode == 0, f"{' '.join(command)}: {done.stderr}"
    return done.stdout


# ---------------------------------------------------------------- the cable


class Cable:
    """`server0` of a server's namespace and `switch0` of a switch's."""

    def __init__(self) -> None:
        self.server, self.switch = (f"polysome-agent-{os.getpid()}-{end}" for end in ("server", "switch"))

    def open(self) -> None:
        for name in (self.server, self.switch):
            run("ip", "netns", "add", name)
        ends = ("server0", "netns", self.server, "type", "veth", "peer", "name", "switch0", "netns", self.switch)
        run("ip", "link", "add", "mtu", "4200", *ends)
        for name, end in ((self.server, "server0"), (self.switch, "switch0")):
            run("ip", "-n", name, "link", "set", "dev", end, "mtu", "4200", "up")
        run("ip", "-n", self.server, "addr", "add", f"{SERVER_IP}/24", "dev", "server0")

    def close(self) -> None:
        for name in (self.server, self.switch):
            subprocess.run(["ip", "netns", "delete", name], capture_output=True, check=False)

    def raw_socket(self) -> socket.socket:
        """At the switch's end. A socket stays in the namespace where it was made; so a thread goes there to make it."""
        made: list[socket.socket | OSError] = []

        def make() -> None:
            try:
                with open(f"/run/netns/{self.switch}", "rb") as namespace:
                    if ctypes.CDLL(None, use_errno=True).setns(namespace.fileno(), CLONE_NEWNET) != 0:
                        raise OSError(ctypes.get_errno(), "setns")
                raw = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
                made.append(raw)
                raw.bind(("switch0", 0))
            except OSError as error:
                made[:] = [error]

        thread = threading.Thread(target=make)
        thread.start()
        thread.join()
        if isinstance(made[0], OSError):
            raise made[0]
        return made[0]


class SwitchEnd:
    """What a switch does with a queue pair."""

    def __init__(self, cable: Cable, server: control.Registration) -> None:
        self.socket = cable.raw_socket()
        self.server = roce.End(server.mac, server.ip)
        self.key = server.rkey

    def close(self) -> None:
        self.socket.close()

    def write(self, number: int, psn: int, address: int, payload: bytes) -> roce.Answer:
        reth = roce.reth(address, self.key, len(payload))
        return self.ask(roce.request(SWITCH, self.server, roce.WRITE, number, psn, reth, payload))

    def read(self, number: int, psn: int, address: int, length: int) -> roce.Answer:
        return self.ask(self.read_request(number, psn, address, length))

    def no_answer(self, number: int, psn: int) -> bool:
        """Whether a READ is not answered within 0.3 s."""
        self.socket.send(self.read_request(number, psn, 0, 64))
        return not any(roce.answer(seen) for seen in self.frames(0.3))

    def read_request(self, number: int, psn: int, address: int, length: int) -> bytes:
        return roce.request(SWITCH, self.server, roce.READ, number, psn, roce.reth(address, self.key, length))

    def ask(self, frame: bytes) -> roce.Answer:
        self.socket.send(frame)
        found = [answer for seen in self.frames(5) if (answer := roce.answer(seen))]
        assert found, "no answer within 5 s"
        return found[0]

    def frames(self, seconds: float) -> list[bytes]:
        """What comes from the server, until an answer has come or the time is over."""
        frames: list[bytes] = []
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            self.socket.settimeout(left)
            try:
                frame, address = self.socket.recvfrom(1 << 16)
            except TimeoutError:
                break
            if address[2] == socket.PACKET_OUTGOING:
                continue
            frames.append(frame)
            if roce.answer(frame):
                break
        return frames


# ---------------------------------------------------------------- the agent

METHODS: dict[str, tuple[Any, Any]] = {
    "Describe": (control.DescribeRequest, control.Registration),
    "Reset": (control.ResetRequest, control.QueuePair),
    "Clear": (control.ClearRequest, control.Nothing),
    "Health": (control.Nothing, control.AgentHealth),
}


class Client:
    """Whoever has the certificate `name` of an authority; without one if it is empty."""

    def __init__(self, address: str, server: str, authority: Authority, name: str, *, trusts: Authority | None = None):
        key, chain = (authority.read(f"{name}.key"), authority.read(f"{name}.pem")) if name else (None, None)
        root = (trusts or authority).read("authority.pem")
        options = (("grpc.ssl_target_name_override", server), ("grpc.enable_retries", 0))
        self.channel = grpc.secure_channel(address, grpc.ssl_channel_credentials(root, key, chain), options)

    def close(self) -> None:
        self.channel.close()

    def call(self, method: str, **fields: Any) -> Any:
        request, answer = METHODS[method]
        path = f"/polysome.control.Agent/{method}"
        stub = self.channel.unary_unary(path, request.SerializeToString, answer.FromString)
        return stub(request(**fields), timeout=10)

    def refusal(self, method: str, **fields: Any) -> grpc.StatusCode:
        with pytest.raises(grpc.RpcError) as caught:
            self.call(method, **fields)
        code: grpc.StatusCode = caught.value.code()
        return code


class Agent:
    """A started agent in the server's namespace; its log grows in a file."""

    def __init__(self, program: Path, cable: Cable, config: Path, log: Path) -> None:
        self.log = log
        with open(log, "wb") as out:
            command = ["ip", "netns", "exec", cable.server, str(program), str(config)]
            self.process = subprocess.Popen(command, stderr=out)

    def said(self) -> str:
        return self.log.read_text(encoding="utf-8")

    def wait_for(self, text: str) -> None:
        wait_until(lambda: text in self.said() or self.process.poll() is not None)
        assert text in self.said(), self.said()

    def stop(self) -> int:
        self.process.terminate()
        return self.process.wait(timeout=10)


def wait_until(holds: Callable[[], bool], seconds: float = 10) -> None:
    end = time.monotonic() + seconds
    while not holds() and time.monotonic() < end:
        time.sleep(0.01)
