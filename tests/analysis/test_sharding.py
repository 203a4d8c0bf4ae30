"""By what packets may be spread over cores: every kind of state, every reason why not, and that it is true."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.analysis.specs import EXAMPLES, program

from polysome.analysis.shard_words import expression_text
from polysome.analysis.sharding import Sharding, sharding
from polysome.analysis.sharding_text import show_sharding
from polysome.analysis.words import line
from polysome.ir import program as ir
from polysome.semantics.check import check
from polysome.syntax.diagnostics import Report

GOLDEN = Path(__file__).parents[1] / "golden" / "sharding"
SPREAD = {
    "bridge": ("vid", "vid", "vid"),
    "conn_limiter": ("flow.src", "flow.dst"),
    "dns_guard": ("flow.src", "flow.dst"),
    "firewall": (
        "quoted_flow.reversed if icmp.quoted.ipv4 or icmpv6.quoted.ipv6, else flow",
        "quoted_flow if icmp.quoted.ipv4 or icmpv6.quoted.ipv6, else flow.reversed",
    ),
    "forwarder": ("flow", "flow"),
    "load_balancer": ("flow", "flow"),
    "nat": tuple(2 * ["quoted_flow.protocol if icmp.quoted.ipv4, else flow.protocol"]),
    "policer": ("ipv4.src", "flow"),
    "port_scan": ("flow.src", "flow"),
    "shaper": ("flow", None),
    "vxlan_gateway": ("outer.ethernet.dst", "inner.ethernet.src"),
}


def nf(*lines: str, use: str = "net.l4") -> str:
    """A spec whose line N + 1 is `lines[N]`."""
    return "\n".join([f"use {use}; nf small {{ port a, b;", *lines, "}"])


def found(folder: Path, *lines: str, use: str = "net.l4") -> tuple[ir.Program, Sharding]:
    p = program(folder, nf(*lines, use=use))
    return p, sharding(p)


def keys(folder: Path, *lines: str, use: str = "net.l4") -> list[str | None]:
    """Each port's shard key in words."""
    p, sharded = found(folder, *lines, use=use)
    return [None if key is None else expression_text(p, key) for key in sharded.keys]


def blocked(folder: Path, *lines: str) -> list[tuple[str, int, str]]:
    """Each blocker's state, line, and reason; nothing is spread."""
    p, sharded = found(folder, *lines)
    assert sharded.keys == (None, None)
    return [(b.state, line(p, b.span), b.reason) for b in sharded.blockers]


# ---------------------------------------------------------------- the examples


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda p: p.stem)
def test_the_examples(path: Path, golden: Callable[[Path, str], None]) -> None:
    p = check(path, Report())
    said = tuple(None if key is None else expression_text(p, key) for key in sharding(p).keys)
    assert said == SPREAD.get(path.stem, (None,) * len(p.ports))
    golden(GOLDEN / f"{path.stem}.txt", show_sharding(p))


# ---------------------------------------------------------------- keys of maps

FLOWS = "state { m: map<Flow, u64> { capacity 4; idle 1s; when full drop; } }"


def test_both_directions_meet_by_the_reversed_flow(tmp_path: Path) -> None:
    one = "on packet from a { m[flow] = 1; send b; }"
    other = 'on packet from b { let n = m[flow.reversed] else drop "no"; send a; }'
    assert keys(tmp_path, FLOWS, one, other) == ["flow", "flow.reversed"]


def test_both_directions_meet_by_the_canonical_flow(tmp_path: Path) -> None:
    assert keys(tmp_path, FLOWS, "on packet { m[flow.canonical] += 1; send b; }") == 2 * ["flow.canonical"]


def test_a_part_of_one_key_is_the_other(tmp_path: Path) -> None:
    state = "state { m: map<(ipv6, u16), u64> { capacity 4; forever; when full drop; }"
    more = "h: map<ipv6, u64> { capacity 4; forever; when full drop; } }"
    handler = "on packet from a { m[(flow.dst, flow.dport)] += 1; h[flow.dst] += 1; send b; }"
    assert keys(tmp_path, state, more, handler) == ["flow.dst", None]


def test_what_the_end_of_an_entry_uses_counts(tmp_path: Path) -> None:
    state = "state { m: map<Flow, u64> { capacity 4; idle 1s; when full drop; }"
    more = "h: map<ipv6, u64> { capacity 4; forever; when full drop; } }"
    use = "on packet from a { m[flow] = 1; send b; }"
    assert keys(tmp_path, state, more, use, "on end m(k, v, why) { h[k.dst] += 1; }") == ["flow.dst", None]


def test_a_condition_on_the_packet_is_part_of_the_key(tmp_path: Path) -> None:
    handler = "on packet from a { if tcp { m[flow] = 1; } else { m[flow.reversed] = 1; } send b; }"
    assert keys(tmp_path, FLOWS, handler) == ["flow if tcp, else flow.reversed", None]


