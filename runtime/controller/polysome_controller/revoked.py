"""Certificates and the authority's list of revoked ones, as the library `cryptography` reads them.

What a serial number says is written down in deploy/certificates.sh of a bundle, which makes both.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

KEY = (serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)
SERIAL, TAG = 20, 9  # bytes: of a serial number, and of a name's digest in it


@dataclass(frozen=True)
class Revoked:
    """How often each name was revoked. `number`: higher than that of every list before; `due`: when there should be a
    new one, in seconds since the epoch of UNIX."""

    number: int = 0
    due: float = 0
    times: Mapping[bytes, int] = field(default_factory=dict)

    @classmethod
    def read(cls, pem: bytes, authority: x509.Certificate) -> Revoked:
        """ValueError if it is no list that the authority signed."""
        found = x509.load_pem_x509_crl(pem)
        if not found.is_signature_valid(authority.public_key()):  # type: ignore[arg-type]
            raise ValueError("the signature is not the authority's")
        try:
            number = found.extensions.get_extension_for_class(x509.CRLNumber).value.crl_number
        except x509.ExtensionNotFound as error:
            raise ValueError("it has no number") from error
        times: dict[bytes, int] = {}
        for entry in found:
            serial = entry.serial_number.to_bytes(SERIAL, "big")
            if serial[0] == 1:  # others certificates.sh does not give
                name, generation = serial[1 : 1 + TAG], int.from_bytes(serial[1 + TAG : 3 + TAG], "big")
                times[name] = max(times.get(name, 0), generation + 1)
        return cls(number, time_of(found, "next_update"), times)

    def demanded(self, name: str) -> str:
        """The DNS name that a certificate of `name` must have beside it."""
        return f"{name}.g{self.times.get(hashlib.sha256(name.encode()).digest()[:TAG], 0)}"


def time_of(thing: Any, what: str) -> float:
    """A time of a certificate or list, in seconds since the epoch of UNIX; 0: it has none."""
    found: datetime | None = getattr(thing, f"{what}_utc", None) or getattr(thing, what)  # the first since 42.0
    if found is None:
        return 0.0
    return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()


def key_of(certificate: x509.Certificate) -> bytes:
    """Its public key."""
    return certificate.public_key().public_bytes(*KEY)


def fits(certificate: x509.Certificate, key: bytes, authority: x509.Certificate) -> bool:
    """Is the key its, and did the authority sign it? ValueError if the key is none."""
    own, signer = serialization.load_pem_private_key(key, None).public_key(), authority.public_key()
    algorithm = certificate.signature_hash_algorithm
    if not isinstance(signer, ec.EllipticCurvePublicKey) or algorithm is None:
        return False
    try:
        signer.verify(certificate.signature, certificate.tbs_certificate_bytes, ec.ECDSA(algorithm))
    except InvalidSignature:
        return False
    return key_of(certificate) == own.public_bytes(*KEY)
