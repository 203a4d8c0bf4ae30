"""The files of a Tls, as they are in force: who this process is, and which certificates of others it takes."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import grpc
from cryptography import x509

from polysome_controller import control_pb2 as pb
from polysome_controller.errors import ConfigurationError, EnvironmentProblem
from polysome_controller.revoked import Revoked, fits, key_of, time_of

FILES = ("authority", "certificate", "key", "revoked")
MAKES = "request.sh and certificates.sh in deploy/ of the bundle make it"
MEND = "`polysome certificates renew` where the authority is, then the playbook with --tags certificates"
SOON = 30 * 86_400  # seconds before its end that a certificate is complained of
NS = 1_000_000_000
CERTIFICATE, SANS = "x509_pem_cert", "x509_subject_alternative_name"  # as gRPC calls them


class Trust:
    """Read at the start, and looked at again while the process runs. What is not valid then is not taken: what was in
    force stays, and the trouble is told. `version` is another one after each change."""

    def __init__(self, name: str, tls: pb.Tls) -> None:
        """ConfigurationError if a file is not named, EnvironmentProblem if one is of no use."""
        self.name = name
        self.version = 0
        self._paths: dict[str, str] = {what: getattr(tls, what) for what in FILES}
        self._seen = self._stamps()
        self._trouble = ""
        self._texts = {what: _read(what, path) for what, path in self._paths.items()}
        try:
            self._take(self._texts)
            self._list = self._read_list(self._texts["revoked"])
        except ValueError as error:
            raise EnvironmentProblem(str(error)) from error

    # ---- what is in force

    def client(self) -> grpc.ChannelCredentials:
        return grpc.ssl_channel_credentials(self._texts["authority"], self._texts["key"], self._texts["certificate"])

    def server(self) -> grpc.ServerCredentials:
        """Takes only clients that have a certificate of the same authority; new connections get the newest one."""
        served = self.version

        def newest() -> grpc.ServerCertificateConfiguration | None:
            nonlocal served
            if served == self.version:
                return None
            served = self.version
            return self._configuration()

        return grpc.dynamic_ssl_server_credentials(self._configuration(), newest, require_client_authentication=True)

    def demanded(self, name: str) -> str:
        """The DNS name by which a certificate proves that it is `name`'s, and not revoked."""
        return self._list.demanded(name)

    def refusal(self, context: Mapping[str, Sequence[bytes]], name: str) -> str:
        """Why the peer of a call, by gRPC's auth_context, is not `name`, or no longer; "": it is. Its common name is
        known to be."""
        ends = time_of(x509.load_pem_x509_certificate(context[CERTIFICATE][0]), "not_valid_after")
        if ends < time.time():  # TLS has looked when the connection was made, which may be long ago
            return f"the certificate of `{name}` has expired, on {day(ends)}"
        demanded = self.demanded(name)
        if demanded.encode() in context.get(SANS, ()):
            return ""
        return f"the certificate of `{name}` is revoked, or of no use: it does not have the name {demanded}"

    @property
    def ends(self) -> float:
        """When the own certificate does, in seconds since the epoch of UNIX."""
        return time_of(self.certificate, "not_valid_after")

    def states(self) -> list[pb.CertificateState]:
        """Of the authority, and of the own certificate."""
        overdue = self._list.due < time.time()
        text = f"{self._paths['revoked']} should have been signed anew by {day(self._list.due)}" if overdue else ""
        own = state(self.name, self.certificate, self._trouble or text)
        return [state("authority", self._authority), own]

    # ---- files that change

    def look(self) -> None:
        """Costs little while they are the same."""
        now = self._stamps()
        if now == self._seen and not self._trouble:
            return
        self._seen = now
        trouble = [self._attempt(self._look_at_certificate), self._attempt(self._look_at_list)]
        self._trouble = "; ".join(filter(None, trouble))

    @staticmethod
    def _attempt(step: Callable[[], None]) -> str:
        try:
            step()
        except OSError as error:
            return f"{error.filename}: {error.strerror}"
        except ValueError as error:
            return str(error)
        return ""

    def _look_at_certificate(self) -> None:
        texts = {what: Path(self._paths[what]).read_bytes() for what in ("authority", "certificate", "key")}
        if all(self._texts[what] == text for what, text in texts.items()):
            return
        before = key_of(self._authority)
        self._take({**self._texts, **texts})
        if key_of(self._authority) != before:
            self._list = Revoked()  # the lists of another authority begin anew

    def _look_at_list(self) -> None:
        text = Path(self._paths["revoked"]).read_bytes()
        found = self._read_list(text)
        if found.number < self._list.number:
            raise ValueError(f"{self._paths['revoked']} is older than the list of revoked ones that is in force")
        if found != self._list:
            self._list, self._texts["revoked"] = found, text
            self.version += 1

    def _take(self, texts: dict[str, bytes]) -> None:
        try:
            authority = x509.load_pem_x509_certificate(texts["authority"])
            certificate = x509.load_pem_x509_certificate(texts["certificate"])
            right = fits(certificate, texts["key"], authority)
        except (ValueError, TypeError):  # the second of a key with a password
            right = False
        if not right:
            path = self._paths["certificate"]
            raise ValueError(f"the certificate {path} is of no use: it, its key and the authority's do not fit")
        self._authority, self.certificate, self._texts = authority, certificate, texts
        self.version += 1

    def _read_list(self, text: bytes) -> Revoked:
        try:
            return Revoked.read(text, self._authority)
        except ValueError:
            path = self._paths["revoked"]
            raise ValueError(f"{path} is no list of revoked certificates of this authority") from None

    def _stamps(self) -> list[tuple[int, int, int]]:
        stamps = []
        for path in self._paths.values():
            try:
                found = os.stat(path)
                stamps.append((found.st_ino, found.st_size, found.st_mtime_ns))
            except OSError:
                stamps.append((0, 0, 0))
        return stamps

    def _configuration(self) -> grpc.ServerCertificateConfiguration:
        texts = self._texts
        return grpc.ssl_server_certificate_configuration([(texts["key"], texts["certificate"])], texts["authority"])


def _read(what: str, path: str) -> bytes:
    if not path:
        raise ConfigurationError(f"tls.{what}: no file is named")
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise EnvironmentProblem(f"tls.{what}: {path}: {error.strerror}; {MAKES}") from error


def state(name: str, certificate: x509.Certificate, trouble: str = "") -> pb.CertificateState:
    ends, serial = time_of(certificate, "not_valid_after"), f"{certificate.serial_number:040X}"
    return pb.CertificateState(name=name, ends=int(ends) * NS, serial=serial, trouble=trouble)


def complaint(state: pb.CertificateState, mend: str = "") -> str:
    """What an operator must know of a certificate, and how to mend it; "": nothing."""
    left = state.ends / NS - time.time()
    if left >= SOON:
        return state.trouble
    end = day(state.ends / NS)
    text = f"ended on {end}" if left < 0 else f"ends on {end}, in {int(left // 86_400)} days"
    return "; ".join(filter(None, (f"{text}: {mend}" if mend else text, state.trouble)))


def day(seconds: float) -> str:
    """In UTC."""
    return time.strftime("%Y-%m-%d", time.gmtime(seconds))
