"""What `polysome up` needs of the machine."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from importlib.util import find_spec

from polysome.backends.nf_cpp.build import missing as missing_compiler

PROGRAMS = {
    "ip": "iproute2",
    "ethtool": "ethtool",
    "openssl": "openssl",
    "cmake": "cmake",
    "protoc": "protobuf-compiler",
    "grpc_cpp_plugin": "protobuf-compiler-grpc",
    "pkg-config": "pkg-config",
}
LIBRARIES = {  # as pkg-config calls them
    "grpc++": "libgrpc++-dev",
    "protobuf": "libprotobuf-dev",
    "libibverbs": "libibverbs-dev",
}
MODULES = {
    "cryptography": "cryptography",
    "grpc": "grpcio",
    "google.protobuf": "protobuf",
    "prometheus_client": "prometheus-client",
}


def missing() -> list[str]:
    """Everything that is not here, each with how to get it; nothing if all is."""
    return [*_rights(), *_programs()]


def _rights() -> Iterator[str]:
    if os.geteuid() != 0:
        yield "the rights of root, for network namespaces: run it with sudo"
    elif shutil.which("unshare"):
        done = subprocess.run(["unshare", "--net", "true"], capture_output=True, text=True)
        if done.returncode != 0:
            yield "network namespaces: the system allows none here (in a container: `--privileged`)"


def _programs() -> Iterator[str]:
    for program, package in PROGRAMS.items():
        if shutil.which(program, path=f"{os.environ.get('PATH', os.defpath)}:/usr/sbin:/sbin") is None:
            yield f"`{program}`: apt install {package}"
    compiler = missing_compiler()
    if compiler is not None:
        yield compiler
    for library, package in LIBRARIES.items():
        if not _is_developed(library):
            yield f"the headers of {library}: apt install {package}"
    for module, package in MODULES.items():
        if not _has(module):
            yield f"Python's module `{module}`: pip install {package}"


def _is_developed(library: str) -> bool:
    """Are its headers here? Without pkg-config nobody knows, and that is said already."""
    program = shutil.which("pkg-config")
    return program is None or subprocess.run([program, "--exists", library]).returncode == 0


def _has(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:
        return False
