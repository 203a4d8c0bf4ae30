"""What an architecture is: where parse, decide and apply happen, and where the packet waits (DESIGN section 16)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import ClassVar

from polysome.analysis.layout import Carry
from polysome.ir import program as ir
from polysome.plan.limits import Limits
from polysome.plan.model import Frames, Mix, Options, Store, Traffic, Window
from polysome.plan.site import Site
from polysome.plan.way import Way


class Architecture(ABC):
    """`name`, that of its folder, is what `--architecture` and a site file call it; `about`: what it does, in a line.

    `least_servers`: of RDMA servers that it needs; 0: it has no use for any.
    """

    name: ClassVar[str]
    about: ClassVar[str]
    least_servers: ClassVar[int] = 0

    @abstractmethod
    def frames(self, program: ir.Program, site: Site, carry: Carry, mean: int) -> list[Frames]:
        """The ways that the switch splits, in their order, then what goes whole and why; `mean`: bytes of a packet."""

    def ways(self, program: ir.Program, site: Site, carry: Carry) -> tuple[Way, ...]:
        """Those that the switch splits, numbered from 1, as `frames` lists them."""
        return ()

    def window(self, site: Site, split: Sequence[Frames]) -> Window | None:
        """Which packets on ways are split, by their length; None: none is."""
        return None

    def store(self, limits: Limits, options: Options, load: Traffic, split: Sequence[Frames]) -> Store | None:
        """Where packets of this program wait on this site; None if all go whole.

        SpecError, by `limits`, which has both, if there is no room for what is asked.
        """
        return None

    def servers(self, site: Site, load: Traffic, mixed: Mix, window: Window | None) -> int:
        """How many RDMA servers like the site's first one such traffic takes, packets in `window` being split."""
        return 0

    def unused(self, site: Site) -> Iterator[str]:
        """Notes on a plan by which all packets go whole."""
        return iter(())
