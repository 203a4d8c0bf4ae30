"""What traffic is made to meet: the values that a program compares things with."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.testing.traffic.kit import written

from polysome.ir import types as t
from polysome.testing import traffic
from polysome.testing.traffic.constants import Bits, constants
from polysome.testing.traffic.selected import selected

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


SERVICES = """
use net.l4;
nf services {{
  port a, b;
  config known: {kind};
  on packet from a {{
    require {condition} else drop "other";
    send b;
  }}
}}
"""


@pytest.mark.parametrize("kind", ["map<(ipv4, u8, u16), u16>", "set<(ipv4, u8, u16)>"])
@pytest.mark.parametrize(
    ("condition", "wanted"),
    [
        ("ipv4 and l4 and (ipv4.dst, ipv4.protocol, l4.dport) in known", {6, 17, 1, 50, 51}),
        ("ipv4 and l4 and (ipv4.dst, ipv4.ttl, l4.dport) in known", set()),
        ("ipv4 and l4 and ipv4.protocol == 6", set()),
    ],
)
def test_config_has_rows_for_packets_of_which_more_is_seen(
    condition: str, wanted: set[int], kind: str, tmp_path: Path
) -> None:
    spec = written(tmp_path, SERVICES.format(condition=condition, kind=kind))
    assert set(selected(spec.program).get(t.U8, ())) == wanted
    found = [key[1] for trace in traffic.seeded(spec, 1, count=40) for key in trace.config["known"]]
    assert (sum(protocol in (6, 17) for protocol in found) > len(found) / 4) == bool(wanted)
