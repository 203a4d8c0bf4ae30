"""What a bundle is made from."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from polysome.ir import program as ir
from polysome.plan.design import Design

SITE = "site.toml"  # what the site file is called in a bundle, whatever it was called


@dataclass(frozen=True)
class Inputs:
    """`config`: the blob that NFs read. `sources`: the files that were read, by path in `source/`.

    `about`: what of the inputs people compare, for the manifest: params, fields that matter. `rows`: the config, as
    text. `samples`: ports and packets that get through with it. `proof`: how it is known that the P4 program does what
    the spec says.
    """

    design: Design
    config: bytes
    sources: Mapping[str, bytes]
    about: Mapping[str, Any]
    rows: Mapping[str, Sequence[str]]
    samples: Sequence[tuple[int, bytes]]
    proof: str


def sources(program: ir.Program, site: Path, configs: Mapping[str, Path]) -> dict[str, bytes]:
    """The spec, its modules that are not the standard library's, the site and the config files, by path in `source/`.

    `configs`: the config files, by that path. Raises OSError as the system does.
    """
    top = Path(program.file).resolve().parent
    found = {}
    for name in program.sources:
        if name == program.file or not (library(name) or name.startswith("--param ")):
            path = Path(name).resolve()
            inside = path.relative_to(top).as_posix() if path.is_relative_to(top) else path.name
            found[inside] = path.read_bytes()
    found[SITE] = site.read_bytes()
    for name, path in configs.items():
        found[name] = path.read_bytes()
    return dict(sorted(found.items()))


def library(name: str) -> bool:
    """Is this source one of the standard library?"""
    return name.startswith("stdlib/")


def library_digests(program: ir.Program) -> dict[str, str]:
    """SHA-256 of the standard library's files that the spec uses."""
    used = {name: source.text for name, source in program.sources.items() if library(name) and name != program.file}
    return {name: hashlib.sha256(text.encode()).hexdigest() for name, text in sorted(used.items())}
