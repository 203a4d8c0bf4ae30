"""Engines that are broken on purpose: what each built-in property must find."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

Patch = pytest.MonkeyPatch


@dataclass(frozen=True)
class Mutant:
    """`property` finds it in a run of `network`. `text` is in what it says."""

    property: str
    network: str
    text: str
    apply: Callable[[Patch], None]

    @property
    def name(self) -> str:
        return f"{self.property}-{self.apply.__name__}"


MUTANTS: list[Mutant] = []


def mutant(property: str, network: str, text: str = "") -> Callable[[Callable[[Patch], None]], Callable[[Patch], None]]:
    def register(function: Callable[[Patch], None]) -> Callable[[Patch], None]:
        MUTANTS.append(Mutant(property, network, text, function))
        return function

    return register


def wrapped(patch: Patch, owner: Any, name: str, change: Callable[..., Any]) -> None:
    """`change(original, *arguments)` in place of a function or method."""
    original = getattr(owner, name)
    patch.setattr(owner, name, lambda *args, **kwargs: change(original, *args, **kwargs))
