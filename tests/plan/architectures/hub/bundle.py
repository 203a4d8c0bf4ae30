"""What its bundles ask for: somebody who knows where the hub stands."""

from __future__ import annotations

from collections.abc import Iterable

from polysome.backends.bundle.parts import Parts
from polysome.plan.design import Design


class Cellar(Parts):
    def requires(self, design: Design) -> dict[str, str]:
        return {"hub": f"for {design.program.name}"}

    def cards(self, design: Design) -> Iterable[tuple[str, str]]:
        yield str(len(design.program.ports)), "ports of the hub"


BUNDLE = Cellar()