def test_maps_of_different_packets_are_spread_by_all_of_each(tmp_path: Path) -> None:
    """Any two of their places go together, and not each with each."""
    state = "m: set<Flow> { capacity 4; forever; when full drop; }"
    state = f"state {{ {state} n{state[1:]} }}"
    one = "on packet from a { if tcp { m.add(flow); } else { n.add(flow); } send b; }"
    other = 'on packet from b { if tcp { require flow.reversed in m else drop "no"; send a; } '
    other += 'require flow.reversed in n else drop "no"; send a; }'
    assert keys(tmp_path, state, one, other) == ["flow", "flow.reversed"]


def test_many_maps_of_different_packets(tmp_path: Path) -> None:
    """Not every choice of places is tried: of eight flows there are 390,625."""
    state = " ".join(f"m{n}: set<Flow> {{ capacity 4; forever; when full drop; }}" for n in range(8))
    chain = " else ".join(f"if tcp and tcp.dport == {n} {{ m{n}.add(flow); }}" for n in range(8))
    assert keys(tmp_path, f"state {{ {state} }}", f"on packet {{ {chain} send b; }}") == ["flow", "flow"]


OF_TYPES = """
  state {
    m: set<Flow> { capacity 64; forever; when full drop; }
    n: map<(ipv6, u16), u64> { capacity 64; forever; when full drop; }
    h: set<ipv6> { capacity 64; forever; when full drop; }
  }
  on packet from a {
    if tcp { m.add(flow); } else if udp { n[(flow.src, flow.dport)] += 1; } else { h.add(flow.dst); }
    send b;
  }
  on packet from b {
    require flow.reversed in m else drop "unknown";
    send a;
  }"""


def test_maps_of_different_packets_have_keys_of_their_types(tmp_path: Path) -> None:
    """Both ports have numbers, so that a packet of the second meets what one of the first left."""
    one, other = keys(tmp_path, OF_TYPES)
    assert one is not None and one.startswith(
        "hash(flow.src, flow.dst, flow.sport, flow.dport, flow.protocol) if tcp, "
    )
    assert " else hash(flow.src, flow.dport," in one and " if udp, else hash(flow.dst," in one
    assert other == "hash(flow.dst, flow.src, flow.dport, flow.sport, flow.protocol)"


def test_a_condition_on_state_is_not(tmp_path: Path) -> None:
    state = "state { m: map<mac, u64> { capacity 4; idle 1s; when full drop; } }"
    handler = "on packet from a {\n if ethernet.src in m { m[ethernet.dst] = 1; }\n send b; }"
    assert blocked(tmp_path, state, "relevant ethernet.{src, dst};", handler) == [
        (
            "m",
            2,
            "is used by ethernet.src (line 5) and by ethernet.dst (line 5): no part of these keys is always the same",
        )
    ]


def test_a_field_that_was_written_is_what_was_written(tmp_path: Path) -> None:
    state = "state { m: map<mac, u64> { capacity 4; idle 1s; when full drop; } }"
    contract = "relevant ethernet.{src, dst};"
    write = "on packet from a { ethernet.src = ethernet.dst; m[ethernet.src] += 1; send b; }"
    assert keys(tmp_path, state, contract, write) == ["ethernet.dst", None]


def test_two_names_of_one_field_are_one(tmp_path: Path) -> None:
    """`flow.protocol` is `ipv4.protocol` where only IPv4 passes."""
    state = "state { m: map<u8, u64> { capacity 4; forever; when full drop; }"
    more = "n: map<u8, u64> { capacity 4; forever; when full drop; } }"
    uses = "on packet from a { m[flow.protocol] += 1; n[ipv4.protocol] += 1; send b; }"
    assert keys(tmp_path, 'relevant flow, ipv4.protocol else drop "no";', state, more, uses) == ["flow.protocol", None]
    guarded = uses.replace("n[", "if ipv4 { n[").replace("; send", "; } send")
    assert keys(tmp_path, state, more, guarded) == ["flow.protocol", None]
    guarded = guarded.replace("ipv4.protocol", "ipv4.ttl")
    assert keys(tmp_path, state, more, guarded) == [None, None]


def test_the_port_is_part_of_a_key(tmp_path: Path) -> None:
    state = "state { m: map<(port, u8), u64> { capacity 4; forever; when full drop; } }"
    assert keys(tmp_path, state, "on packet { m[(in_port, flow.protocol)] += 1; send b; }") == [
        "in_port, flow.protocol",
        "in_port, flow.protocol",
    ]


def test_what_a_loop_counts_is_not_known(tmp_path: Path) -> None:
    state = "state { m: map<u64, u64> { capacity 4; forever; when full drop; } }"
    assert blocked(tmp_path, state, "on packet from a { for i in 0..3 { m[i] = 1; } send b; }") == [
        ("m", 2, "is keyed by `i`, which is not computed from the packet alone (line 3)")
    ]


