"""gRPC over mutual TLS: clients of the parts' services, and how the controller's own service is served.

Methods are found by name in control.proto's descriptor, so that no generated service code is needed.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import grpc
import grpc.aio
from google.protobuf import descriptor as descriptors
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass

from polysome_controller import control_pb2 as pb
from polysome_controller.errors import Refused, Unreachable, Untrusted
from polysome_controller.peer import Peer
from polysome_controller.trust import NS, Trust, day

MOST_BYTES = 64 << 20  # of a message: an NF's config may be large
CHANNEL_OPTIONS = [
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.min_reconnect_backoff_ms", 500),  # for a handshake: of who is busy, or far away; who hangs is found sooner
    ("grpc.max_reconnect_backoff_ms", 1000),
    ("grpc.max_receive_message_length", MOST_BYTES),
    ("grpc.max_send_message_length", MOST_BYTES),
    ("grpc.use_local_subchannel_pool", 1),  # a new channel is a new connection
]
NO_ANSWER = {grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED, grpc.StatusCode.CANCELLED}
# What gRPC says of a connection that TLS did not allow; its status code is the one of a part that is not there.
BAD_NAME = ("Peer name", "Hostname Verification")
BAD_TLS = ("handshake", "CERTIFICATE", "certificate", "peer verification", *BAD_NAME)


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
    version: int  # of the certificates that it was made with
    calls: int = 0  # that are under way


class GrpcPeer(Peer):
    """One service of a part at an address, by the part's name, which its certificate must have, and not be revoked.

    Every call has a deadline (seconds). A call that gets no answer gives up the connection: the next one begins with a
    new one, and does not wait for what TCP still hopes for. So does the next call after certificates have changed, or
    the list of revoked ones, or once the part's has expired. `certificate`: what the part has said of its own last.
    """

    def __init__(self, service: str, address: str, name: str, trust: Trust, leases: Leases, deadline: float) -> None:
        self.name = name
        self.address = address
        self.certificate = pb.CertificateState()
        self._service = pb.DESCRIPTOR.services_by_name[service]
        self._trust = trust
        self._leases = leases
        self._deadline = deadline
        self._connection: _Connection | None = None
        self._changing = asyncio.Lock()

    async def call(self, method: str, request: Message, deadline: float = 0) -> Any:
        """The answer; Unreachable, Untrusted or Refused."""
        connection = await self._connected()
        what = self._service.methods_by_name[method]
        send = connection.channel.unary_unary(
            f"/{self._service.full_name}/{method}",
            request_serializer=type(request).SerializeToString,
            response_deserializer=GetMessageClass(what.output_type).FromString,
        )
        connection.calls += 1
        try:
            answer = await send(request, timeout=deadline or self._deadline)
            if "certificate" in answer.DESCRIPTOR.fields_by_name:
                self.certificate = answer.certificate
            return answer
        except grpc.aio.AioRpcError as error:
            code, text = error.code(), error.details() or "no reason given"
            if code not in NO_ANSWER:
                raise Refused(f"{method}: {text} ({code.name})") from error
            if self._connection is connection:
                self._connection = None
            distrust = self._distrust(text)
            if distrust:
                raise Untrusted(distrust) from error
            late = code == grpc.StatusCode.DEADLINE_EXCEEDED
            raise Unreachable(f"{method}: no answer in time" if late else f"{method}: {text}") from error
        finally:
            connection.calls -= 1
            if self._connection is not connection and not connection.calls:
                await connection.channel.close()  # not before: it would end the other calls, too

    async def _connected(self) -> _Connection:
        connection = self._connection
        if connection is not None and connection.version == self._trust.version and not self._has_expired():
            return connection
        options = [*CHANNEL_OPTIONS, ("grpc.ssl_target_name_override", self._trust.demanded(self.name))]
        channel = grpc.aio.secure_channel(self.address, self._trust.client(), options)
        made = self._connection = _Connection(channel, self._trust.version, calls=1)  # nobody else ends it meanwhile
        try:
            if connection is not None and not connection.calls:
                await connection.channel.close()
        finally:
            made.calls -= 1
        return made

    def _distrust(self, text: str) -> str:
        """What is wrong with certificates, in words, if there is no connection for that; "": something else is wrong.
        gRPC says much the same of all, and of one that the other end refuses, only that the connection ended."""
        own = self._trust.ends
        if own < time.time():
            return f"the controller's own certificate has expired, on {day(own)}"
        if not any(word in text for word in BAD_TLS):
            return ""
        if "expired" in text or self._has_expired():
            known = f", on {day(self.certificate.ends / NS)}" if self.certificate.ends else ""
            text = f"it has expired{known}: {text}"
        elif any(word in text for word in BAD_NAME):
            text = f"it is revoked, or another's, as it does not have the name {self._trust.demanded(self.name)}"
        return f"no valid certificate for `{self.name}` at {self.address}: {text}"

    def _has_expired(self) -> bool:
        return 0 < self.certificate.ends / NS < time.time()

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
Admit = Callable[[Any], Awaitable[None]]
# Who has not said who he is, or asks nothing, is cut off (ms). How many connections there are: front.py.
SERVER_OPTIONS = [
    ("grpc.max_receive_message_length", MOST_BYTES),
    ("grpc.server_handshake_timeout_ms", 5_000),
    ("grpc.max_connection_idle_ms", 60_000),
    ("grpc.max_concurrent_streams", 32),
    ("grpc.max_metadata_size", 8 << 10),
]


def service_handler(service: str, methods: dict[str, Handler], admit: Admit) -> grpc.GenericRpcHandler:
    """Serves all methods of a service of control.proto. `admit` ends the call of who may not ask, before the request is
    read: to gRPC all requests are streams, of which one message is taken."""
    found: descriptors.ServiceDescriptor = pb.DESCRIPTOR.services_by_name[service]

    def admitted(method: Handler) -> Handler:
        async def handle(requests: Any, call: Any) -> Any:
            await admit(call)
            async for request in requests:
                return await method(request, call)
            await call.abort(grpc.StatusCode.INVALID_ARGUMENT, "there is no request")

        return handle

    handlers = {
        method.name: grpc.stream_unary_rpc_method_handler(
            admitted(methods[method.name]),
            request_deserializer=GetMessageClass(method.input_type).FromString,
            response_serializer=GetMessageClass(method.output_type).SerializeToString,
        )
        for method in found.methods
    }
    return grpc.method_handlers_generic_handler(found.full_name, handlers)
