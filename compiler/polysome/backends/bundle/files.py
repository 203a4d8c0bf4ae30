"""The files under `targets/bundle`, whose folders are those of a bundle: fixed ones, and templates (`.j2`)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from polysome.backends.templates import fill
from polysome.resources import folder

TEMPLATES = "bundle"


def fixed(path: str) -> bytes:
    """The file, as it is."""
    return (folder("targets") / TEMPLATES / path).read_bytes()


def filled(path: str, values: Mapping[str, Any]) -> bytes:
    """The template `path`.j2 with these values. In HTML, what they hold is escaped."""
    return fill(f"{TEMPLATES}/{path}", values).encode()


def as_json(message: Any) -> bytes:
    """JSON for people and programs, the members in the order given."""
    return (json.dumps(message, indent=2, ensure_ascii=False) + "\n").encode()


def runtime(*parts: str) -> dict[str, bytes]:
    """Headers, sources and CMake modules of folders of `runtime`, by path in a bundle."""
    top = folder("runtime")
    kinds = {".hpp", ".cpp", ".proto", ".cmake"}
    found = [path for part in parts for path in sorted((top / part).rglob("*")) if path.suffix in kinds]
    return {f"runtime/{path.relative_to(top).as_posix()}": path.read_bytes() for path in found}


def python(target: str) -> dict[str, bytes]:
    """The controller's code, and what it knows of the protocol, by path in a bundle, below `target`."""
    controller = folder("runtime") / "controller" / "polysome_controller"
    protocol = folder("runtime") / "protocol" / "polysome_protocol"
    paths = [*controller.rglob("*.py"), *protocol.glob("*.py"), *protocol.glob("*.toml")]
    return {f"{target}/{path.parent.name}/{path.name}": path.read_bytes() for path in sorted(paths)}
