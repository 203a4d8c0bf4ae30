"""Writing a folder of generated files, so that nothing a user wrote or changed is lost.

`manifest.json` in the folder names every file that was written, with its SHA-256. A file is overwritten or removed only
if it is still as the manifest says.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Any

MANIFEST = "manifest.json"


class NotOurs(Exception):
    """A file in the way that was not written here, or was changed since."""

    def __init__(self, path: Path, why: str) -> None:
        super().__init__(f"{path} {why}")
        self.path = path


def write(target: Path, files: Mapping[str, bytes], about: Mapping[str, Any]) -> None:
    """Make `target` hold exactly these generated files, and the manifest with `about` in it. Scripts may be run.

    Raises NotOurs, before anything is written, if a file stands in the way; OSError as the system does.
    """
    before = _before(target)
    for name, data in files.items():
        path = target / name
        if path.is_symlink() or (path.exists() and not path.is_file()):
            raise NotOurs(path, "is no plain file")
        if path.is_file():
            found = _digest(path.read_bytes())
            if found not in (_digest(data), before.get(name)):
                changed = (
                    "was changed since it was written" if name in before else "was not written by `polysome compile`"
                )
                raise NotOurs(path, changed)
    for name in sorted(set(before) - set(files)):
        path = target / name
        if path.is_file() and not path.is_symlink() and _digest(path.read_bytes()) == before[name]:
            path.unlink()
    for name, data in files.items():
        path = target / name
        if not path.is_file() or path.read_bytes() != data:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        if data.startswith(b"#!"):
            path.chmod(path.stat().st_mode | 0o111)
    listed = {name: _digest(data) for name, data in sorted(files.items())}
    text = json.dumps({**about, "files": listed}, indent=2) + "\n"
    (target / MANIFEST).write_text(text, encoding="utf-8")


def _before(target: Path) -> dict[str, str]:
    """The digests of what was written the last time, by name."""
    path = target / MANIFEST
    if not path.exists():
        return {}
    try:
        found: Any = json.loads(path.read_text(encoding="utf-8"))["files"]
        digests = {str(name): str(digest) for name, digest in found.items()}
    except (ValueError, KeyError, TypeError, AttributeError):
        raise NotOurs(path, "is not a manifest of `polysome compile`") from None
    inside = [name for name in digests if not (PurePosixPath(name).is_absolute() or ".." in PurePosixPath(name).parts)]
    return {name: digests[name] for name in inside}


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
