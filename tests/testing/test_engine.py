"""The interpreter as an engine: what it records is what happened, and the options of a run do what they say."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.semantics.rules.packets import ethernet, ipv4, udp

from polysome.engines import ENGINES
from polysome.engines.history import LENGTH
from polysome.engines.options import RunOptions, Unsupported
from polysome.engines.record import Record
from polysome.engines.trace import Arrival, Change, Trace
from polysome.kinds.values import ABSENT
from polysome.testing.execution import execute
from polysome.testing.spec import Spec, load

SECOND = 10**9
SPEC = """
use net.l4;
struct Server { ip: ipv4, weight: u8 }
nf n {
  port a, b;
  config servers: list<Server>;
  state {
    seen:   map<ipv4, ref servers> { capacity 2; idle 10s; when full evict oldest; }
    ids:    pool<u16> { from 5..9; }
    owned:  map<u16, u16 from ids> { capacity 9; age 5s; when full drop; }
    counts: count_min<ipv4> { error 10%; }
    total:  u32;
    slots:  array<u8>[4];
    meter:  token_bucket(8Mbps, 100B);
  }
  on packet from a {
    require ipv4 and udp else drop "not UDP";
    total += 1;
    slots[udp.sport as u64 % 4] = 1;
    counts.add(ipv4.src);
    let server = seen[ipv4.src] else {
      let first = servers[0];
      seen[ipv4.src] = first;
      first
    };
    if not (udp.sport in owned) { let id = ids.take() else drop "no id"; owned[udp.sport] = id; }
    require meter.take(60B) else drop "too fast";
    ipv4.dst = server.ip;
    send b;
  }
  property looks { for p in trace where p.sent expect p.after.counts.estimate(p.in.ipv4.src) >= 1; }
}
"""
ONE, TWO = (0x0A000001, 1), (0x0A000002, 2)


@pytest.fixture(scope="module")
def spec(tmp_path_factory: pytest.TempPathFactory) -> Spec:
    path = tmp_path_factory.mktemp("engine") / "n.nf"
    path.write_text(SPEC, encoding="utf-8")
    return load(path)


def packet(host: int, sport: int = 7, payload: bytes = b"payload of no interest") -> bytes:
    return ethernet(ipv4(udp(payload, sport=sport, dport=9), src=f"192.0.2.{host}", dst="198.51.100.1"))


def trace(*arrivals: tuple[float, bytes], changes: tuple[Change, ...] = ()) -> Trace:
    return Trace({"servers": (ONE, TWO)}, tuple(Arrival(0, int(t * SECOND), d) for t, d in arrivals), changes)


def run(spec: Spec, t: Trace, **options: object) -> Record:
    return ENGINES["interp"].run(spec.program, t, RunOptions(**options))  # type: ignore[arg-type]


def outputs(record: Record) -> list[tuple[bytes, ...]]:
    return [tuple(c.data for c in f.copies) for f in record.fates]


def test_versions_of_state_before_and_after_each_packet(spec: Spec) -> None:
    record = run(spec, trace((0, packet(1)), (1, packet(2, 8)), (2, packet(1, 9))))
    h = record.history
    assert h is not None
    assert [h.read(2 * n, "total", "", None) for n in range(3)] == [0, 1, 2]
    assert [h.read(2 * n + 1, "total", "", None) for n in range(3)] == [1, 2, 3]
    assert h.read(1, "slots", "", 3) == 1 and h.read(1, "slots", "", 0) is ABSENT and h.read(3, "slots", "", 0) == 1
    assert h.entries(0, "seen") == [] and h.entries(5, "seen") == [(0xC0000201, ONE), (0xC0000202, ONE)]
    assert h.read(0, "ids", LENGTH, ...) == 5 and h.read(5, "ids", LENGTH, None) == 2
    assert h.read(3, "counts", "", None).estimate(0xC0000202) == 1
    assert h.read(1, "counts", "", None).estimate(0xC0000202) == 0


def test_ends_have_their_exact_time_and_reason(spec: Spec) -> None:
    record = run(spec, trace((0, packet(1)), (1, packet(2)), (2, packet(3)), (30, packet(3))))
    found = [(e.map, e.key, e.why, e.time, e.stamp) for e in record.ends]
    assert found == [
        ("seen", 0xC0000201, 2, 2 * SECOND, 5),  # evicted by packet 2, in its handler
        ("owned", 7, 1, 5 * SECOND, 6),
        ("seen", 0xC0000202, 0, 11 * SECOND, 6),
        ("seen", 0xC0000203, 0, 12 * SECOND, 6),
    ]
    assert record.history is not None and record.history.read(6, "ids", LENGTH, None) == 5


def test_entries_of_a_row_that_is_gone_read_as_absent(spec: Spec) -> None:
    gone = Change(SECOND, {"servers": (TWO,)})
    record = run(spec, trace((0, packet(1)), (2, packet(1, 8)), changes=(gone,)))
    h = record.history
    assert h is not None
    assert h.read(1, "seen", "", 0xC0000201) == (0, ONE) and h.read(2, "seen", "", 0xC0000201) is ABSENT
    assert h.read(2, "seen", LENGTH, None) == 1  # it still takes room
    assert [row.value for row in h.config(1)["servers"]] == [ONE, TWO]
    assert [row.value for row in h.config(2)["servers"]] == [TWO]
    assert record.fates[1].copies[0].data[30:34] == bytes([10, 0, 0, 2])


def test_drops_have_reasons_and_every_packet_has_one_fate(spec: Spec) -> None:
    record = run(spec, trace((0, packet(1)), (0, packet(1)), (0, packet(1)), (0, b"runt")))
    assert [f.reason for f in record.fates] == [None, "too fast", "too fast", "not UDP"]
    assert all(f.sent + f.dropped + f.held == 1 for f in record.fates)
    assert record.drops == {"too fast": 2, "not UDP": 1}


@pytest.mark.parametrize(
    "options", [{"scramble": True}, {"split": True}, {"steps": 7}, {"batch": 8}, {"collisions": True}]
)
def test_what_must_not_matter_does_not(spec: Spec, options: dict[str, object]) -> None:
    t = trace((0, packet(1)), (0.1, packet(2, 8)), (6, packet(1)), (16, packet(1)))
    assert outputs(run(spec, t, **options)) == outputs(run(spec, t))


def test_capacity_jump_and_ties(spec: Spec) -> None:
    t = trace((0, packet(1)), (1, packet(2, 8)), (2, packet(3, 9)))
    assert run(spec, t, capacity=1).program.state["seen"].capacity == 1  # type: ignore[union-attr]
    assert [f.reason for f in run(spec, t, capacity=1).fates] == [None, "no id", "no id"]
    later = run(spec, t, jump=100 * SECOND)
    assert later.fates[-1].at == 102 * SECOND
    assert {f.at for f in run(spec, t, ties=3).fates} == {0}


def test_what_needs_another_engine_is_refused(spec: Spec, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(ENGINES, "system")
    with pytest.raises(Unsupported):
        ENGINES["interp"].run(spec.program, trace(), RunOptions(faults=frozenset({"loss"})))
    execution = execute(spec, trace((0, packet(1))), ENGINES["interp"])
    with pytest.raises(Unsupported, match="no engine `system`"):
        execution.rerun(RunOptions(), "system")


def test_an_error_of_the_engine_is_recorded_not_raised(spec: Spec, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise KeyError("lost")

    monkeypatch.setattr("polysome.kinds.state.count_min.CountMin.add", broken)
    record = run(spec, trace((0, packet(1)), (1, packet(2))))
    assert record.crash == "KeyError: 'lost'"


def test_the_spec_is_found_again_at_any_size(spec: Spec) -> None:
    small = spec.small(1)
    assert small.path == Path(spec.path) and small.program is spec.small(1).program
