"""What an operator asks of the controller on its own machine: `python3 -m polysome_controller.operate SOCKET WHAT ...`.

drain NF-SERVER      no traffic for it: another one takes over; ends when nothing is held in it any more
undrain NF-SERVER    it may have traffic again
configure FILE       this config of the NF is in force on every NF server, or on none

Needs the right to open the controller's socket (ControllerConfig.admin): root. Exit codes: 0 done, 2 the command line
is wrong or the controller refuses, 3 there is no controller or no file.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Sequence
from pathlib import Path

import grpc

from polysome_controller import control_pb2 as pb

SERVICE = "/polysome.control.Controller/"
DEADLINE = 120.0  # s; a drain takes as long as the NF holds packets
CODES = {grpc.StatusCode.UNAVAILABLE: 3, grpc.StatusCode.DEADLINE_EXCEEDED: 3}
Request = pb.NfName | pb.ConfigureRequest


def main(arguments: Sequence[str]) -> int:
    if len(arguments) != 3 or arguments[1] not in ("drain", "undrain", "configure"):
        print(f"usage: {(__doc__ or '').splitlines()[0].split('`')[1]}\n{__doc__}", file=sys.stderr)
        return 2
    socket, what, about = arguments
    try:
        request = _request(what, about)
    except OSError as error:
        print(f"operate: error: {about} cannot be read: {error.strerror}", file=sys.stderr)
        return 3
    with grpc.insecure_channel(f"unix:{socket}") as channel:
        call = channel.unary_unary(
            SERVICE + what.capitalize(),
            request_serializer=type(request).SerializeToString,
            response_deserializer=pb.Nothing.FromString,
        )
        try:
            call(request, timeout=DEADLINE)
        except grpc.RpcError as error:
            print(f"operate: error: {what} {about}: {error.details()} ({error.code().name})", file=sys.stderr)
            return CODES.get(error.code(), 2)
    return 0


def _request(what: str, about: str) -> Request:
    if what != "configure":
        return pb.NfName(name=about)
    config = Path(about).read_bytes()
    return pb.ConfigureRequest(version=hashlib.sha256(config).hexdigest(), config=config)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
