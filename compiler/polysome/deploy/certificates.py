"""The certificates in an authority's folder: looked at here, signed and revoked by the bundle's script.

A bundle is deployed without Polysome, so the script is the one that signs: deploy/certificates.sh, which also says
which files there are. It needs openssl.
"""

from __future__ import annotations

import shutil
import subprocess
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from polysome.deploy.errors import DeployError
from polysome.deploy.messages import control
from polysome.resources import folder as resource

if TYPE_CHECKING:
    from cryptography import x509

    from polysome_controller.trust import Trust

AUTHORITY = "authority"
LIST = "revoked.pem"
DAY = 86_400
_OPERATOR = (
    "Name a folder with the files of `operator`, as `renew` makes them in the authority's, and with revoked.pem."
)
_WHICH = "Name the folder where deploy/certificates.sh of the bundle has made the authority."


@dataclass(frozen=True)
class Listed:
    """A certificate. Times: seconds since the epoch of UNIX."""

    name: str
    serial: str
    begins: float
    ends: float
    revoked: bool
    due: bool  # it should be renewed now

    @property
    def days(self) -> int:
        """That are left; less than 0: it has ended."""
        return int((self.ends - time.time()) // DAY)


def listed(folder: Path) -> list[Listed]:
    """The authority's certificate, then those of all names. DeployError, code 2, for a file that is none."""
    control()  # so that the controller's modules are found
    from polysome_controller.revoked import Revoked, time_of
    from polysome_controller.trust import SOON

    authority = _certificate(folder / f"{AUTHORITY}.pem")
    try:
        found = Revoked.read(_read(folder / LIST), authority)
    except ValueError:
        raise DeployError(f"{folder / LIST} is no list of revoked certificates of this authority", _WHICH, 2) from None

    def seen(name: str, certificate: x509.Certificate) -> Listed:
        begins, ends = (time_of(certificate, f"not_valid_{which}") for which in ("before", "after"))
        revoked = name != AUTHORITY and found.demanded(name) not in _names(certificate)
        due = revoked or ends - time.time() < SOON
        return Listed(name, f"{certificate.serial_number:040X}", begins, ends, revoked, due)

    parts = sorted(path for path in folder.glob("*.pem") if path.stem not in (AUTHORITY, Path(LIST).stem))
    return [seen(AUTHORITY, authority), *(seen(path.stem, _certificate(path)) for path in parts)]


def _certificate(path: Path) -> x509.Certificate:
    from cryptography import x509

    try:
        return x509.load_pem_x509_certificate(_read(path))
    except ValueError:
        raise DeployError(f"{path} is no certificate", "Bring it back, or remove it and renew.", 2) from None


def _names(certificate: x509.Certificate) -> list[str]:
    from cryptography import x509

    try:
        found = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName)
    except x509.ExtensionNotFound:
        return []
    return found.value.get_values_for_type(x509.DNSName)


def _read(path: Path, mend: str = _WHICH) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise DeployError(f"{path} cannot be read: {error.strerror}", mend, 2) from None


# ---------------------------------------------------------------- what the script does


def renew(folder: Path, names: Sequence[str], every: bool) -> str:
    """Signs anew the certificates that are due, or these, or every one; what was done, in words. DeployError."""
    return _script("renew", folder, *(["--all"] if every else names))


def revoke(folder: Path, name: str) -> str:
    """Puts a name's certificates on the list; what was done, in words. DeployError."""
    return _script("revoke", folder, name)


def _script(command: str, folder: Path, *arguments: str) -> str:
    _read(folder / f"{AUTHORITY}.pem")
    script = resource("targets") / "bundle" / "deploy" / "certificates.sh"
    shell = shutil.which("sh") or "/bin/sh"
    done = subprocess.run([shell, str(script), command, str(folder), *arguments], capture_output=True, text=True)
    if done.returncode != 0:
        text = "\n".join(_unframed(done.stderr)) or f"{script} ended with {done.returncode}"
        what, _, mend = text.rpartition("\n  mend: ")
        raise DeployError(what or mend, mend if what else "", done.returncode)
    return done.stdout.strip()


def _unframed(said: str) -> Iterator[str]:
    """As the commands print errors, the first without its `error:`."""
    for number, line in enumerate(said.strip().splitlines()):
        yield line.removeprefix("error: ") if number == 0 else line


# ---------------------------------------------------------------- who asks a controller


def operator(folder: Path) -> Trust:
    """An operator's files, as a client of the controller needs them. DeployError, code 2, if they are of no use."""
    control()  # so that the controller's modules are found
    from polysome.deploy.layout import certificates
    from polysome_controller.errors import EnvironmentProblem
    from polysome_controller.trust import Trust, day

    names = ("authority", "certificate", "key", "revoked")
    files = dict(zip(names, (str(folder / file) for file in certificates("operator")), strict=True))
    for path in files.values():
        _read(Path(path), _OPERATOR)
    try:
        trust = Trust("operator", control().Tls(**files))
    except EnvironmentProblem as error:
        raise DeployError(str(error), _OPERATOR, code=2) from None
    if trust.ends < time.time():
        text = f"the certificate {files['certificate']} has expired, on {day(trust.ends)}"
        raise DeployError(text, f"polysome certificates renew {folder}", code=2)
    return trust


def complaint_of(trust: Trust) -> str:
    """What its owner must know of its certificate; "": nothing."""
    from polysome_controller.trust import complaint

    found = complaint(trust.states()[1])
    return f"the certificate of `{trust.name}` {found}" if found else ""
