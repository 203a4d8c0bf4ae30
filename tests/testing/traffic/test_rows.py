"""Config whose keys have several parts is met by packets that have them all."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from tests.testing.traffic.kit import written

from polysome.engines import ENGINES
from polysome.testing import traffic
from polysome.testing.execution import execute
from polysome.testing.traffic.rows import asked
from polysome.testing.traffic.selected import mapped

SPEC = """
use net.l4;
nf rows {{
  port a, b;
  config known: {type};
  on packet from a {{
    {body}
    send b;
  }}
}}
"""
IN = 'require {condition} else drop "other";'
SHAPES = {
    "tuple": ("set<(ipv4, u16)>", IN.format(condition="ipv4 and l4 and (ipv4.dst, l4.dport) in known")),
    "struct": (
        "set<Endpoint>",
        IN.format(condition="ipv4 and l4 and Endpoint { ip: ipv4.dst, port: l4.dport } in known"),
    ),
    "flow": ("set<Flow>", IN.format(condition="l4 and flow in known")),
    "reversed": ("set<Flow>", IN.format(condition="l4 and flow.reversed in known")),
    "map": ("map<Flow, u8>", 'require l4 else drop "other"; let v = known[flow] else drop "other";'),
    "let": (
        "map<(ipv4, u8, u16), u16>",
        'require ipv4 and l4 else drop "other"; let k = (ipv4.dst, ipv4.protocol, l4.dport); '
        'let v = known[k] else drop "other";',
    ),
    "mac": ("set<(bit<12>, mac)>", IN.format(condition="vlan[0] and (vlan[0].vid, ethernet.dst) in known")),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_packets_have_all_of_a_key(shape: str, tmp_path: Path) -> None:
    type, body = SHAPES[shape]
    spec = written(tmp_path, SPEC.format(type=type, body=body))
    (one,) = asked(spec.program)
    assert one.name == "known" and len(one.parts) == {"tuple": 2, "struct": 2, "let": 3, "mac": 2}.get(shape, 5)
    assert mapped(spec.program) == (shape in ("flow", "reversed", "map"))
    sent = total = 0
    for trace in traffic.seeded(spec, 1, count=60):
        fates = execute(spec, trace, ENGINES["interp"]).record.fates
        sent += sum(fate.sent for fate in fates)
        total += sum(arrival.port == 0 for arrival in trace.arrivals)
    assert sent > total / 50, (sent, total)


def test_a_key_of_one_part_is_none_of_these(tmp_path: Path) -> None:
    one = written(tmp_path, SPEC.format(type="set<ipv4>", body=IN.format(condition="ipv4 and ipv4.dst in known")))
    assert asked(one.program) == () and not mapped(one.program)


def test_rows_are_met_in_every_order(tmp_path: Path) -> None:
    """Not only the first row that would do."""
    spec = written(tmp_path, SPEC.format(type=SHAPES["tuple"][0], body=SHAPES["tuple"][1]))
    met = set()
    for trace in traffic.seeded(spec, 2, count=80):
        rows = sorted(trace.config["known"])
        for arrival in trace.arrivals:
            met |= {n for n, (ip, _) in enumerate(rows) if ip.to_bytes(4) == arrival.data[30:34]}
    assert all(a + 1 == b for a, b in pairwise(sorted(met))) and {0, 1, 2, 3} <= met
