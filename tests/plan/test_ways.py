"""The ways through a spec's parser that a switch can take apart."""

from __future__ import annotations

from itertools import combinations_with_replacement
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.analysis import specs
from tests.backends.examples import program

from polysome.analysis.layout import layout
from polysome.ir import program as ir
from polysome.plan.branches import branches
from polysome.plan.kinds import kinds
from polysome.plan.site import default_site
from polysome.plan.values import enclosed, masks
from polysome.plan.way import order
from polysome.plan.ways import ways

# Two headers, of which either may come first.
TURNED = """
use net.ethernet;
use net.ipv4;
header one { next: u16; }
header two { next: u16; }
parser turned {
  state start { extract ethernet; select ethernet.ether_type { EtherType.ipv4 => ipv4; } }
  state ipv4 { extract ipv4; select ipv4.protocol { 201 => one_first; 202 => two_first; } }
  state one_first { extract one; select one.next { 2 => two; } }
  state two_first { extract two; select two.next { 1 => one; } }
  state one { extract one; }
  state two { extract two; }
}
nf a {
  port p;
  on packet { if ipv4 { ipv4.ttl = 1; } if one { one.next = 3; } if two { two.next = 4; } send p; }
}
"""


def names(spec: ir.Program, instances: tuple[int, ...]) -> str:
    return " ".join(spec.parser.instances[i].name for i in instances)


@given(st.integers(1, 16).flatmap(lambda w: st.tuples(st.just(w), *[st.integers(0, (1 << w) - 1)] * 2)))
def test_masks_match_just_the_range(case: tuple[int, int, int]) -> None:
    width, a, b = case
    low, high = min(a, b), max(a, b)
    pairs = list(masks(low, high, width))
    for value in {0, low, high, max(0, low - 1), min((1 << width) - 1, high + 1), (low + high) // 2}:
        assert sum(value & mask == wanted for wanted, mask in pairs) == (low <= value <= high)
    assert len(pairs) <= 2 * width


@pytest.mark.parametrize("width", range(1, 7))
def test_enclosed_values_are_those_that_are_not_refused(width: int) -> None:
    """All ranges of so many bits. No mask is beside the point: each refuses some of the block."""
    for low, high in combinations_with_replacement(range(1 << width), 2):
        refused, (block, mask) = enclosed(low, high, width)
        inside = {v for v in range(1 << width) if v & mask == block}
        out = [{v for v in range(1 << width) if v & m == wanted} for wanted, m in refused]
        assert inside.difference(*out) == set(range(low, high + 1))
        assert all(some and some < inside for some in out) and sum(map(len, out)) == len(inside) - (high + 1 - low)
        assert len(out) <= 2 * (width - 1)


def test_the_load_balancer_has_tcp_and_udp_with_and_without_a_tag() -> None:
    spec = program("load_balancer")
    found = {names(spec, w.instances): w for w in ways(spec)}
    assert set(found) == {f"ethernet {tag}ipv4 {l4}" for tag in ("", "vlan[0] ") for l4 in ("tcp", "udp")}
    tcp = found["ethernet ipv4 tcp"]
    assert tcp.length_plus == 14 and tcp.depth(spec.parser) == 38
    assert tcp.least_length(spec.parser) == 14 + 20 + 60  # with all the options that TCP may have
    assert [spec.parser.instances[i].header.fields[f].name for i, f in tcp.hashed] == [
        *("src", "dst", "sport", "dport", "protocol")
    ]


def test_fragments_and_options_are_not_on_a_way() -> None:
    spec = program("load_balancer")
    (step,) = (s for s in ways(spec)[0].steps if spec.parser.instances[s.instance].name == "ipv4")
    fields = spec.parser.instances[step.instance].header.fields
    allowed = {fields[c.field].name: (c.low, c.high) for c in step.conditions}
    assert allowed["version"] == (4, 4) and allowed["ihl"] == (5, 5)
    assert allowed["more_fragments"] == (0, 0)  # else the order class has no ports
    chosen = next(b for b in branches(spec.parser, step.node, frozenset({step.target})) if b.target == step.target)
    assert {fields[f].name: r for f, r in chosen.box if isinstance(f, int)} == {
        "fragment_offset": (0, 0),
        "protocol": (6, 6),
    }


def test_a_packet_without_a_length_field_goes_whole() -> None:
    assert ways(program("bridge")) == ()


def test_a_class_that_the_nf_does_not_take_as_fields_goes_whole() -> None:
    assert ways(program("router6")) == ()  # it quotes packets in ICMP errors


def test_a_class_that_is_computed_is_hashed_by_what_can_be_read_off(tmp_path: Path) -> None:
    spec = specs.program(
        tmp_path,
        'use net.l4; nf a { port p; relevant ipv4.src, ipv4.ttl, l4.sport else drop "no";'
        " schedule { class (ipv4.src, ipv4.ttl + 1); fifo; } on packet { send p; } }",
    )
    way = ways(spec)[0]
    assert [spec.parser.instances[i].header.fields[f].name for i, f in way.hashed] == ["src"]


@pytest.mark.parametrize("name", ["acl", "nat", "firewall", "policer", "reframer", "telemetry", "slim_dpi"])
def test_ways_are_of_distinct_headers_and_fit_their_fields(name: str) -> None:
    spec = program(name)
    found = ways(spec)
    assert found and len({w.instances for w in found}) == len(found)
    for way in found:
        assert way.depth(spec.parser) <= way.least_length(spec.parser)
        offsets = [s.offset for s in way.steps]
        assert offsets == sorted(set(offsets)) and offsets[0] == 0


@pytest.mark.parametrize("name", ["load_balancer", "nat", "acl", "telemetry"])
def test_headers_have_one_order_on_all_ways(name: str) -> None:
    """A deparser emits all headers in one order, whichever of them a packet has: a tag before what it tags."""
    found = ways(program(name))
    place = order(found).index
    assert any(len(way.instances) > 3 for way in found)
    for way in found:
        assert sorted(way.instances, key=place) == list(way.instances)


def test_a_way_with_headers_in_another_order_is_none(tmp_path: Path) -> None:
    spec = specs.program(tmp_path, TURNED)
    assert [names(spec, way.instances) for way in ways(spec)] == ["ethernet ipv4 one two"]


def test_packets_that_get_or_lose_headers_go_whole() -> None:
    """Even if the layout of their frames, which has a number, is given: the switch takes fields only."""
    spec = program("vxlan_gateway")
    layouts = layout(spec).classes
    assert any(one.operations and one.number is not None for one in layouts)
    assert not any(way.layout.operations for way in ways(spec, layouts))


def test_what_is_said_of_a_way_that_ends_names_what_would_follow() -> None:
    """The spec's parser also ends behind IPv4 whose TCP is not well formed; the switch has such packets go whole."""
    made = program("firewall")
    found = {f.headers: f for f in kinds(made, default_site(made.ports), "fields", 1000) if f.number is not None}
    ends, goes_on = ([one.what for one in found[f"ethernet / {headers}"].asked] for headers in ("ipv4", "ipv4 / udp"))
    assert "ipv4.protocol is none of 1, 6, 17, 50, 51" in ends
    assert not [what for what in goes_on if "none of" in what]
