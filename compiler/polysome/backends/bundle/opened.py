"""A bundle that was written before, as it is on disk."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from polysome.backends.includes import with_included
from polysome.backends.manifest import MANIFEST
from polysome.resources import architectures

_ALWAYS = ("runtime/control/control.cmake", "runtime/control/control.proto")


class NoBundle(Exception):
    """A folder that is no bundle, or is not as it was written."""


@dataclass(frozen=True)
class Bundle:
    """`about`: its manifest; `digests`: SHA-256 by path, as the files are."""

    folder: Path
    about: Mapping[str, Any]
    digests: Mapping[str, str]

    @property
    def machines(self) -> Mapping[str, str]:
        """The role of each."""
        found: dict[str, str] = self.about["machines"]
        return found

    def json(self, path: str) -> Any:
        """A file's value, None if there is no such file."""
        return json.loads((self.folder / path).read_bytes()) if path in self.digests else None

    def below(self, *folders: str) -> list[str]:
        return [path for path in self.digests if path.startswith(tuple(f"{name}/" for name in folders))]

    def program(self, sources: Iterable[str]) -> dict[str, str]:
        """The digests of all that a program is built from: its own files, and the runtime's that they include."""
        top = self.folder.resolve()

        def folders(path: Path) -> list[Path]:
            return [top / "runtime", *([top / "nf"] if path.is_relative_to(top / "nf") else [])]

        def ours(path: Path) -> bool:
            return path.is_relative_to(top) and path.relative_to(top).as_posix() in self.digests

        found = with_included(filter(ours, (top / path for path in (*sources, *_ALWAYS))), folders, ours)
        names = (path.relative_to(top).as_posix() for path in found)
        return {name: self.digests[name] for name in sorted(names)}


def open_bundle(folder: Path) -> Bundle:
    """Reads the manifest and checks every file. NoBundle names the one at fault; OSError as the system does."""
    path = folder / MANIFEST
    if not path.is_file():
        raise NoBundle(f"{folder} is no bundle: it has no {MANIFEST}")
    try:
        about = json.loads(path.read_text(encoding="utf-8"))
        known = about["kind"] == "bundle" and isinstance(about["machines"], dict)
        digests = {str(name): str(digest) for name, digest in about["files"].items()}
    except (ValueError, KeyError, TypeError, AttributeError):
        known = False
    if not known:
        raise NoBundle(f"{folder} is no bundle: its {MANIFEST} is of something else")
    if about.get("architecture") not in architectures():
        raise NoBundle(f"{folder} is a bundle of another Polysome: its architecture is none of this one")
    for name, digest in digests.items():
        file = folder / name
        if not file.is_file():
            raise NoBundle(f"{folder} is not as it was written: {name} is missing")
        if hashlib.sha256(file.read_bytes()).hexdigest() != digest:
            raise NoBundle(f"{folder} is not as it was written: {name} was changed")
    return Bundle(folder, about, digests)
