"""The files under `targets` that backends fill in."""

from __future__ import annotations

import re
from collections.abc import Mapping
from string import Template

from polysome.resources import folder


def fill(name: str, values: Mapping[str, str]) -> str:
    """The file `targets/<name>.in` with every `${word}` replaced; `$$` stands for one dollar sign."""
    text = (folder("targets") / f"{name}.in").read_text(encoding="utf-8")
    return Template(text).substitute(values)


def camel(name: str) -> str:
    """`load_balancer` as `LoadBalancer`."""
    return "".join(part[:1].upper() + part[1:] for part in re.split("_+", name) if part)