# ---------------------------------------------------------------- indexes and pools

NAT = (
    "config addresses: list<ipv4>;",
    'relevant flow, ipv4.{src, dst, protocol}, l4.{sport, dport} else drop "no";',
    "state { free: pool<Endpoint> { from addresses, 1024..65535; per ipv4.protocol; }",
    "  out: map<Flow, Endpoint from free> { capacity 1K; idle 2min; when full drop; }",
    "  index back: out by (key.protocol, value, key.dst, key.dport); }",
    "on packet from a { let e = out[flow] else {",
    '  let taken = free.take() else drop "no port"; out[flow] = taken; taken };',
    "  ipv4.src = e.ip; l4.sport = e.port; send b; }",
    "on packet from b {",
    '  let m = back[(flow.protocol, Endpoint { ip: ipv4.dst, port: l4.dport }, flow.src, flow.sport)] else drop "no";',
    "  ipv4.dst = m.key.src as ipv4; l4.dport = m.key.sport; send a; }",
)


def test_a_nat_is_spread_by_what_its_pool_is_divided_by(tmp_path: Path) -> None:
    """A value has one owner at a time, whoever its peer is: cores that share the values must share the pool."""
    assert keys(tmp_path, *NAT) == ["flow.protocol", "flow.protocol"]


def test_a_nat_with_a_pool_per_core_is_spread_by_the_remote_endpoint(tmp_path: Path) -> None:
    lines = [x.replace("pool<Endpoint> {", "pool<Endpoint> per core {") for x in NAT]
    assert keys(tmp_path, *lines) == ["flow.{dst, dport, protocol}", "flow.{src, sport, protocol}"]


def test_an_index_without_the_remote_leaves_one_core(tmp_path: Path) -> None:
    lines = [x.replace(", key.dst, key.dport", "").replace(", flow.src, flow.sport", "") for x in NAT]
    lines = [x.replace("pool<Endpoint> {", "pool<Endpoint> per core {") for x in lines]
    assert keys(tmp_path, *lines) == ["flow.protocol", "flow.protocol"]
    lines = [x.replace("(key.protocol, value)", "value").replace("(flow.protocol, Endpoint", "Endpoint") for x in lines]
    lines = [x.replace("l4.dport })]", "l4.dport }]") for x in lines]
    assert keys(tmp_path, *lines) == [None, None]


def test_a_pool_without_partitions_is_shared(tmp_path: Path) -> None:
    lines = [x.replace(" per ipv4.protocol;", "") for x in NAT]
    p, sharded = found(tmp_path, *lines)
    assert [(b.state, line(p, b.span)) for b in sharded.blockers] == [("free", 4)]
    assert sharded.blockers[0].reason == "hands out each value once among all packets (line 8)"


# ---------------------------------------------------------------- what all packets share


def test_a_scalar_is_shared_unless_per_core_or_never_written(tmp_path: Path) -> None:
    handler = "on packet from a { n += 1; send b; }"
    assert blocked(tmp_path, "state { n: u64; }", handler) == [("n", 2, "is shared by all packets (line 3)")]
    assert keys(tmp_path, "state { n: u64 per core; }", handler) == ["flow", None]
    read = 'on packet from a { if n == 3 { send b; } drop "no"; }'
    assert keys(tmp_path, "state { n: u64 = 3; }", read) == ["flow", None]


def test_an_array_is_spread_by_its_index(tmp_path: Path) -> None:
    state = "state { hits: array<u64>[256]; }"
    assert keys(tmp_path, state, "on packet from a { hits[flow.protocol as u64] += 1; send b; }") == [
        "flow.protocol",
        None,
    ]
    config = "config t: map<u8, u64>;"
    handler = 'on packet from a { let i = t[flow.protocol] else drop "no"; hits[i] += 1; send b; }'
    assert blocked(tmp_path, state, config, handler) == [
        ("hits", 2, "is keyed by `i`, which is not computed from the packet alone (line 4)")
    ]


@pytest.mark.parametrize(
    ("state", "use"),
    [
        ("s: count_min<Flow> { error 1%; confidence 99%; }", "s.add(flow, 1);"),
        ("s: bloom<Flow> { capacity 1K; error 1%; }", "s.add(flow);"),
        ("s: hyperloglog<Flow> { error 2%; }", "s.add(flow);"),
        ("s: top_k<Flow> { k 10; error 1%; }", "s.add(flow, 1);"),
    ],
)
def test_estimates_depend_on_all_that_was_added(tmp_path: Path, state: str, use: str) -> None:
    handler = f"on packet from a {{ {use} send b; }}"
    assert blocked(tmp_path, f"state {{ {state} }}", handler) == [
        ("s", 2, "depends on all that is added to it (line 3)")
    ]
    assert keys(tmp_path, f"state {{ {state.replace(' {', ' per core {', 1)} }}", handler) == ["flow", None]


