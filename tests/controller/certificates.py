"""Certificates by openssl: EC P-256, one authority, one certificate for each name, with the name as DNS name."""

from __future__ import annotations

import subprocess
from pathlib import Path

NAMES = ("controller", "switch", "operator", "memory0", "memory1", "memory2", "nf1", "nf2")


def make_certificates(folder: Path) -> None:
    make_authority(folder, "authority")
    for name in NAMES:
        make_certificate(folder, name, "authority")
    make_authority(folder, "stranger")  # not the deployment's
    for name in ("controller", "memory0", "nf1"):
        make_certificate(folder, name, "stranger", "foreign-")


def make_authority(folder: Path, name: str) -> None:
    _openssl(
        *("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"),
        *("-subj", f"/CN={name}", "-keyout", str(folder / f"{name}.key"), "-out", str(folder / f"{name}.pem")),
    )


def make_certificate(folder: Path, name: str, authority: str, prefix: str = "") -> None:
    key, request, extensions = (folder / f"{prefix}{name}.{kind}" for kind in ("key", "csr", "ext"))
    extensions.write_text(f"subjectAltName=DNS:{name}\n")
    _openssl(
        *("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"),
        *("-subj", f"/CN={name}", "-keyout", str(key), "-out", str(request)),
    )
    _openssl(
        *("x509", "-req", "-in", str(request), "-CA", str(folder / f"{authority}.pem")),
        *("-CAkey", str(folder / f"{authority}.key"), "-CAcreateserial", "-days", "2"),
        *("-extfile", str(extensions), "-out", str(folder / f"{prefix}{name}.pem")),
    )


def _openssl(*arguments: str) -> None:
    subprocess.run(["openssl", *arguments], check=True, capture_output=True)
