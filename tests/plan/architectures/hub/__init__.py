"""An architecture as one folder: what `whole` does, for another reason."""

from __future__ import annotations

from polysome.analysis.layout import Carry
from polysome.ir import program as ir
from polysome.plan.architectures.base import Architecture
from polysome.plan.kinds import all_whole
from polysome.plan.model import Frames
from polysome.plan.site import Site


class Hub(Architecture):
    name = "hub"
    about = "a hub splits nothing"

    def frames(self, program: ir.Program, site: Site, carry: Carry, mean: int) -> list[Frames]:
        return all_whole(program, mean, self.about)


ARCHITECTURE = Hub()
