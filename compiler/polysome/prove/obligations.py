"""All that is proved of a switch's program, in order."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from polysome.prove.case import Case
from polysome.prove.fields import fields
from polysome.prove.merge import merge
from polysome.prove.order import order
from polysome.prove.park import park
from polysome.prove.probes import probes
from polysome.prove.requests import requests
from polysome.prove.result import Result, Status
from polysome.prove.returned import returned
from polysome.prove.split import converse, forward
from polysome.prove.state.state import state
from polysome.prove.stations import stations
from polysome.prove.traffic import Traffic, traffic
from polysome.prove.whole import whole


@dataclass(frozen=True)
class Obligation:
    """`promise`: what holds if it is proved, for people; `about`: what its results are about, in the plural."""

    name: str
    promise: str
    about: str
    results: Callable[[Traffic], Iterator[Result]]


OBLIGATIONS = (
    Obligation("forward", "what is split, the spec's parser takes apart so", "paths of the parser", forward),
    Obligation("converse", "what the plan says is split is split", "ways of headers", converse),
    Obligation("whole", "all else goes to the NF whole and unchanged", "passes of the switch", whole),
    Obligation("order", "packets of one order class take one queue pair", "pairs of kinds", order),
    Obligation("park", "a packet is read from where it was written", "paths of the parser", park),
    Obligation("requests", "memory servers are asked as the protocol says", "passes that ask", requests),
    Obligation("fields", "the NF gets the bytes that its program names", "paths, classes", fields),
    Obligation("merge", "it leaves with the NF's edits, as `apply` says", "paths of the parser", merge),
    Obligation("stations", "only answers count, all else is passed on", "passes of the switch", stations),
    Obligation("returned", "what the NF has whole, or makes, leaves as it says", "passes of the switch", returned),
    Obligation("probes", "only the controller names the queue pair to park on", "passes of the switch", probes),
    Obligation("state", "slots, cells, READs and PSNs are right at all times", "steps of registers", state),
)


def prove(case: Case, seconds: float) -> Iterator[Result]:
    """The results, as they come. What is not looked at within `seconds` is undecided: one result an obligation."""
    until = time.monotonic() + seconds
    with _without_collector():
        seen = traffic(case)
        for obligation in OBLIGATIONS:
            for result in obligation.results(seen):
                yield result
                if time.monotonic() > until:
                    yield Result(obligation.name, "the rest", Status.undecided, f"not looked at within {seconds:g} s")
                    break


@contextmanager
def _without_collector() -> Iterator[None]:
    """Looking for cycles among so many terms and worlds takes a seventh of the time, and there are next to none."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()
