"""What traffic is made to meet: the values that a program compares things with."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.testing.traffic.kit import written

from polysome.testing.traffic.constants import Bits, constants

ASKS = """
use net.l4;
fn high(kind: bit<8>) -> bool {{ kind[7:4] == 3 }}
nf asks {{
  port a, b;
  relevant udp.sport, payload[0..4] else drop "no UDP";
  on packet from a {{
    let kind = payload[1..2];
    if {condition} {{ send b; }}
    drop "other";
  }}
}}
"""
HIGH, LOW, OTHER = Bits(4, 4, 3), Bits(0, 4, 5), Bits(0, 4, 6)


@pytest.mark.parametrize(
    ("condition", "wanted"),
    [
        ("kind[7:4] == 3", {(1, 2): [(HIGH,)]}),
        ("kind[7:4] == 3 and kind[3:0] == 5", {(1, 2): [(HIGH, LOW)]}),
        ("high(kind) and kind[3:0] == 5", {(1, 2): [(HIGH, LOW)]}),
        ("kind[7:4] == 3 and (kind[3:0] == 5 or kind[3:0] == 6)", {(1, 2): [(HIGH, LOW), (HIGH, OTHER)]}),
        ("kind[7:4] == 3 and kind[3:0] in {5, 6}", {(1, 2): [(HIGH, LOW), (HIGH, OTHER)]}),
        ("kind[7:4] == 3 or kind[3:0] == 5", {(1, 2): [(HIGH,), (LOW,)]}),
        ("kind[7:4] == 3 and udp.sport == 53", {(1, 2): [(HIGH,)]}),
        ("kind[7:4] == 3 and payload[2..3] == 9", {(1, 2): [(HIGH,)], (2, 3): [(Bits(0, 8, 9),)]}),
    ],
)
def test_what_a_condition_asks_of_one_place_is_looked_for_together(
    tmp_path: Path, condition: str, wanted: dict[tuple[int, int], list[tuple[Bits, ...]]]
) -> None:
    """And its parts are not looked for once more by themselves."""
    found = constants(written(tmp_path, ASKS.format(condition=condition)).program).looked_for
    assert {place: set(several) for place, several in found.items()} == {
        place: set(several) for place, several in wanted.items()
    }
