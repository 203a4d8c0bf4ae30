"""`polysome.testing` as somebody who writes a test sees it."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis.vendor.pretty import pretty

import polysome.testing as pt
from polysome.captures.read import CaptureError

SPEC = """
use net.l4;
nf counter {
  port a, b;
  state { seen: map<Flow, u32> { capacity 8; idle 1s; when full evict oldest; } }
  on packet from a { seen[flow] += 1; send b; }
  on packet from b { require flow.reversed in seen else drop "not asked for"; send a; }
  property FEWER { for p in trace where p.in_port == a expect p.after.seen[p.flow] < 3; }
  property counted { for p in trace where p.in_port == a and p.sent expect p.after.seen[p.flow] >= 1; }
}
"""


@pytest.fixture(scope="module")
def spec(tmp_path_factory: pytest.TempPathFactory) -> pt.Spec:
    path = tmp_path_factory.mktemp("api") / "counter.nf"
    path.write_text(SPEC, encoding="utf-8")
    return pt.load(path)


def test_every_name_that_is_promised_is_there() -> None:
    assert all(getattr(pt, name) is not None for name in pt.__all__)
    assert sorted(n for names in pt._FROM.values() for n in names) == sorted(pt.__all__)
    with pytest.raises(AttributeError):
        pt.nothing  # noqa: B018


def test_traces_run_and_hold(spec: pt.Spec) -> None:
    @settings(max_examples=10)
    @given(pt.traces(spec))
    def holds(trace: pt.Trace) -> None:
        record = pt.assert_holds(spec, trace, only=["counted", "conservation"])
        assert len(record.fates) == len(trace.arrivals)
        pt.engines_agree(spec, trace)

    holds()


def test_what_does_not_hold_is_told(spec: pt.Spec) -> None:
    frame = bytes(12) + b"\x08\x06" + bytes(46)
    trace = pt.Trace({}, tuple(pt.Arrival(0, n, frame) for n in range(3)))
    with pytest.raises(AssertionError, match="property FEWER does not hold") as told:
        pt.assert_holds(spec, trace)
    assert "expected: p.after.seen[p.flow] < 3" in str(told.value)
    with pytest.raises(LookupError, match="no property unknown"):
        pt.assert_holds(spec, trace, only=["unknown"])


def test_options_are_those_of_outputs(spec: pt.Spec) -> None:
    trace = pt.Trace({}, (pt.Arrival(0, 0, bytes(60)),))
    assert pt.run(spec, trace, scramble=True).fates[0].sent
    with pytest.raises(pt.Unsupported):
        pt.run(spec, trace, faults=frozenset({"loss"}))
    with pytest.raises(KeyError):
        pt.run(spec, trace, "abacus")


def test_captures_are_traces(spec: pt.Spec, tmp_path: Path) -> None:
    """Merged by time; a port is what is said, else what the interface is called."""
    times = {"x": (10, 30, 20), "y": (15, 30)}
    for name, of in times.items():
        arrivals = tuple(pt.Arrival(1, time, bytes([time]) * 60) for time in of)
        pt.write_capture(spec, pt.Trace({}, arrivals), tmp_path / f"{name}.pcapng")
    trace = pt.read_capture(spec, tmp_path / "x.pcapng", a=str(tmp_path / "y.pcapng"))
    assert [(a.port, a.time) for a in trace.arrivals] == [(1, 10), (0, 15), (1, 30), (1, 20), (0, 30)]
    assert all(a.data == bytes([a.time]) * 60 for a in trace.arrivals) and trace.config == {}
    with pytest.raises(LookupError, match="counter has no port `c`; its ports are a, b"):
        pt.read_capture(spec, c=tmp_path / "y.pcapng")
    with pytest.raises(CaptureError, match="none"):
        pt.read_capture(spec, tmp_path / "none.pcap")


def test_boundaries_are_the_same_every_time(spec: pt.Spec) -> None:
    first, again = ([trace.arrivals for trace in islice(pt.boundaries(spec, most=8), 5)] for _ in range(2))
    assert first == again and len(set(first)) == 5
    assert all(8 <= len(arrivals) <= 16 for arrivals in first)


def test_an_engine_may_be_given_itself(spec: pt.Spec) -> None:
    trace = pt.Trace({}, (pt.Arrival(0, 0, bytes(60)),))
    assert pt.run(spec, trace, pt.ENGINES["interp"]).fates == pt.run(spec, trace).fates
    assert pt.assert_holds(spec, trace, pt.ENGINES["interp"], only=["conservation"]).fates[0].sent


def test_messages_are_short(spec: pt.Spec) -> None:
    """Of failing tests: no frames, no programs."""
    trace = pt.Trace({}, (pt.Arrival(0, 0, bytes(60)),), (pt.Change(0, {}),))
    assert pretty(trace) == repr(trace) == "<Trace of 1 packet, 1 change of config>"
    assert pretty(spec) == repr(spec) == f"<Spec counter of {spec.path}>"


def test_a_spec_with_errors_is_refused(tmp_path: Path) -> None:
    from polysome.syntax.diagnostics import SpecError

    (tmp_path / "x.nf").write_text("nf x { }", encoding="utf-8")
    with pytest.raises(SpecError):
        pt.load(tmp_path / "x.nf")