def test_len_and_loops_use_the_whole_map(tmp_path: Path) -> None:
    put = "m[flow] = 1;"
    length = f'on packet from a {{ {put} require m.len < 3 else drop "no"; send b; }}'
    assert blocked(tmp_path, FLOWS, length) == [("m", 2, "is used as a whole (line 3)")]
    loop = f"on packet from a {{ {put} for k, v in m {{ remove m[k]; }} send b; }}"
    assert blocked(tmp_path, FLOWS, loop) == [("m", 2, "is used as a whole (line 3)")]


def test_keys_without_a_common_part(tmp_path: Path) -> None:
    state = "state { m: map<ipv6, u64> { capacity 4; forever; when full drop; }"
    more = "n: map<u16, u64> { capacity 4; forever; when full drop; } }"
    assert blocked(tmp_path, state, more, "on packet from a { m[flow.src] += 1; n[flow.dport] += 1; send b; }") == [
        (
            "n",
            3,
            "is used by flow.dport (line 4), but `m` by flow.src (line 4): these keys have no part in common",
        )
    ]


def test_a_bridge_without_tags_is_not_spread(tmp_path: Path) -> None:
    state = "state { m: map<mac, port> { capacity 4; age 1s; when full evict oldest; } }"
    learn = "on packet { m[ethernet.src] = in_port;\n let p = m[ethernet.dst] else send ports - in_port;\n send p; }"
    assert blocked(tmp_path, state, learn, 'relevant ethernet.{src, dst} else drop "runt";') == [
        (
            "m",
            2,
            "is used by ethernet.src (line 3) and by ethernet.dst (line 4): no part of these keys is always the same",
        )
    ]


def test_ports_without_shared_state_are_spread_by_the_class(tmp_path: Path) -> None:
    one, other = "on packet from a { n += 1; send b; }", "on packet from b { send a; }"
    assert keys(tmp_path, "state { n: u64; }", one, other) == [None, "flow"]


# ---------------------------------------------------------------- timers


def test_timers_run_on_no_core_of_a_packet(tmp_path: Path) -> None:
    handler, timer = "on packet from a { m[flow] = 1; send b; }", "every 1s { remove m[FLOW]; }"
    state = FLOWS.replace("map<Flow", "map<u8").replace("Flow", "u8")
    handler = handler.replace("flow", "flow.protocol")
    assert blocked(tmp_path, state, handler, timer.replace("FLOW", "6")) == [
        ("m", 2, "is used by every 1s (line 4), which belongs to no packet and so to no core")
    ]


def test_a_timer_that_emits_would_emit_on_every_core(tmp_path: Path) -> None:
    emit = "emit ethernet { src: 02:00:00:00:00:01, dst: 02:00:00:00:00:02 } payload payload_of to a;"
    emit = emit.replace(" payload payload_of", "")
    handler = "on packet from a { send b; }"
    assert blocked(tmp_path, handler, f"every 1s {{ {emit} }}") == [
        ("every 1s", 3, "emits a packet (line 3), and every core would emit one")
    ]
    own = f"every 1s {{ if n > 3 {{ {emit} }} n = 0; }}"
    assert keys(tmp_path, "state { n: u64 per core; }", handler.replace("{ s", "{ n += 1; s"), own) == ["flow", None]


# ---------------------------------------------------------------- schedules


def test_policies_with_classes_are_spread_by_class(tmp_path: Path) -> None:
    handler = "on packet from a { send b; }"
    police = "schedule { class ethernet.src; police 1Mbps, 10KB; classes 8; idle 10s; when full drop; }"
    assert keys(tmp_path, "relevant ethernet.src;", police, handler) == ["ethernet.src", None]
    both = "on packet from a { n[ethernet.dst] += 1; send b; }"
    state = "state { n: map<mac, u64> { capacity 4; forever; when full drop; } }"
    assert blocked(tmp_path, "relevant ethernet.{src, dst};", police, state, both)


@pytest.mark.parametrize(
    ("schedule", "reason"),
    [
        ("class flow; reframe 1ms, 8;", "has one buffer for all packets"),
        ("class flow; fifo; serve 1Gbps; buffer 1MB; when full drop;", "fifo serves each port's packets on one link"),
        (
            "class flow; drr 1; serve 1Gbps; buffer 1MB; when full drop;",
            "drr serves each port's packets on one link",
        ),
    ],
)
def test_policies_that_all_packets_share(tmp_path: Path, schedule: str, reason: str) -> None:
    handler = "on packet from a { send b; }"
    assert blocked(tmp_path, f"schedule {{ {schedule} }}", handler) == [("schedule", 2, reason)]
