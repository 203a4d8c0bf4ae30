"""Asking a deployment's controller: its service of control.proto over its Unix socket, or over TLS as `operator`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from polysome.deploy.certificates import complaint_of, operator
from polysome.deploy.errors import DeployError
from polysome.deploy.messages import control

DEADLINE = 5.0  # s for an answer
DRAINING = 120.0  # s until nothing is held in a drained NF server
SERVICE = "/polysome.control.Controller/"


@dataclass(frozen=True)
class Endpoint:
    """`target`: as gRPC writes it; `tls`: the folder with an operator's certificate, None for a Unix socket."""

    target: str
    tls: Path | None = None


class Refused(DeployError):
    """The controller has answered, but not done what was asked: why."""


class Client:
    """One method for each of the service's; each raises DeployError if there is no answer, Refused if it is no.

    `complaint`: what is to be known of the own certificate, "" for nothing.
    """

    def __init__(self, channel: Any, where: str, complaint: str = "") -> None:
        self._channel, self._where = channel, where
        self.complaint = complaint

    def status(self, deadline: float = DEADLINE) -> Any:
        """A ControllerStatus."""
        return self._call("Status", control().Nothing(), "ControllerStatus", deadline)

    def configure(self, request: Any) -> None:
        """`request`: a ConfigureRequest."""
        self._call("Configure", request, "Nothing", DRAINING)

    def drain(self, name: str) -> None:
        self._call("Drain", control().NfName(name=name), "Nothing", DRAINING)

    def undrain(self, name: str) -> None:
        self._call("Undrain", control().NfName(name=name), "Nothing", DRAINING)

    def try_packet(self, port: int, packet: bytes) -> Any:
        """A TryResponse: what would become of this packet at this logical port now."""
        return self._call("Try", control().TryRequest(port=port, packet=packet), "TryResponse", DEADLINE)

    def _call(self, method: str, request: Any, answer: str, deadline: float) -> Any:
        import grpc

        call = self._channel.unary_unary(
            SERVICE + method,
            request_serializer=type(request).SerializeToString,
            response_deserializer=getattr(control(), answer).FromString,
        )
        try:
            return call(request, timeout=deadline)
        except grpc.RpcError as error:
            code, said = error.code(), error.details()
            if code in (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED):
                raise DeployError(f"no answer from the controller at {self._where}: {said}", _LOOK) from None
            raise Refused(f"the controller at {self._where} refused: {said} ({code.name})") from None


_LOOK = "See whether it runs, and its log."


@contextmanager
def open_client(endpoint: Endpoint) -> Iterator[Client]:
    """A client of this controller. DeployError if gRPC is not installed or a certificate cannot be read."""
    try:
        import grpc
    except ModuleNotFoundError:
        raise DeployError("Python's module `grpc` is not here", "pip install grpcio protobuf") from None
    own = ""
    if endpoint.tls is None:
        channel = grpc.insecure_channel(endpoint.target)
    else:
        trust = operator(endpoint.tls)
        options = [("grpc.ssl_target_name_override", trust.demanded("controller"))]
        channel = grpc.secure_channel(endpoint.target, trust.client(), options)
        own = complaint_of(trust)
    with channel:
        yield Client(channel, endpoint.target, own)
