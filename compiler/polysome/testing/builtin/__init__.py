"""Properties of every NF: what holds whatever the spec says, on every engine.

Each is one module; those of a single run are `invariants.invariants()`, the others run the trace again.
"""

from __future__ import annotations

from functools import cache
from typing import Final

from polysome.testing.builtin.base import Builtin
from polysome.testing.builtin.batches import Batches
from polysome.testing.builtin.crash import NoCrash
from polysome.testing.builtin.determinism import Determinism
from polysome.testing.builtin.engines_agree import EnginesAgree
from polysome.testing.builtin.exhaustion import Exhaustion
from polysome.testing.builtin.faults import Faults
from polysome.testing.builtin.invariants import invariants
from polysome.testing.builtin.non_interference import NonInterference
from polysome.testing.builtin.poll_invariance import PollInvariance
from polysome.testing.builtin.shards import Shards
from polysome.testing.builtin.splitting import Splitting
from polysome.testing.builtin.time_jumps import TimeJumps

NO_CRASH: Final = NoCrash()


@cache
def every() -> tuple[Builtin, ...]:
    """All of them."""
    return (
        NO_CRASH,
        *invariants(),
        NonInterference(),
        Splitting(),
        TimeJumps(),
        PollInvariance(),
        Exhaustion(),
        Determinism(),
        Batches(),
        Shards(),
        EnginesAgree(),
        Faults(),
    )
