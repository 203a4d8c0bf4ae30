"""gRPC over mutual TLS: clients of the parts' services, and what the controller's own service is served with.

Methods are found by name in control.proto's descriptor, so that no generated service code is needed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import grpc
import grpc.aio
from google.protobuf import descriptor as descriptors
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass

from polysome_controller import control_pb2 as pb
from polysome_controller.errors import ConfigurationError, EnvironmentProblem, Refused, Unreachable, Untrusted

MOST_BYTES = 64 << 20  # of a message: an NF's config may be large
CHANNEL_OPTIONS = [
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.min_reconnect_backoff_ms", 100),
    ("grpc.max_reconnect_backoff_ms", 1000),
    ("grpc.max_receive_message_length", MOST_BYTES),
    ("grpc.max_send_message_length", MOST_BYTES),
    ("grpc.use_local_subchannel_pool", 1),  # a new channel is a new connection
]
NO_ANSWER = {grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED, grpc.StatusCode.CANCELLED}
# What gRPC says of a connection that TLS did not allow; its status code is the one of a part that is not there.
BAD_TLS = ("handshake", "CERTIFICATE", "certificate", "Peer name", "peer verification", "Hostname Verification")


@dataclass(frozen=True)
class Credentials:
    """PEM texts of the deployment's authority, and of the controller's own certificate."""

    authority: bytes
    certificate: bytes
    key: bytes

    @classmethod
    def load(cls, tls: pb.Tls) -> Credentials:
        """ConfigurationError if a file is not named, EnvironmentProblem if one cannot be read."""
        texts = []
        for what in ("authority", "certificate", "key"):
            path = getattr(tls, what)
            if not path:
                raise ConfigurationError(f"tls.{what}: no file is named")
            try:
                texts.append(Path(path).read_bytes())
            except OSError as error:
                text = f"tls.{what}: {path}: {error.strerror}; deploy/certificates.sh of the bundle makes certificates"
                raise EnvironmentProblem(text) from error
        return cls(*texts)

    def client(self) -> grpc.ChannelCredentials:
        return grpc.ssl_channel_credentials(self.authority, self.key, self.certificate)

    def server(self) -> grpc.ServerCredentials:
        """Takes only clients that have a certificate of the same authority."""
        return grpc.ssl_server_credentials([(self.key, self.certificate)], self.authority, require_client_auth=True)


class Leases:
    """Numbers every change, so that no part takes one twice or from an earlier controller."""

    def __init__(self, epoch: int) -> None:
        self.epoch = epoch
        self._number = 0

    def next(self) -> pb.Lease:
        self._number += 1
        return pb.Lease(epoch=self.epoch, number=self._number)


@dataclass
class _Connection:
    channel: grpc.aio.Channel
    calls: int = 0  # that are under way


class Peer:
    """One service of a part at an address, by the part's name, which its certificate must have.

    Every call has a deadline (seconds). A call that gets no answer gives up the connection: the next one begins with a
    new one, and does not wait for what TCP still hopes for.
    """

    def __init__(
        self, service: str, address: str, name: str, credentials: Credentials, leases: Leases, deadline: float
    ) -> None:
        self.name = name
        self.address = address
        self._service = pb.DESCRIPTOR.services_by_name[service]
        self._credentials = credentials.client()
        self._leases = leases
        self._deadline = deadline
        self._connection: _Connection | None = None
        self._changing = asyncio.Lock()

    async def call(self, method: str, request: Message, deadline: float = 0) -> Any:
        """The answer; Unreachable, Untrusted or Refused."""
        connection = self._connection = self._connection or self._connect()
        what = self._service.methods_by_name[method]
        send = connection.channel.unary_unary(
            f"/{self._service.full_name}/{method}",
            request_serializer=type(request).SerializeToString,
            response_deserializer=GetMessageClass(what.output_type).FromString,
        )
        connection.calls += 1
        try:
            return await send(request, timeout=deadline or self._deadline)
        except grpc.aio.AioRpcError as error:
            code, text = error.code(), error.details() or "no reason given"
            if code not in NO_ANSWER:
                raise Refused(f"{method}: {text} ({code.name})") from error
            if self._connection is connection:
                self._connection = None
            if any(word in text for word in BAD_TLS):
                raise Untrusted(f"no valid certificate for `{self.name}` at {self.address}: {text}") from error
            late = code == grpc.StatusCode.DEADLINE_EXCEEDED
            raise Unreachable(f"{method}: no answer in time" if late else f"{method}: {text}") from error
        finally:
            connection.calls -= 1
            if self._connection is not connection and not connection.calls:
                await connection.channel.close()  # not before: it would end the other calls, too

    def _connect(self) -> _Connection:
        options = [*CHANNEL_OPTIONS, ("grpc.ssl_target_name_override", self.name)]
        return _Connection(grpc.aio.secure_channel(self.address, self._credentials, options))

    async def change(self, method: str, request: Message, deadline: float = 0) -> Any:
        """A request with a lease: in the order of the leases, as the part takes no earlier one."""
        async with self._changing:
            request.lease.CopyFrom(self._leases.next())  # type: ignore[attr-defined]
            return await self.call(method, request, deadline)

    async def close(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            await connection.channel.close()


Handler = Callable[[Any, Any], Awaitable[Any]]


def service_handler(service: str, methods: dict[str, Handler]) -> grpc.GenericRpcHandler:
    """Serves all methods of a service of control.proto."""
    found: descriptors.ServiceDescriptor = pb.DESCRIPTOR.services_by_name[service]
    handlers = {
        method.name: grpc.unary_unary_rpc_method_handler(
            methods[method.name],
            request_deserializer=GetMessageClass(method.input_type).FromString,
            response_serializer=GetMessageClass(method.output_type).SerializeToString,
        )
        for method in found.methods
    }
    return grpc.method_handlers_generic_handler(found.full_name, handlers)
