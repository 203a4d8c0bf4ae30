"""A counterexample from first failure to report: shrunk, written, read, run again, told."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from polysome.engines.trace import Arrival, Trace
from polysome.testing import judge
from polysome.testing.counterexample import Counterexample, ReplayError, read, replay, report, shrink, write
from polysome.testing.spec import Spec, load

from .kit import INTERP, S, udp

HERE = Path(__file__).parent

TOGGLE = """
use net.l4;
nf toggle {
  port left, right;
  config servers: list<ipv4>;
  state { turn: u32; }
  schedule { class flow; fifo; }
  on packet from left {
    require ipv4 else drop "not IPv4";
    let server = servers[turn % servers.len];
    turn += 1;
    ipv4.dst = server;
    send right;
  }
  on packet from right { send left; }

  /// All packets of a flow go to one server.
  property affinity {
    for p, q in trace where p.sent and q.sent and p.in_port == left and q.in_port == left and p.flow == q.flow
    expect p.out.ipv4.dst == q.out.ipv4.dst;
  }
}
"""


def toggle(folder: Path) -> Spec:
    path = folder / "toggle.nf"
    path.write_text(TOGGLE, encoding="utf-8")
    return load(path)


def found(spec: Spec) -> Counterexample:
    """Many packets of two flows, shrunk."""
    arrivals = tuple(Arrival(n % 2, n * S, udp(n // 2 % 2 + 1, payload=bytes(n))) for n in range(1, 24))
    trace = Trace({"servers": (0xC0A80107, 0xC0A80108, 0xC0A80109)}, arrivals)
    affinity = judge.properties(spec.program)[0]
    return Counterexample(spec, False, "interp", "affinity", shrink(spec, INTERP, trace, affinity))


def test_a_report_tells_the_whole_story(tmp_path: Path, golden: Callable[[Path, str], None]) -> None:
    lines = report(found(toggle(tmp_path)))
    assert max(map(len, lines)) <= 100
    golden(HERE / "toggle.report.txt", "".join(f"{line}\n" for line in lines))


def test_what_was_written_fails_again(tmp_path: Path) -> None:
    example = found(toggle(tmp_path))
    assert len(example.trace.arrivals) == 2 and len(example.trace.config["servers"]) == 2
    again = read(write(tmp_path / "out", example, report(example)).replay)
    _, affinity, judgement = replay(again)
    assert affinity.name == "affinity" and judgement.failure is not None and judgement.failure.packets == (0, 1)


def test_servers_in_config_and_clients_have_different_addresses(tmp_path: Path) -> None:
    trace = found(toggle(tmp_path)).trace
    assert trace.arrivals[0].data[26:34] == bytes([10, 0, 0, 1, 10, 0, 0, 2])
    assert trace.config["servers"] == (0x0A000003, 0x0A000004)


def test_a_mended_spec_holds_and_is_told_so(tmp_path: Path) -> None:
    example = found(toggle(tmp_path))
    path = write(tmp_path, example, []).replay
    (tmp_path / "toggle.nf").write_text(TOGGLE.replace("turn += 1;", ""), encoding="utf-8")
    assert report(read(path))[0] == "property affinity: holds"


@pytest.mark.parametrize(
    ("engine", "name", "said"), [("fast", "affinity", "engine `fast`"), ("interp", "x", "property `x`")]
)
def test_an_engine_or_property_that_is_not_there(tmp_path: Path, engine: str, name: str, said: str) -> None:
    spec = toggle(tmp_path)
    with pytest.raises(ReplayError, match=f"there is no {said}"):
        report(Counterexample(spec, False, engine, name, found(spec).trace))


def test_state_is_as_small_as_it_was(tmp_path: Path) -> None:
    spec = toggle(tmp_path)
    example = Counterexample(spec.small(), True, "interp", "affinity", found(spec).trace)
    lines = report(read(write(tmp_path, example, []).replay))
    assert lines[0] == "property affinity: FAILS" and any("room for few entries" in line for line in lines)
