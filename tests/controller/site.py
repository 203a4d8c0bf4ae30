"""A whole site in one event loop: fake parts with real TLS, and the controller, which may end and begin again."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import grpc
import grpc.aio
from google.protobuf import json_format

from polysome_controller import control_pb2 as pb
from polysome_controller.controller import Controller
from polysome_controller.rpc import CHANNEL_OPTIONS, MOST_BYTES

from .fake_parts import FakeAgent, FakeNf
from .fake_switch import FakeSwitch

INGRESS_EVENTS = ("unknown", "own_address", "foreign_answer", "no_queue_pair", "parked", "merged")
EGRESS_EVENTS = ("out", "write", "read")
MILLISECOND = 1_000_000
# For tests of what is counted, which is read rarely otherwise.
POLLING = {
    **{"queuePairs": 20 * MILLISECOND, "load": 50 * MILLISECOND, "health": 50 * MILLISECOND},
    **{"deadline": 1000 * MILLISECOND, "misses": 3, "probes": 1000 * MILLISECOND},
}
REGION = 1 << 20
PATIENCE = 30.0  # seconds: nothing takes as long, also on a busy machine
FIRST_CONFIG = b"backends: one, two"


class Site:
    """Changes are to the ControllerConfig, by name."""

    def __init__(self, certificates: Path, folder: Path, servers: int = 2, pairs: int = 2, **changes: Any) -> None:
        self.certificates = certificates
        self.folder = folder
        self.switch = FakeSwitch(certificates, "program hash")
        self.agents = [FakeAgent(f"memory{i}", i, certificates, pairs, REGION) for i in range(servers)]
        self.nfs = [FakeNf(f"nf{i}", i, certificates, "balancer", "nf hash", FIRST_CONFIG) for i in (1, 2)]
        self.changes = changes
        self._controller: Controller | None = None
        self._running: asyncio.Task[None] | None = None
        self._stop = asyncio.Event()

    @property
    def parts(self) -> list[FakeSwitch | FakeAgent | FakeNf]:
        return [self.switch, *self.agents, *self.nfs]

    async def start_parts(self) -> None:
        for part in self.parts:
            await part.start()

    async def start(self) -> None:
        """All parts, the controller, and until everything is up."""
        await self.start_parts()
        await self.start_controller()
        await self.until(self.all_up)

    async def start_controller(self) -> None:
        self._stop = asyncio.Event()
        self._controller = Controller(self.config())
        self._running = asyncio.ensure_future(self._controller.run(self._stop))

    async def stop_controller(self) -> None:
        running, self._running = self._running, None
        if running is not None:
            self._stop.set()
            await running

    async def close(self) -> None:
        try:
            await self.stop_controller()
        finally:
            for part in self.parts:
                await part.stop()

    def config(self) -> pb.ControllerConfig:
        (self.folder / "first.config").write_bytes(FIRST_CONFIG)
        tls = {"authority": "authority.pem", "certificate": "controller.pem", "key": "controller.key"}
        tls["revoked"] = "revoked.pem"
        plain: dict[str, Any] = {
            "nf": "balancer",
            "model": "software",
            "switch": self.switch.address,
            "program": "balancer",
            "programHash": "program hash",
            "nfHash": "nf hash",
            "switchMac": "02:70:6f:6c:79:01",
            "switchIp": "198.19.255.254",
            "traffic": [
                {"name": "clients", "ports": [0], "rate": 10**10, "queueBytes": 10**6},
                {"name": "servers", "ports": [1, 2], "rate": 10**10, "queueBytes": 10**6},
            ],
            "nfServers": [
                {"name": nf.name, "address": nf.address, "port": 31 + i, "rate": 10**10, "queueBytes": 10**6}
                for i, nf in enumerate(self.nfs, 1)
            ],
            "rdmaServers": [
                {
                    **{"name": agent.name, "address": agent.address, "port": 40 + i, "rate": 10**9, "spare": 8 * 10**8},
                    **{
                        "queuePairs": agent.count,
                        "region": REGION,
                        "mtu": 2048,
                        "queueBytes": 10**6,
                        "firstQueueBytes": 800,
                    },
                }
                for i, agent in enumerate(self.agents)
            ],
            "fixedPorts": [
                {"port": 68, "role": 4, "loopback": True, "loopTime": 1000, "queueBytes": 10**6},
                {"port": 69, "role": 5},
            ],
            "buckets": 16,
            "queuePairBits": 4,
            "mirrorSessions": 1024,
            "depths": [51, 67],
            "verdicts": [0x8003],
            "ingressEvents": INGRESS_EVENTS,
            "egressEvents": EGRESS_EVENTS,
            "fallbackRate": 10**8,
            "fallbackBurst": 10**5,
            "queueCell": 80,
            "sweep": MILLISECOND,
            "longestQueueing": MILLISECOND,
            "timeout": 5 * MILLISECOND,
            "stations": [{"mac": "02:00:00:00:03:01", "port": 1}],
            "polling": {
                **{"queuePairs": 10 * MILLISECOND, "load": 10_000 * MILLISECOND, "health": 50 * MILLISECOND},
                **{"deadline": 1000 * MILLISECOND, "misses": 3, "probes": 1000 * MILLISECOND},
            },
            "backOff": {"high": 1.0, "low": 0.8, "step": 0.25, "headroom": 0.9},
            "admin": str(self.folder / "admin.sock"),
            "state": str(self.folder / "state"),
            "config": str(self.folder / "first.config"),
            "tls": {name: str(self.certificates / file) for name, file in tls.items()},
        }
        plain.update(self.changes)
        return json_format.ParseDict(plain, pb.ControllerConfig())

    # ---- looking

    def status(self) -> pb.ControllerStatus:
        assert self._controller is not None
        return self._controller.status()

    def part(self, name: str) -> pb.Part:
        return next(part for part in self.status().parts if part.name == name)

    def happened(self, text: str) -> list[str]:
        return [h.text for h in self.status().happened if text in h.text]

    def all_up(self) -> bool:
        status = self.status()
        ready = all(part.state in ("up", "standby") for part in status.parts)
        return ready and all(pair.state == "up" and self.switch.up(pair.index) for pair in status.queue_pairs)

    async def until(self, condition: Callable[[], Any]) -> None:
        end = asyncio.get_running_loop().time() + PATIENCE
        while not condition():
            assert self._running is None or not self._running.done(), "the controller has ended"
            if asyncio.get_running_loop().time() > end:
                raise AssertionError(f"never so: {condition}\n{self.status()}")
            await asyncio.sleep(0.005)

    async def pause(self, looks: int = 4) -> None:
        """As long as the parts are looked at so many times."""
        await asyncio.sleep(0.05 * looks)

    def channel(self, certificate: str, address: str, limit: int = MOST_BYTES) -> grpc.aio.Channel:
        """Over TLS with this certificate. `limit`: bytes of a request; -1: none."""
        files = ("authority.pem", f"{certificate}.key", f"{certificate}.pem")
        texts = [(self.certificates / file).read_bytes() for file in files]
        options = [*CHANNEL_OPTIONS, ("grpc.ssl_target_name_override", "controller")]
        options += [("grpc.max_send_message_length", limit)]
        return grpc.aio.secure_channel(address, grpc.ssl_channel_credentials(*texts), options)

    async def ask(
        self, method: str, request: Any, certificate: str = "", address: str = "", limit: int = MOST_BYTES
    ) -> Any:
        """As an operator: by the Unix socket, or over TLS with this certificate."""
        if certificate:
            channel = self.channel(certificate, address, limit)
        else:
            channel = grpc.aio.insecure_channel(f"unix:{self.folder / 'admin.sock'}")
        answers = {"Status": pb.ControllerStatus, "Try": pb.TryResponse}
        async with channel:
            call = channel.unary_unary(
                f"/polysome.control.Controller/{method}",
                request_serializer=type(request).SerializeToString,
                response_deserializer=answers.get(method, pb.Nothing).FromString,
            )
            return await call(request, timeout=PATIENCE)
