"""Every example over every real capture (DESIGN section 9: conservation, checksums stay valid; interpreter ≡ C++).

253 captures hold tunnels, fragments, malformed and fuzzed packets, trailers, frames shorter than their IP length, jumbo
frames, backward and equal times. Without the captures' folder these tests are skipped.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest
from tests.semantics.corpus import CAPTURES, EXAMPLES, Run, runs
from tests.semantics.verify import Reassembly, Verdicts, verify

from polysome.backends.nf_cpp.build import build, missing
from polysome.backends.nf_cpp.config_blob import encode
from polysome.backends.nf_cpp.library import Kind, Library, Running, load
from polysome.backends.nf_cpp.sizes import sizes
from polysome.ir import program as ir

LARGE = ("nat", "telemetry")  # their state, made for each capture, takes longer than to optimise the program

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not CAPTURES, reason="the folder of real captures is not here"),
]


@pytest.fixture(scope="module", params=EXAMPLES)
def ran(request: pytest.FixtureRequest) -> list[Run]:
    """The example's runs, which all tests here look at."""
    return list(runs(request.param))


def test_every_packet_is_accounted_for(ran: list[Run]) -> None:
    assert sum(run.counters.packets_in for run in ran) > 40_000
    for run in ran:
        c = run.counters
        assert c.packets_in == len(run.arrivals), run.where
        assert c.packets_in == c.sent + sum(c.dropped.values()) + run.held, run.where
        assert len({note[3] for note in run.noted if note[0] == Kind.left}) == c.sent, run.where
        times = [note[2] for note in run.noted if note[0] in (Kind.left, Kind.emitted)]
        assert times == sorted(times), run.where
        assert_checksums(run)


@pytest.mark.skipif(missing() is not None, reason=str(missing()))
def test_cpp_does_what_the_interpreter_does(ran: list[Run]) -> None:
    """The same packets at the same ports and times, the same drops, all in the same order."""
    for run in ran:
        found = native(run)
        if found != run.noted:
            wrong = next((pair for pair in zip(run.noted, found, strict=False) if pair[0] != pair[1]), None)
            pytest.fail(f"{run.where}, interpreter and C++: {wrong or (len(run.noted), len(found))}")


def native(run: Run) -> list[tuple[Any, ...]]:
    """What the C++ makes of the capture, as `Run.noted`."""
    program = run.setting.program
    library, room = _built(program)
    found: list[tuple[Any, ...]] = []
    with Running(library, encode(program, run.values), room) as running:
        running.arrive(run.arrivals)
        running.finish()
        for kind, number, time, order, data in running.records():
            if kind == Kind.left:
                found.append((kind, number, time, order, data))
            elif kind == Kind.emitted:
                found.append((kind, number, time, data))
            elif kind == Kind.dropped:
                found.append((kind, library.reason(number), order))
    return found


@cache
def _built(program: ir.Program) -> tuple[Library, list[int]]:
    with pytest.MonkeyPatch.context() as patch:
        if program.name in LARGE:
            patch.setenv("CXXFLAGS", "-O1")
        return load(build(program)), list(sizes(program))


def _left(run: Run) -> dict[int, list[bytes]]:
    """What left, by the number of the packet that arrived."""
    left: dict[int, list[bytes]] = {}
    for note in run.noted:
        if note[0] == Kind.left:
            left.setdefault(note[3], []).append(note[4])
    return left


def assert_checksums(run: Run) -> None:
    """Right on the way in: right on the way out, also of fragments put together; emitted ones are right."""
    before, after, left = Reassembly(), Reassembly(), _left(run)
    for number, copies in left.items():
        arrived = run.arrivals[number][2]
        old = verify(arrived)
        before.add(number, old)
        for data in set(copies):
            new = verify(data)
            after.add(number, new)
            _compare(f"{run.where}, packet {number}", old, new, _shift(arrived, data))
    outcome = after.datagrams()
    for numbers, right in before.datagrams().items():
        if right and all(n in left for n in numbers) and numbers in outcome:
            assert outcome[numbers], f"{run.where}: the datagram of packets {numbers} is wrong after reassembly"
    for data in (note[3] for note in run.noted if note[0] == Kind.emitted):
        for name, right in verify(data).right.items():
            quoted = "quoted." in name  # a quote is what arrived, right or wrong
            assert right or quoted or name.endswith("has a checksum"), f"{run.where}: {name} of an emitted packet"


TUNNEL = 14 + 20 + 8 + 8  # Ethernet, IPv4, UDP, VXLAN


def _shift(old: bytes, new: bytes) -> int:
    """1 if the packet was put into a tunnel, -1 if it was taken out of one, else 0."""
    if len(new) >= TUNNEL + 14 and new[TUNNEL : TUNNEL + 14] == old[:14]:
        return 1
    return -1 if len(old) >= TUNNEL + 14 and old[TUNNEL : TUNNEL + 14] == new[:14] else 0


def _compare(where: str, old: Verdicts, new: Verdicts, shift: int) -> None:
    """Checksums by name; a tunnel that was added or removed shifts the names (only one level of tunnel is judged)."""
    names = {name: name for name in old.right}
    if shift > 0:
        names = {name: f"inner.{name}" for name in old.right if not name.startswith("inner.")}
    elif shift < 0:
        names = {name: name.removeprefix("inner.") for name in old.right if name.startswith("inner.")}
    for name, renamed in names.items():
        if old.right[name] and renamed in new.right:
            assert new.right[renamed], f"{where}: the checksum of {renamed} was right and is wrong now"
    if not shift:
        assert set(new.right) == set(old.right), f"{where}: other headers are found in what left"
        for name in old.right:
            if name.endswith("has a checksum"):
                assert new.right[name] == old.right[name], f"{where}: {name}"
