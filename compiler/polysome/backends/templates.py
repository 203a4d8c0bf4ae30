"""The one way in which files are made from templates: Jinja, `PATH.j2` for what becomes `PATH`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from polysome.resources import folder


def fill(name: str, values: Mapping[str, Any]) -> str:
    """The template `targets/<name>.j2` with these values. In HTML, what they hold is escaped."""
    top, _, path = name.partition("/")
    return filled(folder("targets") / top, path, values)


def filled(top: Path, path: str, values: Mapping[str, Any]) -> str:
    """The template `path`.j2 below a folder, which may include others there by their paths."""
    return _environment(top, path.endswith(".html")).get_template(f"{path}.j2").render(values)


def camel(name: str) -> str:
    """`load_balancer` as `LoadBalancer`."""
    return "".join(part[:1].upper() + part[1:] for part in re.split("_+", name) if part)


@cache
def _environment(top: Path, html: bool) -> Environment:
    return Environment(
        loader=FileSystemLoader(top),
        autoescape=html,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
