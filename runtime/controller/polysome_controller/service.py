"""The controller's own service: on a Unix socket for root, and over mutual TLS for the operator."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import grpc
import grpc.aio

from polysome_controller import control_pb2 as pb
from polysome_controller.configure import Operations, Rejected
from polysome_controller.context import Context
from polysome_controller.errors import EnvironmentProblem, PartError, Unreachable
from polysome_controller.front import Front
from polysome_controller.nfs import NfServers
from polysome_controller.rpc import SERVER_OPTIONS, Admit, Handler, service_handler
from polysome_controller.trust import Trust

OPERATOR = "operator"


class Service:
    """Status is asked of `status`, which takes no time."""

    def __init__(
        self,
        context: Context,
        trust: Trust,
        operations: Operations,
        nfs: NfServers,
        status: Callable[[], pb.ControllerStatus],
    ) -> None:
        self._context = context
        self._trust = trust
        self._operations = operations
        self._nfs = nfs
        self._status = status
        self._servers: list[grpc.aio.Server] = []
        self._front: Front | None = None

    async def start(self) -> None:
        """EnvironmentProblem if an address cannot be had."""
        config = self._context.config
        await self._serve(config.admin, None, self._admit_root)
        if config.listen:
            behind = str(Path(config.admin).with_suffix(".tls"))  # no longer: a path has 107 bytes at most
            self._front = Front(config.listen, behind, self._context.journal)
            await self._serve(behind, self._trust.server(), self._admit)
            self._front.start()

    async def stop(self) -> None:
        if self._front is not None:
            await self._front.stop()
        for server in self._servers:
            await server.stop(0.2)

    @staticmethod
    def _prepare_socket(path: Path) -> None:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            if path.is_socket():
                path.unlink()  # of a process that ended without taking it away
        except OSError as error:
            raise EnvironmentProblem(f"cannot make the socket {path}: {error.strerror}") from error

    async def _serve(self, socket: str, credentials: grpc.ServerCredentials | None, admit: Admit) -> None:
        self._prepare_socket(Path(socket))
        address = f"unix:{socket}"
        server = grpc.aio.server(options=SERVER_OPTIONS)
        server.add_generic_rpc_handlers((service_handler("Controller", self._methods(), admit),))
        mask = os.umask(0o177)  # a Unix socket is its owner's alone
        try:
            if credentials is None:
                server.add_insecure_port(address)
            else:
                server.add_secure_port(address, credentials)
        except RuntimeError as error:
            await server.stop(None)
            raise EnvironmentProblem(f"cannot listen at {address}: {error}") from error
        finally:
            os.umask(mask)
        await server.start()
        self._servers.append(server)

    async def _admit(self, call: grpc.aio.ServicerContext[Any, Any]) -> None:
        """Operators only, whose certificate is not revoked by now."""
        assert self._front is not None
        who = name_of(call)
        if who != OPERATOR:
            peer = self._front.peer(call.peer())
            self._context.journal.refusal("controller", f"{peer} with the certificate of `{who}`")
            await call.abort(grpc.StatusCode.PERMISSION_DENIED, f"only `{OPERATOR}` may ask, not `{who}`")
        why = self._trust.refusal(call.auth_context(), OPERATOR)
        if why:
            self._context.journal.refusal("controller", f"{self._front.peer(call.peer())}: {why}")
            await call.abort(grpc.StatusCode.PERMISSION_DENIED, why)
        self._front.admit(call.peer())

    async def _admit_root(self, call: grpc.aio.ServicerContext[Any, Any]) -> None:
        """Who can open the socket may ask."""

    def _methods(self) -> dict[str, Handler]:
        return {
            "Status": self._guarded(self._get_status),
            "Configure": self._guarded(self._configure),
            "Drain": self._guarded(self._drain),
            "Undrain": self._guarded(self._undrain),
            "Try": self._guarded(self._try),
        }

    def _guarded(self, method: Callable[[Any], Any]) -> Handler:
        """What goes wrong has the right code and says why."""

        async def handle(request: Any, call: grpc.aio.ServicerContext[Any, Any]) -> Any:
            try:
                # To its end, also if who asks goes away meanwhile.
                return await asyncio.shield(asyncio.ensure_future(method(request)))
            except Rejected as error:
                self._context.journal.warning("controller", f"refused: {error}")
                await call.abort(grpc.StatusCode[error.code], str(error))
            except Unreachable as error:
                await call.abort(grpc.StatusCode.UNAVAILABLE, str(error))
            except PartError as error:
                await call.abort(grpc.StatusCode.FAILED_PRECONDITION, str(error))
            except EnvironmentProblem as error:
                self._context.journal.error("controller", str(error))
                await call.abort(grpc.StatusCode.INTERNAL, str(error))

        return handle

    async def _get_status(self, request: pb.Nothing) -> pb.ControllerStatus:
        return self._status()

    async def _configure(self, request: pb.ConfigureRequest) -> pb.Nothing:
        await self._operations.configure(request)
        return pb.Nothing()

    async def _drain(self, request: pb.NfName) -> pb.Nothing:
        await self._operations.drain(request.name)
        return pb.Nothing()

    async def _undrain(self, request: pb.NfName) -> pb.Nothing:
        await self._operations.undrain(request.name)
        return pb.Nothing()

    async def _try(self, request: pb.TryRequest) -> pb.TryResponse:
        return await self._nfs.active.try_packet(request)


def name_of(call: grpc.aio.ServicerContext[Any, Any]) -> str:
    """The common name of the other end's certificate."""
    names = call.auth_context().get("x509_common_name", [])
    return names[0].decode(errors="replace") if len(names) == 1 else ""
