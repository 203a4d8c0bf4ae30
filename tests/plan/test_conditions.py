"""Conditions of the language as boxes, against the interpreter for every packet; and what ways assume of packets."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.analysis import specs
from tests.backends.examples import program

from polysome.ir import program as ir
from polysome.plan.branches import END, WHOLE, ahead, branches
from polysome.plan.conditions import Ahead, Box, asked_together, rows, width
from polysome.plan.way import Way
from polysome.plan.ways import ways
from polysome.testing.judge.parsing import parse

# Node 0 extracts `x`, node 1 extracts `h`, which is one byte.
HOOKED = """
header x {{ a: bit<3>; b: bit<5>; }}
header h {{ value: u8; }}
parser p {{ state start {{ extract x; }} }}
parse h after x when {condition};
nf n {{ port p; on packet {{ send p; }} }}
"""
EXACT = [
    "x.a == 3",
    "x.a != 3",
    "x.a != 0",
    "x.a != 7",
    "x.a < 1",
    "3 <= x.a",
    "x.a > 6 or x.b == 2",
    "not (x.a > 6 or x.b == 2)",
    "x.a in {1, 2, 6} and x.b != 31",
    "not (x.a in {1, 2, 6} and x.b != 31)",
    "x.a == 1 and x.a == 2",
    "true",
    "not true",
    "x.b as u8 >= 30",
    "peek(1) == 0",
    "x.a == 5 and peek(8)[5:4] == 2",
    "x.a != 5 or peek(4) != 9",
]
NOT_EXACT = [
    ("x.a + 1 == 0", False),
    ("x.a as u8 == x.b as u8", False),
    ("x.a == 5 and (x.b & 1) == 1", True),
    ("x.a == 5 or x.b % 2 == 1", True),
]


def hooked(folder: Path, condition: str) -> ir.Program:
    return specs.program(folder, HOOKED.format(condition=condition))


def takes(spec: ir.Program, data: bytes) -> bool:
    """Does the interpreter's parser go on to `h`?"""
    return tuple(parse(spec, 0, data).path) == (0, 1)


def inside(of: Box, data: bytes, header: ir.Header) -> bool:
    whole = int.from_bytes(data, "big")
    for key, (low, high) in of:
        first = 8 * header.fixed + key.first if isinstance(key, Ahead) else header.fields[key].offset
        value = whole >> (8 * len(data) - first - width(key, header)) & ((1 << width(key, header)) - 1)
        if not low <= value <= high:
            return False
    return True


@pytest.mark.parametrize("condition", [*EXACT, *(c for c, _ in NOT_EXACT)])
def test_boxes_say_what_the_condition_says_for_every_packet(tmp_path: Path, condition: str) -> None:
    spec = hooked(tmp_path, condition)
    header = spec.parser.instances[0].header
    chosen = branches(spec.parser, 0, frozenset({1, END}))
    for first in range(256):
        for second in (0x00, 0x20, 0x2F, 0x7F, 0x80, 0x90, 0xFF):
            data = bytes([first, second])
            went = next(b.target for b in chosen if inside(b.box, data, header))
            assert went in ({1} if takes(spec, data) else {END}) | ({WHOLE} if condition not in EXACT else set())
            if condition in EXACT:
                assert (went == 1) == takes(spec, data)


@pytest.mark.parametrize(("condition", "splits"), NOT_EXACT)
def test_what_cannot_be_asked_exactly_is_not_split(tmp_path: Path, condition: str, splits: bool) -> None:
    """Whoever may belong to the hook goes whole; the others go on, if they can be told apart."""
    spec = hooked(tmp_path, condition)
    found = {b.target for b in branches(spec.parser, 0, frozenset({1, END}))}
    assert found == {WHOLE, END} if splits and " or " not in condition else WHOLE in found


def test_rows_fit_just_what_is_in_the_box(tmp_path: Path) -> None:
    header = hooked(tmp_path, "true").parser.instances[0].header
    of: Box = ((0, (2, 6)), (1, (5, 30)))
    for value in range(256):
        fields = {0: value >> 5, 1: value & 31}
        fitting = [r for r in rows(of, header) if all(fields[k] & mask == v for k, (v, mask) in r.items())]  # type: ignore[index]
        assert len(fitting) == inside(of, bytes([value]), header)


def test_a_parser_state_compares_two_bytes_that_follow_each_other_and_two_single_ones(tmp_path: Path) -> None:
    spec = program("firewall")
    header = next(i.header for i in spec.parser.instances if i.name == "ipv4")
    keys = {f.name: n for n, f in enumerate(header.fields)}

    def together(*names: str) -> bool:
        return asked_together([keys[n] for n in names], header)

    assert together("version", "ihl", "total_length")  # bytes 0, 2, 3
    assert together("fragment_offset", "more_fragments", "protocol", "ihl")  # 0, 6, 7, 9
    assert not together("version", "dscp", "total_length", "protocol")  # 0, 1, 2, 3, 9
    assert (
        together("ihl", "dscp", "protocol", "ttl") and together("version", "dscp", "protocol", "total_length") is False
    )
    assert not together("version", "total_length", "fragment_offset")


