"""Traces that reach as much of a spec as can be reached: random ones, and what z3 finds where chance does not."""

from __future__ import annotations

import time
from collections.abc import Iterator
from importlib.util import find_spec

from polysome.testing.coverage.coverage import Coverage
from polysome.testing.coverage.searched import Search
from polysome.testing.spec import Spec

FIRST = 0.4  # of the time, at most, before z3 is asked
DULL = 40  # random traces in a row that reach nothing new: z3 goes on
BESIDE = 0.25  # of z3's time, for random traffic beside it: some kinds of state z3 knows nothing about


def campaign(spec: Spec, seconds: float, seed: int) -> Coverage:
    """The coverage that `seconds` of searching reach, as declared and with room for a few entries.

    Stops early when everything that is not proved unreachable was reached. Without z3 there is only random traffic, and
    no proofs.
    """
    search = Search(spec, time.monotonic() + seconds)
    if find_spec("z3") is not None:
        search.prove()
    traces = search.random(seed)
    if search.proved:
        from polysome.testing.coverage.symbolic.chains import Chains  # needs z3

        _until_dull(search, traces, seconds * FIRST)
        begun = time.monotonic()
        for _ in Chains(search).turns():
            took = time.monotonic() - begun
            _until(search, traces, time.monotonic() + took * BESIDE)
            begun = time.monotonic()
    _until(search, traces, search.deadline)
    return search.coverage()


def _until_dull(search: Search, traces: Iterator[bool], seconds: float) -> None:
    until, dull = time.monotonic() + seconds, 0
    while not search.over and time.monotonic() < until and dull < DULL:
        dull = 0 if next(traces) else dull + 1


def _until(search: Search, traces: Iterator[bool], until: float) -> None:
    while not search.over and time.monotonic() < until:
        next(traces)
