"""Traces that reach as much of a spec as can be reached: random ones first, then what z3 finds for the rest."""

from __future__ import annotations

import time
from importlib.util import find_spec

from polysome.testing.coverage.coverage import Coverage
from polysome.testing.coverage.searched import Search
from polysome.testing.spec import Spec

RANDOM = 0.4  # of the time, at most


def campaign(spec: Spec, seconds: float, seed: int) -> Coverage:
    """The coverage that `seconds` of searching reach, as declared and with room for a few entries.

    Stops early when everything that is not proved unreachable was reached. Without z3 there is only random traffic, and
    no proofs.
    """
    search = Search(spec, time.monotonic() + seconds)
    if find_spec("z3") is not None:
        search.prove()
    search.random(seed, seconds * RANDOM if search.proved else seconds)
    if search.proved:
        from polysome.testing.coverage.symbolic.chains import Chains  # needs z3

        Chains(search).follow()
    return search.coverage()
