"""Which versions of an NF can take each other's state over, and which cannot."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.testing.traffic.kit import written

from polysome.backends.nf_cpp.carry_code import layout as description
from polysome.backends.nf_cpp.carry_code import state_layout
from polysome.backends.nf_cpp.state_code import steady
from polysome.ir import program as ir

SPEC = """use net.l4;

enum Phase: u8 { fresh = 0, open = 1, closed = 2 }
struct Seen { phase: Phase, via: port, count: u32 }
struct Backend { ip: ipv4, weight: u8 }

nf kept {
  port a, b;
  config backends: list<Backend>;
  param limit: u64 = 5;
  relevant ipv4.src, ipv4.dst;
  state {
    flows: map<(ipv4, u16), Seen> { capacity 1000; idle 30s; when full evict oldest; }
    index counted: flows by (value.count, key.1);
    busy: array<u32>[16];
    heavy: count_min<ipv4> { error 1%; confidence 99%; }
    total: u64;
  }
  schedule { class ipv4.src; shape 1Mbps, 10KB; classes 64; idle 10s; buffer 1MB; when full drop; }
  every 1s { total = 0; }
  on packet from a {
    total += limit;
    require ipv4 else drop "not IPv4";
    flows[(ipv4.src, 1)] = Seen { phase: Phase.open, via: in_port, count: 1 };
    send b;
  }
}
"""


def layout(place: Path, old: str = "", new: str = "") -> str:
    assert old in SPEC
    place.mkdir()
    return state_layout(written(place, SPEC.replace(old, new, 1) if old else SPEC).program)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("idle 30s", "idle 60s"),
        ("capacity 1000", "capacity 2000"),
        ("limit: u64 = 5", "limit: u64 = 6"),
        ("shape 1Mbps, 10KB", "shape 2Mbps, 20KB"),
        ("total += limit", "total += 2"),
        ('"not IPv4"', '"other"'),
    ],
)
def test_what_it_does_may_change(old: str, new: str, tmp_path: Path) -> None:
    assert layout(tmp_path / "a") == layout(tmp_path / "b", old, new)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("count: u32 }", "count: u64 }"),
        ("phase: Phase, via: port", "via: port, phase: Phase"),
        ("fresh = 0, open = 1", "open = 0, fresh = 1"),  # the same bits mean another thing
        ("port a, b;", "port b, a;"),
        ("idle 30s", "age 30s"),
        ("when full evict oldest", "when full pass"),
        ("array<u32>[16]", "array<u32>[32]"),
        ("array<u32>[16]", "array<u16>[16]"),
        ("error 1%", "error 2%"),
        ("(value.count, key.1)", "(value.count + 1, key.1)"),
        ("class ipv4.src", "class ipv4.dst"),
        ("buffer 1MB", "buffer 2MB"),
        ("every 1s", "every 2s"),
        ("weight: u8", "weight: u16"),
    ],
)
def test_what_its_state_is_may_not(old: str, new: str, tmp_path: Path) -> None:
    assert layout(tmp_path / "a") != layout(tmp_path / "b", old, new)


@pytest.mark.parametrize(
    ("life", "expected"),
    [
        ("5s", True),
        ("if key.1 > 9 { 9s } else { value.first } max 9s", True),
        ("of_number(key.1) max 9s", True),
        ("value.row.life max 9s", False),
        ("of_row(value.row) max 9s", False),
        ("twice(value.row) max 9s", False),
        ("if rows.len > 9 { 9s } else { 5s } max 9s", False),
    ],
)
def test_what_may_be_another_one_later_is_kept(life: str, expected: bool, tmp_path: Path) -> None:
    """Timeouts that follow from key and value are computed again, those that depend on config are in the state."""
    program = written(tmp_path, LIVES.replace("LIFE", life)).program
    decl = program.state["lives"]
    assert isinstance(decl, ir.MapDecl)
    assert steady(program, decl) == expected
    how = "constant" if life == "5s" else "computed" if expected else "kept"
    assert f"idle {how}, age none" in description(program)


LIVES = """use net.l4;
struct Kind { life: duration }
struct Held { row: ref rows, first: duration }
nf lives {
  port a, b;
  config rows: list<Kind>;
  relevant ipv4.src else drop "other";
  state { lives: map<(ipv4, u16), Held> { capacity 10; idle LIFE; when full drop; } }
  fn of_number(n: u16) -> duration { if n > 9 { 9s } else { 5s } }
  fn of_row(row: ref rows) -> duration { row.life }
  fn twice(row: ref rows) -> duration { of_row(row) }
  on packet {
    require rows.len > 0 else drop "no rows";
    lives[(ipv4.src, 1)] = Held { row: rows[0], first: 1s };
    send b;
  }
}
"""
