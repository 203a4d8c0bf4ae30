"""Certificates for tests of all parts, made as a deployment's are: by the scripts of its bundle, in one folder."""

from __future__ import annotations

import datetime
import shutil
import subprocess
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

SCRIPTS = Path(__file__).parents[1] / "targets" / "bundle" / "deploy"


class Authority:
    """`folder` has authority.pem, revoked.pem, and NAME.pem and NAME.key of each name."""

    def __init__(self, folder: Path, *names: str) -> None:
        self.folder = folder
        deploy = folder / "deploy"
        deploy.mkdir(parents=True)
        for name in ("certificates.sh", "request.sh"):
            shutil.copy(SCRIPTS / name, deploy)
        (deploy / "bundle.conf").write_text("NF=tested\nACCOUNT=\n")
        self.certify(*names)

    @classmethod
    def opened(cls, folder: Path) -> Authority:
        """One that others have made."""
        found = cls.__new__(cls)
        found.folder = folder
        return found

    def days(self, name: str) -> float:
        """That are left of a certificate."""
        left = self.certificate(name).not_valid_after_utc - datetime.datetime.now(datetime.UTC)
        return left / datetime.timedelta(days=1)

    def certify(self, *names: str) -> None:
        """What is missing of these names' keys and certificates, and what else is due."""
        if names:
            self.run("request.sh", str(self.folder), *names)
        self.run("certificates.sh", "renew", str(self.folder))

    def renew(self, *names: str) -> None:
        self.run("certificates.sh", "renew", str(self.folder), *(names or ("--all",)))

    def revoke(self, name: str) -> None:
        self.run("certificates.sh", "revoke", str(self.folder), name)

    def run(self, script: str, *arguments: str) -> str:
        done = subprocess.run(
            ["sh", str(self.folder / "deploy" / script), *arguments], capture_output=True, text=True, timeout=60
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def read(self, file: str) -> bytes:
        return (self.folder / file).read_bytes()

    def certificate(self, name: str) -> x509.Certificate:
        return x509.load_pem_x509_certificate(self.read(f"{name}.pem"))

    def serial(self, name: str) -> str:
        return f"{self.certificate(name).serial_number:040X}"

    def ending(self, name: str, days: float) -> None:
        """In place of its certificate, one that ends, or has ended, so many days from now, of the same key."""
        certificate = self.certificate(name)
        end = datetime.datetime.now(datetime.UTC) + datetime.timedelta(days=days)
        made = x509.CertificateBuilder(
            certificate.issuer, certificate.subject, certificate.public_key(), certificate.serial_number
        )
        made = made.not_valid_before(end - datetime.timedelta(days=90)).not_valid_after(end)
        for extension in certificate.extensions:
            made = made.add_extension(extension.value, extension.critical)
        self.replace(f"{name}.pem", made.sign(self.key(), hashes.SHA256()))

    def list_due(self, days: float) -> None:
        """In place of the list of revoked certificates, the same that should have a next one so many days from now."""
        found = x509.load_pem_x509_crl(self.read("revoked.pem"))
        due = datetime.datetime.now(datetime.UTC) + datetime.timedelta(days=days)
        made = x509.CertificateRevocationListBuilder(found.issuer, due - datetime.timedelta(days=90), due)
        for extension in found.extensions:
            made = made.add_extension(extension.value, extension.critical)
        for entry in found:
            made = made.add_revoked_certificate(entry)
        self.replace("revoked.pem", made.sign(self.key(), hashes.SHA256()))

    def key(self) -> ec.EllipticCurvePrivateKey:
        found = serialization.load_pem_private_key(self.read("authority.key"), None)
        assert isinstance(found, ec.EllipticCurvePrivateKey)
        return found

    def replace(self, file: str, thing: x509.Certificate | x509.CertificateRevocationList | bytes) -> None:
        """At once, as all that replaces such files does."""
        data = thing if isinstance(thing, bytes) else thing.public_bytes(serialization.Encoding.PEM)
        new = self.folder / f"{file}.new"
        new.write_bytes(data)
        new.replace(self.folder / file)
