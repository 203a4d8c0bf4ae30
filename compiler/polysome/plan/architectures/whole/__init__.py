"""The NF server gets every packet whole, and the switch only forwards: what all others are compared with."""

from __future__ import annotations

from polysome.analysis.layout import Carry
from polysome.ir import program as ir
from polysome.plan.architectures.base import Architecture
from polysome.plan.kinds import all_whole
from polysome.plan.model import Frames
from polysome.plan.site import Site


class Whole(Architecture):
    """No memory server, no parking: switch and NF servers."""

    name = "whole"
    about = "the NF gets every packet whole, and the switch only forwards"

    def frames(self, program: ir.Program, site: Site, carry: Carry, mean: int) -> list[Frames]:
        return all_whole(program, mean, f"the architecture `{self.name}` splits no packet")


ARCHITECTURE = Whole()