# ---------------------------------------------------------------- ways

HTTP3 = """
use net.l4;
header h3 {{ form: bit<1>; version: bit<7>; id: u8; }}
parse h3 after udp when {condition};
nf n {{
  port p;
  relevant ipv4.{{src, dst, protocol}}, l4.{{sport, dport}} else drop "no";
  relevant h3.id when h3;
  on packet {{ if h3 {{ if h3.id == 1 {{ drop "one"; }} }} send p; }}
}}
"""


def named(spec: ir.Program, way: Way) -> str:
    return " ".join(spec.parser.instances[i].name for i in way.instances)


def test_a_hook_on_what_follows_is_asked_for(tmp_path: Path) -> None:
    spec = specs.program(tmp_path, HTTP3.format(condition="udp.dport == 443 and peek(1) == 0"))
    found = {named(spec, w): w for w in ways(spec)}
    assert {"ethernet ipv4 udp", "ethernet ipv4 udp h3"} <= set(found)
    udp = found["ethernet ipv4 udp h3"].steps[2]
    fields = spec.parser.instances[udp.instance].header.fields
    boxes = [b.box for b in branches(spec.parser, udp.node, frozenset({udp.target})) if b.target == udp.target]
    assert [[(fields[k].name if isinstance(k, int) else k, r) for k, r in of] for of in boxes] == [
        [("dport", (443, 443)), (Ahead(0, 1), (0, 0))]
    ]
    assert ahead(spec.parser, udp.node) == 1
    for way in found.values():  # beyond the packet's end the switch would see bits, where the spec sees zeros
        for step in way.steps:
            if spec.parser.instances[step.instance].name == "udp":
                length = next(c for c in step.conditions if fields[c.field].name == "length")
                assert length.low == (10 if "h3" in named(spec, way) else 9)


def test_a_hook_that_cannot_be_asked_for_is_on_no_way(tmp_path: Path) -> None:
    spec = specs.program(tmp_path, HTTP3.format(condition="udp.dport == 443 and udp.sport % 2 == 1"))
    found = {named(spec, w): w for w in ways(spec)}
    assert "ethernet ipv4 udp h3" not in found
    udp = found["ethernet ipv4 udp"].steps[2]
    dport = [f.name for f in spec.parser.instances[udp.instance].header.fields].index("dport")
    assert branches(spec.parser, udp.node, frozenset({END}))[0].box == ((dport, (443, 443)),)


def test_a_length_inside_covers_the_headers_behind_it() -> None:
    """Else the spec's parser ends where UDP ends, and the switch would read a header there that is none."""
    spec = program("dns_guard")
    way = next(w for w in ways(spec) if named(spec, w) == "ethernet ipv4 udp dns")
    udp = way.steps[2]
    fields = [f.name for f in spec.parser.instances[udp.instance].header.fields]
    assert next(c for c in udp.conditions if fields[c.field] == "length").low == 8 + 12


@pytest.mark.parametrize("name", ["acl", "nat", "firewall", "policer", "telemetry", "dns_guard", "load_balancer"])
def test_ways_that_go_on_alike_agree(name: str) -> None:
    """The switch's parser has one state for them."""
    found = ways(program(name))
    for one in found:
        for other in found:
            for a, b in zip(one.steps, other.steps, strict=False):
                if a.node != b.node or a.target != b.target:
                    break
                assert [(c.field, c.low, c.high) for c in a.conditions] == [
                    (c.field, c.low, c.high) for c in b.conditions
                ]


@pytest.mark.parametrize("name", ["acl", "firewall", "conn_limiter"])
def test_fragments_go_whole_on_every_way(name: str) -> None:
    """The first one, which has ports, and the later ones, which have none and are of the same order class."""
    spec = program(name)
    for way in ways(spec):
        for step in way.steps:
            instance = spec.parser.instances[step.instance]
            if instance.name == "ipv4":
                asked = {instance.header.fields[c.field].name: (c.low, c.high) for c in step.conditions}
                assert asked["more_fragments"] == (0, 0)
                assert asked["fragment_offset"] == (0, 0)


def test_a_way_is_for_packets_of_some_lengths(tmp_path: Path) -> None:
    way = ways(program("load_balancer"))[0]
    within = way.within(98, 1522)
    assert within is not None
    (low, high) = next(
        (c.low, c.high) for s in within.steps for c in s.conditions if (s.instance, c.field) == way.length_field
    )
    assert (low, high) == (84, 1508)
    assert way.within(10, 90) is None  # with all options that TCP may have, its headers take 94
