"""What the fake parts have in common: a server with mutual TLS that answers `controller` only, and takes leases."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import grpc
import grpc.aio
from cryptography import x509
from tests.addresses import HOST

from polysome_controller import control_pb2 as pb
from polysome_controller.rpc import service_handler


class FakePart:
    """`port` stays the same when it stops and starts; `calls` are the names of all methods asked, in order."""

    service = ""

    def __init__(self, name: str, certificates: Path) -> None:
        self.name = name
        self.certificate = name  # file; tests give it another's
        self.own: pb.CertificateState | None = None  # what it says of that
        self.admitted: list[str] = []  # the serial number of the certificate of each call
        self.calls: list[str] = []
        self.stopped: asyncio.Event | None = None  # what is asked waits for it, as after SIGSTOP
        self.boot = 0
        self.newest = (0, 0)
        self.port = 0
        self._certificates = certificates
        self._server: grpc.aio.Server | None = None
        self._stopping = asyncio.Lock()

    @property
    def address(self) -> str:
        return f"{HOST}:{self.port}"

    async def start(self) -> None:
        server = grpc.aio.server(options=[("grpc.so_reuseport", 0)])
        methods = pb.DESCRIPTOR.services_by_name[self.service].methods
        server.add_generic_rpc_handlers(
            (service_handler(self.service, {m.name: self._called(m.name) for m in methods}, self._admit),)
        )
        key, certificate = (self._certificates / f"{self.certificate}.{end}" for end in ("key", "pem"))
        authority = "stranger" if self.certificate.startswith("foreign-") else "authority"
        credentials = grpc.ssl_server_credentials(
            [(key.read_bytes(), certificate.read_bytes())],
            (self._certificates / f"{authority}.pem").read_bytes(),
            require_client_auth=not self.certificate.startswith("foreign-"),
        )
        self.port = server.add_secure_port(f"{HOST}:{self.port}", credentials)
        await server.start()
        self._server = server

    async def stop(self) -> None:
        """As kill -9: no answer to anybody any more. Afterwards its port is free, whoever else stops it meanwhile."""
        async with self._stopping:
            server, self._server = self._server, None
            if server is not None:
                await server.stop(None)

    async def _admit(self, call: Any) -> None:
        who = call.auth_context().get("x509_common_name", [b""])[0]
        pem = call.auth_context().get("x509_pem_cert", [b""])[0]
        if pem:
            self.admitted.append(f"{x509.load_pem_x509_certificate(pem).serial_number:040X}")
        if who != b"controller" and not self.certificate.startswith("foreign-"):
            await call.abort(grpc.StatusCode.PERMISSION_DENIED, f"{who.decode()} may not")

    def _called(self, name: str) -> Any:
        async def handle(request: Any, call: Any) -> Any:
            if self.stopped is not None:
                await self.stopped.wait()
            self.calls.append(name)
            return await getattr(self, name)(request, call)

        return handle

    async def take_lease(self, request: Any, call: Any) -> None:
        """Refuses what is not newer than the newest, and what is meant for another run."""
        lease = (request.lease.epoch, request.lease.number)
        if lease <= self.newest:
            await call.abort(grpc.StatusCode.FAILED_PRECONDITION, f"lease {lease} is not newer than {self.newest}")
        if hasattr(request, "boot") and request.boot != self.boot:
            await call.abort(grpc.StatusCode.FAILED_PRECONDITION, "another run is meant")
        self.newest = lease
