"""What handlers do, in the order in which it happens; expectations written by hand."""

from __future__ import annotations

from pathlib import Path

from tests.analysis.specs import ROOT, program

from polysome.analysis.effects import HandlerEffects, effects
from polysome.analysis.words import line
from polysome.ir import program as ir
from polysome.semantics.check import check
from polysome.syntax.diagnostics import Report

Row = tuple[str, str, str, int, bool, int | None]


def handler(p: ir.Program, name: str) -> HandlerEffects:
    return next(h for h in effects(p).handlers if h.name == name)


def accesses(p: ir.Program, h: HandlerEffects) -> list[Row]:
    """(action, state, key, line, conditional, times)"""
    return [(a.action, a.state, a.key, line(p, a.span), a.conditional, a.times) for a in h.accesses]


def test_the_load_balancer() -> None:
    p = check(ROOT / "examples/load_balancer/load_balancer.nf", Report())
    h = handler(p, "on packet from clients, servers")
    assert accesses(p, h) == [
        ("read", "sticky", "flow", 22, True, 1),
        ("read", "backends", "", 23, True, 1),
        ("read", "turn", "", 23, True, 1),
        ("read", "backends", "", 23, True, 1),
        ("read", "turn", "", 24, True, 1),
        ("write", "turn", "", 24, True, 1),
        ("insert", "sticky", "flow", 25, True, 1),
    ]
    assert [a.table for a in h.accesses] == [False, True, False, True, False, False, False]
    assert [(v.kind, v.what, line(p, v.span)) for v in h.verdicts] == [
        ("drop", "not for the VIP", 21),
        ("send", "backend.uplink", 30),
    ]
    lacking = effects(p).lacking
    assert lacking is not None and (lacking.kind, lacking.what) == ("drop", "not TCP or UDP over IPv4")


SPEC = """use net.l4;
nf t {
  port a, b;
  config limits: map<u8, u64>;
  state {
    seen: map<u16, u64> { capacity 10; idle 1s; when full drop; }
    index twice: seen by value * 2;
    slots: array<u64>[8];
    names: set<u16> { capacity 10; forever; when full pass; }
    often: count_min<u16> { error 1%; }
    meter: token_bucket(10pps, 5);
    per: map<u16, token_bucket(1Mbps, 1KB)> { capacity 5; idle 1s; when full pass; }
    ids: pool<u16> { from 1..9; }
    owned: map<u16, u16 from ids> { capacity 9; forever; when full drop; }
    n: u64;
  }
  on packet from a {
    n += 1;
    let k = if meter.take(1) and 1 as u16 in names { 3 as u16 } else { slots[n] as u16 };
    seen[k] += 1;
    for i in 0..3 { for j in 0..2 { slots[i] = n; } }
    for key, v in seen { remove seen[key]; }
    if let e = twice[n] { often.add(e.key); }
    let id = ids.take() else send b;
    owned[k] = id;
    require per[k].take(len) else drop "per";
    let limit = limits[3] else 0 as u64;
    names.add(k);
    send b;
  }
  on packet from b { ids_left(); }
  action ids_left() { require ids.len > 0 else bounce; send a; }
  on end seen(k, v, why) { n += v; }
  every 2min { often.clear(); emit ethernet { src: 02:00:00:00:00:01, dst: 02:00:00:00:00:02 } to b; }
}
"""


def test_every_kind_of_access_in_order(tmp_path: Path) -> None:
    p = program(tmp_path, SPEC)
    assert accesses(p, handler(p, "on packet from a")) == [
        ("read", "n", "", 18, False, 1),
        ("write", "n", "", 18, False, 1),
        ("take", "meter", "", 19, False, 1),
        ("read", "names", "1", 19, True, 1),
        ("read", "n", "", 19, True, 1),
        ("read", "slots", "n", 19, True, 1),
        ("read", "seen", "k", 20, False, 1),
        ("insert", "seen", "k", 20, False, 1),
        ("read", "n", "", 21, False, 6),
        ("write", "slots", "i", 21, False, 6),
        ("read", "seen", "", 22, False, 1),
        ("remove", "seen", "key", 22, True, None),
        ("read", "n", "", 23, False, 1),
        ("read", "seen", "n", 23, False, 1),
        ("write", "often", "e.key", 23, True, 1),
        ("take", "ids", "", 24, False, 1),
        ("insert", "owned", "k", 25, True, 1),
        ("insert", "per", "k", 26, True, 1),
        ("take", "per", "k", 26, True, 1),
        ("read", "limits", "3", 27, True, 1),
        ("insert", "names", "k", 28, True, 1),
    ]
    assert [a.index for a in handler(p, "on packet from a").accesses if a.index] == ["twice"]


def test_only_uses_refresh(tmp_path: Path) -> None:
    p = program(tmp_path, SPEC)
    refreshing = [(a.action, a.state) for a in handler(p, "on packet from a").accesses if a.refreshes]
    assert refreshing == [
        ("insert", "seen"),
        ("read", "seen"),
        ("insert", "owned"),
        ("insert", "per"),
        ("insert", "names"),
    ]


def test_other_handlers_and_actions(tmp_path: Path) -> None:
    p = program(tmp_path, SPEC)
    b = handler(p, "on packet from b")
    assert accesses(p, b) == [("read", "ids", "", 32, False, 1)]
    assert [(v.kind, v.what, v.conditional) for v in b.verdicts] == [("bounce", "", True), ("send", "a", True)]
    assert accesses(p, handler(p, "on end seen")) == [("read", "n", "", 33, False, 1), ("write", "n", "", 33, False, 1)]
    timer = handler(p, "every 2min")
    assert accesses(p, timer) == [("write", "often", "", 34, False, 1)]
    assert [(e.headers, e.target) for e in timer.emissions] == [(("ethernet",), "b")]
    assert effects(p).lacking is None


def test_a_schedule_may_read_state(tmp_path: Path) -> None:
    p = program(
        tmp_path,
        """use net.l4;
nf t {
  port a;
  state { burst: bytes = 10KB; }
  schedule { class flow; shape 1Mbps, burst; classes 10; idle 1s; buffer 1MB; when full drop; }
  on packet { bounce; }
}
""",
    )
    assert accesses(p, handler(p, "schedule")) == [("read", "burst", "", 5, False, 1)]
