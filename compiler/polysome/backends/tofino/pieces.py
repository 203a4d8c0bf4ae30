"""What an architecture brings to the switch's program: `p4.py` in its folder, with a `P4`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from polysome.backends.tofino.parser_states import NamedSum
from polysome.ir import program as ir
from polysome.plan.sizes import Addresses, Sizes
from polysome.plan.way import Way


@dataclass(frozen=True)
class Split:
    """What the skeleton knows of packets that are split. `sums`: the checksums of each way, by its number; `flags`: for
    each the bit that says whether it is updated; `guarded`: where Ethernet's addresses are, if packets have some."""

    parser: ir.Parser
    ways: tuple[Way, ...]
    sizes: Sizes
    addresses: Addresses
    sums: Mapping[int, tuple[NamedSum, ...]]
    flags: Mapping[NamedSum, str]
    guarded: Mapping[str, str] | None


class Pieces(ABC):
    """Its templates are in `targets/tofino`, in a folder of the architecture's name: each fills blocks of the
    skeleton's file of the same name."""

    @abstractmethod
    def values(self, split: Split) -> Mapping[str, Any]:
        """What they need beside what the skeleton has; they go before the skeleton's of the same name."""
