"""Traffic that tries to break a network function: Hypothesis strategies, all derived from its spec.

    from hypothesis import given
    from polysome.testing import spec, traffic

    NAT = spec.load("nat.nf")

    @given(traffic.traces(NAT.small()))
    def test_something(trace):
        ...

What a trace holds follows from the typed program: frames for every path through its parser, and on both sides of every
condition on these paths (`boundary_packets` lists them); field values around everything that it compares fields with;
few hosts, so that flows go on and come back; answers to packets as they left the NF, and errors that quote them; times
around every timeout, timer and token refill; config of every shape, which changes while the NF runs. A share of the
frames is damaged.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, Phase, Verbosity, given, settings
from hypothesis import seed as seeded_by
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from polysome.engines.trace import Trace
from polysome.testing.spec import Spec
from polysome.testing.traffic.boundaries import BoundaryPacket, boundary_packets, boundary_pieces, boundary_trace
from polysome.testing.traffic.build import configuration, lone_frame, trace_of
from polysome.testing.traffic.captured import build_captured, read

__all__ = [
    "BoundaryPacket",
    "boundary_packets",
    "boundary_pieces",
    "boundary_trace",
    "configs",
    "packets",
    "seeded",
    "traces",
]

MOST = 128
"""Packets in a trace at most: Hypothesis limits what it draws for one example."""

_FIRST = 160  # bytes of choices for config and mood
_BLOCK = 54  # bytes of choices for a packet
_BATCH = 64  # traces that `seeded` makes at a time


def traces(spec: Spec, *, most: int = 24, captures: Sequence[Path] = ()) -> SearchStrategy[Trace]:
    """Traces of 1 to `most` (at most 128) packets, with config and its changes.

    Config items that `spec.config` has begin with that value. With `captures` (pcap or pcapng; Ethernet), half of the
    traces are windows of their packets, brought together on few hosts and mutated. Drawing takes about 10 ms for 24
    packets, the interpreter's work included: it runs along, so that packets can answer what left. ValueError if `most`
    is out of range; CaptureError or OSError, at once, if a capture cannot be read.
    """
    if not 1 <= most <= MOST:
        raise ValueError(f"most is {most}, but traces have 1 to {MOST} packets")
    packets = _blocks(most)
    first = st.binary(min_size=_FIRST, max_size=_FIRST)
    made = st.builds(trace_of, st.just(spec), first, packets)
    if not captures:
        return made
    recorded = read(tuple(captures))
    return st.one_of(made, st.builds(build_captured, st.just(spec), st.just(recorded), first, packets))


def packets(spec: Spec) -> SearchStrategy[bytes]:
    """Ethernet frames for the NF: mostly whole and right, of every parse class; some damaged."""
    first, block = st.binary(min_size=_FIRST, max_size=_FIRST), st.binary(min_size=_BLOCK, max_size=_BLOCK)
    return st.builds(lone_frame, st.just(spec), first, block)


def configs(spec: Spec) -> SearchStrategy[Mapping[str, Any]]:
    """A value for every config item, as `config.load.load_config` gives it; those of `spec.config` where it has one."""
    return st.builds(configuration, st.just(spec), st.binary(min_size=_FIRST, max_size=_FIRST))


def seeded(
    spec: Spec, seed: int, *, most: int = 24, captures: Sequence[Path] = (), count: int | None = None
) -> Iterator[Trace]:
    """`count` traces (None: without end) from `traces`, outside of any test; the same ones for the same arguments."""
    strategy = traces(spec, most=most, captures=captures)
    made, batch = 0, 0
    while count is None or made < count:
        wanted = _BATCH if count is None else min(_BATCH, count - made)
        for trace in _batch(strategy, f"{seed}:{batch}", wanted):
            yield trace
            made += 1
        batch += 1


def _batch(strategy: SearchStrategy[Trace], name: str, wanted: int) -> list[Trace]:
    """Traces that Hypothesis generates from a seed; it may stop early, never before the first."""
    found: list[Trace] = []

    @seeded_by(name)
    @settings(
        max_examples=wanted,
        phases=[Phase.generate],
        database=None,
        deadline=None,
        verbosity=Verbosity.quiet,
        suppress_health_check=list(HealthCheck),
    )
    @given(strategy)
    def collect(trace: Trace) -> None:
        found.append(trace)

    try:
        collect()
    except AssertionError as error:
        if isinstance(error.__context__, KeyboardInterrupt):  # Hypothesis's own, of an interrupt as it begins
            raise error.__context__ from None
        raise
    return found[:wanted]


def _blocks(most: int) -> SearchStrategy[list[bytes]]:
    """One block per packet: a third of the traces short, the others near `most`."""
    block = st.binary(min_size=_BLOCK, max_size=_BLOCK)
    short = st.lists(block, min_size=1, max_size=most)
    long = st.lists(block, min_size=max(1, most * 2 // 3), max_size=most)
    return st.one_of(short, long, long.map(list))
