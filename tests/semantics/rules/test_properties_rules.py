"""LANGUAGE.md section 12 in the front end: what a property may say, and of which type everything is.

The trees that an evaluator gets: tests/language/test_property_tree.py. Messages: test_property_errors.py there.
"""

from __future__ import annotations

from polysome.ir import program as ir
from polysome.ir import properties as pr
from polysome.semantics.property_builtins import FUNCTIONS
from polysome.semantics.property_usage import USAGE
from rules.harness import errors, program, run
from rules.packets import ethernet, ipv4, udp

NF = """use net.l4;
struct Meter { bucket: token_bucket(1Mbps, 64KB), n: u8 }
nf n {
  port a, b;
  param limit: u64 = 5;
  config backends: list<ipv4>;
  config plans: map<ipv4, u64>;
  config level: u64 = 1;
  state {
    total: u64;
    sticky: map<Flow, ipv4> { capacity 1K; idle 30s; when full evict oldest; }
    index by_ip: sticky by (value, key.sport);
    hosts: set<ipv6> { capacity 1K; age 1h; when full pass; }
    counts: array<u64>[4];
    talkers: top_k<Flow> { k 2; error 1%; }
    seen: bloom<Flow> { capacity 1K; error 1%; }
    free: pool<u16> { from 1024..65535; }
    meters: map<u8, Meter> { capacity 8; forever; when full drop; }
  }
  schedule { class flow.protocol; fifo; }
  on packet {
    total += 1;
    emit ethernet { dst: 02:00:00:00:00:02, src: 02:00:00:00:00:01 }, ipv4 { src: 10.0.0.1, dst: 10.0.0.2 } to a;
    send b;
  }
  TEXT
}
"""


def wrong(text: str) -> list[str]:
    """The errors of a property of these items."""
    return errors(NF.replace("TEXT", f"property one {{ {text} }}"))


def says(*conditions: str) -> list[str]:
    """The errors of conditions over the packets p and q, emitted e, flow f and times t, u."""
    lets = "let f = e.cause.flow; let t = e.at; let u = t + 1s;"
    expects = " ".join(f"expect {c};" for c in conditions)
    return wrong(f"for e in emitted {lets} for p, q in trace let z = 0 as u8; {expects}")


def refused(codes: dict[str, str]) -> None:
    """Each condition has an error of its own, in one spec."""
    assert says(*codes) == list(codes.values())


# ---------------------------------------------------------------- L12.1, L12.2


def test_L12_1_a_property_is_made_of_for_let_and_expect() -> None:
    assert wrong("expect 1 < limit;") == []
    assert wrong("for p in trace where p.sent expect p.out_port == b;") == []
    assert wrong("let n = count(p in trace); expect n > 3; for p in trace expect p.len < 9KB; expect n < 5;") == []


def test_L12_1_it_has_at_least_one_expect() -> None:
    assert wrong("let n = count(p in trace);") == ["E0907"]
    assert wrong("for p in trace let n = p.len;") == ["E0907"]


def test_L12_1_an_expectation_is_a_condition() -> None:
    assert wrong("expect 5 + limit;") == ["E0301"]
    assert wrong("for p in trace where p.len expect p.sent;") == ["E0301"]


def test_L12_1_it_changes_nothing() -> None:
    data = ethernet(ipv4(udp(b"abc")))
    with_one = NF.replace("TEXT", "property one { for p in trace expect p.dropped and p.after.total == 99; }")
    one, none = (run(spec, [(0, "a", data)] * 3) for spec in (with_one, NF.replace("TEXT", "")))
    assert (one.left, one.emitted, one.state["total"]) == (none.left, none.emitted, none.state["total"])


def test_L12_1_it_cannot_write() -> None:
    refused(dict.fromkeys(("p.after.free.take()", "p.before.hosts.add(::1)"), "E0505"))
    assert wrong("for p in trace expect p.in.ipv4.ttl = 1;") == ["E0101"]


def test_L12_1_names_of_properties_differ() -> None:
    text = "property one { expect true; } property one { expect true; }"
    assert errors(NF.replace("TEXT", text)) == ["E0203"]


def test_L12_1_the_lines_above_say_what_it_promises() -> None:
    one = "/// Not this.\n\n// Nor this.\nproperty one { expect true; }"
    text = f"{one}  /// Nor that.\n  /// Only\n  /// this.\n  property two {{ expect true; }}"
    assert [p.doc for p in program(NF.replace("TEXT", text)).properties] == ["", "Only\nthis."]


def test_L12_2_for_runs_over_packets_lists_sets_and_maps() -> None:
    domains = (
        "for p in trace expect p.sent;",
        "for p, q, r in trace expect p.at <= q.at and q.at <= r.at;",
        "for e, f in emitted expect e.at <= f.at;",
        "for x in backends expect x != 0.0.0.0;",
        "for p in trace for h in p.after.hosts expect h != ::;",
        "for p in trace for m in p.after.sticky expect m.value != 0.0.0.0 and m.key.sport > 0;",
        "for p in trace for k, v in p.after.sticky expect v != 0.0.0.0 and k.sport > 0;",
        "for p in trace for k, n in p.after.talkers expect n > 0 and k.sport > 0;",
        "for x in {1, 2} expect x < 3;",
    )
    assert wrong(" ".join(domains)) == []


def test_L12_2_and_over_nothing_else() -> None:
    domains = (
        "for x, y in backends expect true;",
        "for p in trace for k, v, w in p.after.sticky expect true;",
        "for x in 5 expect true;",
    )
    assert wrong(" ".join(domains)) == ["E0906"] * 3
    assert wrong("for h in hosts expect true;") == ["E0903"]


def test_L12_2_let_behind_a_for_belongs_to_it() -> None:
    assert (
        wrong("for p in trace let f = p.flow; expect f == p.flow; for q in trace where q.flow == f expect p.sent;")
        == []
    )
    assert wrong("for p in trace expect p.sent; expect p.sent;") != []  # without `let`, the `for` ends with its item


# ---------------------------------------------------------------- L12.3 to L12.6


def test_L12_3_a_field_needs_no_test_of_its_header() -> None:
    assert says("p.in.tcp.sport == 80", "p.in.vlan[1].vid != 5", "not (p.out.icmp.type == 8)", 'p.reason == "x"') == []


def test_L12_3_nor_does_a_lookup_need_else() -> None:
    conditions = ("p.after.sticky[f] == 10.0.0.1", "p.after.counts[9] == 0", "1 / p.after.total == 1")
    assert says(*conditions, "plans[10.0.0.1] == 3") == []
    assert wrong("for p in trace let v = p.after.sticky[p.flow] else 0.0.0.0; expect true;") == ["E0101"]


def test_L12_4_what_a_packet_has() -> None:
    conditions = (
        *("p.sent", "p.dropped", "p.held", 'p.reason == "policed"', "p.at + 1s > p.left", "p.place < q.place"),
        *("p.number < q.number", "p.in_port == a", "b in p.ports", "p.out_port == b", "p.len == 60B"),
        *("p.class == 17", "p.flow == q.flow", "p.fragment", "p.quoted_flow.sport == 0", "p == q", "p != q"),
        *("p.changes == q.changes", "q.changes == p.changes + 1"),
    )
    assert says(*conditions) == []


def test_L12_4_and_what_it_does_not_have() -> None:
    refused({
        "p.nothing": "E0901", "p.at == 5": "E0315", "p.class == flow": "E0902", "p.out_port == 3": "E0315",
        "p < q": "E0315", "p.ports == a": "E0315", "p": "E0301",
    })  # fmt: skip


def test_L12_5_the_packet_before_and_after() -> None:
    conditions = (
        *("p.in.ipv4.src == 10.0.0.1", "p.out.ip.dscp == p.in.ip.dscp", "p.in.vlan[0]", "p.out.l4"),
        *("p.in.len == p.out.len", "p.in.payload == p.out.payload", "p.in.payload[0..2] == 0x1234", "p.in == q.out"),
        *("p.in.ipv4.options == p.out.ipv4.options", "p.in.payload.len > 0", "p.in.ipv4.checksum != 0"),
        *("p.out.flow == p.flow", "p.in == p.out"),
    )
    assert says(*conditions) == []


def test_L12_5_nothing_else() -> None:
    refused({
        "p.in.nothing": "E0901", "p.in.ipv4.nothing == 1": "E0402", "p.in": "E0301", "p.in.total == 1": "E0901",
        "p.ipv4.src == 10.0.0.1": "E0901",
    })  # fmt: skip


def test_L12_6_what_an_emitted_packet_has() -> None:
    conditions = ("e.at == t", "e.port == a", "e.cause == p", "e.cause.in_port == a", "e.ipv4", "e.len > 5B")
    assert says(*conditions, "e.ipv4.dst == 10.0.0.2") == []


def test_L12_6_it_has_no_verdict_and_no_state() -> None:
    conditions = ("e.sent", 'e.reason == "x"', "e.left == t", "e.after.total == 1", "e.in.len == 5B")
    refused(dict.fromkeys(conditions, "E0901"))


# ---------------------------------------------------------------- L12.7: state


def test_L12_7_state_and_config_around_a_packet() -> None:
    conditions = (
        *("p.after.total == p.before.total + 1", "p.after.counts[2] == 5", "p.after.sticky[f] == 10.0.0.1"),
        *("p.after.sticky.peek(f) == 10.0.0.1", "p.before.by_ip[(10.0.0.1, 5)].key == f", "f in p.after.sticky"),
        *("::1 in p.after.hosts", "(10.0.0.1, 5) in p.after.by_ip", "f in p.after.seen", "p.after.sticky.len == 1"),
        *("p.after.talkers.estimate(f) > 3", "p.after.free.len == 3", "p.after.meters[1].bucket.has(5B)"),
        *("p.before.level == 3", "p.after.backends[0] == 10.0.0.1", "p.after.backends.len == 2", "level == 3"),
        *("10.0.0.1 in p.before.plans", "p.before.plans[10.0.0.1] == 4", "p.after.meters[1].n == 1"),
    )
    assert says(*conditions) == []


def test_L12_7_state_without_a_packet_is_an_error() -> None:
    conditions = ("total == 1", "f in sticky", "counts[1] == 2", "talkers.estimate(f) > 1", "sticky[f] == 10.0.0.1")
    refused(dict.fromkeys(conditions, "E0903"))


def test_L12_7_methods_that_write_are_errors() -> None:
    conditions = ("p.after.talkers.add(f)", "p.after.meters[1].bucket.take(5B)", "p.after.talkers.clear()")
    refused(dict.fromkeys(conditions, "E0505"))


# ---------------------------------------------------------------- L12.8 to L12.13


def test_L12_8_exists_and_forall() -> None:
    conditions = (
        *(
            "exists r in trace where r.sent",
            "forall r in trace where r.at <= u",
            "exists x in backends where x == ::1 as ipv4",
        ),
        *("forall k in p.after.hosts where k != ::", "not exists r in emitted where r.cause == p"),
        "exists r in trace where forall s in trace where r.at <= s.at",
    )
    assert says(*conditions) == []


def test_L12_8_over_a_domain_and_with_a_condition() -> None:
    refused({
        "exists r in trace where r.len": "E0301", "exists r in 5 where true": "E0906",
        "exists r in trace where s.sent": "E0213",
    })  # fmt: skip


def test_L12_9_aggregates_and_their_types() -> None:
    types = {
        "count(r in trace where r.sent)": "u64",
        "count(r in trace)": "u64",
        "sum(r in trace: r.len)": "bytes",
        "sum(r in trace where r.sent: r.in.ipv4.ttl)": "u64",  # at least 64 bits
        "min(r in trace where r.sent: r.left)": "time",
        "max(r in trace: r.in.ipv4.ttl)": "u8",
        "distinct(r in trace where r.sent: r.flow)": "u64",
        "min(1 as u8, 2)": "u8",
    }
    lets = "".join(f"let x{i} = {expression};" for i, expression in enumerate(types))
    (found,) = program(NF.replace("TEXT", f"property one {{ {lets} expect true; }}")).properties
    assert isinstance(found, pr.Property)
    assert [str(item.value.type) for item in found.items if isinstance(item, pr.Let)] == list(types.values())


def test_L12_9_their_forms() -> None:
    refused({
        "sum(r in trace: r.at) == 5": "E0909", "count(r in trace: r.len) == 1": "E0908",
        "sum(r in trace where r.sent) == 1": "E0908",
    })  # fmt: skip


def test_L12_10_windows() -> None:
    conditions = (
        *("within(p.at, t..u)", "bytes(f, t..u) <= 5KB", "packets(f, t..u) == 3", "bytes(class: 17, t..u) < 1KB"),
        *("packets(class: 17, t..t + 1s) == 0", "no_gap(f, 5s, t..u)", "no_gap(f, 5s)"),
    )
    assert says(*conditions) == []


def test_L12_10_their_forms() -> None:
    refused({
        "within(p.at, t)": "E0908", "bytes(f) < 5KB": "E0908", "bytes(5, t..u) < 5KB": "E0301", "no_gap(5s)": "E0908",
        "packets(f, 1ns..u) == 1": "E0301",
    })  # fmt: skip


def test_L12_11_ends_of_entries() -> None:
    conditions = (
        *("ended(sticky[f])", "ended(sticky[f], End.idle)", "evicted(sticky[f])", "evicted(sticky[f], t..u)"),
        *(
            "ended(sticky[f], End.removed, t..u)",
            "ended(hosts[::1], End.age)",
            "evicted(f, p.at..q.at + 1ns)",
            "evicted(f)",
        ),
    )
    assert says(*conditions) == []


def test_L12_11_without_a_key_any_entry() -> None:
    conditions = ("ended(End.idle)", "ended(t..u)", "ended(End.removed, t..u)", "evicted(t..u)", "full()", "full(t..u)")
    assert says(*conditions) == []
    refused(dict.fromkeys(("ended()", "evicted()", "full(f)", "full(t..u, t..u)", "evicted(End.idle)"), "E0908"))
    (found,) = program(NF.replace("TEXT", "property one { for p in trace expect ended(p.at..p.at); }")).properties
    (loop,) = found.items
    assert loop.body[0].condition.maps == ("sticky", "hosts", "meters") and loop.body[0].condition.key is None


def test_L12_11_of_maps_and_sets_only() -> None:
    refused({
        "ended(counts[1])": "E0903", "ended(sticky[5])": "E0301", "ended(sticky[f], 3)": "E0301",
        "ended(by_ip[(10.0.0.1, 5)])": "E0903",
    })  # fmt: skip


def test_L12_12_checksums() -> None:
    assert says("checksums_valid(p.in)", "checksums_valid(p.out)", "checksums_valid(p)", "checksums_valid(e)") == []
    uses = ("checksums_valid()", "checksums_valid(5)", "checksums_valid(p.in.ipv4)", "checksums_valid(p, q)")
    refused(dict.fromkeys(uses, "E0908"))


def test_L12_13_runs_and_their_options() -> None:
    options = (
        *("engine: interp", "engine: native", "engine: system", "batch: 32", "cores: 4", "split: true"),
        *("scramble: true", "steps: 3", "jump: 2s", "ties: 2", "capacity: 4", "collisions: true"),
        *("faults: loss", "faults: {loss, reordering}", "cores: 2, batch: 1"),
    )
    assert says(*(f"outputs({option}) == outputs()" for option in options)) == []
    assert says("outputs(cores: 4) <= outputs(cores: 2)", "outputs(cores: 4) != outputs(cores: 2)") == []


def test_L12_13_no_other_options_values_or_comparisons() -> None:
    refused({
        "outputs(speed: 3) == outputs()": "E0911", "outputs(batch: true) == outputs()": "E0301",
        "outputs() < outputs()": "E0315", "outputs()": "E0301", "outputs(engine: none) == outputs()": "E0912",
    })  # fmt: skip


# ---------------------------------------------------------------- L12.14


def test_L12_14_traffic() -> None:
    text = "traffic { rate 300Gbps; mean 1KB; flows 13M; new 3M per second; }"
    assert program(NF.replace("TEXT", text)).traffic == ir.Traffic(300 * 10**9, 1000, 13 * 10**6, 3 * 10**6)
    assert program(NF.replace("TEXT", "traffic { rate 1Gbps; }")).traffic == ir.Traffic(10**9, None, None, None)
    assert program(NF.replace("TEXT", "")).traffic is None


def test_L12_14_its_units() -> None:
    traffic = {"new 3M;": "E0705", "rate 5;": "E0301", "speed 1Gbps;": "E0510", "new 3 per minute;": "E0705"}
    for clause, code in traffic.items():
        assert errors(NF.replace("TEXT", f"traffic {{ {clause} }}")) == [code]


# ---------------------------------------------------------------- L12.15


def about(function: str, *conditions: str) -> list[str]:
    """The errors of conditions over the packets p and q and emitted e, in an NF with a function over packets."""
    expects = " ".join(f"expect {c};" for c in conditions)
    text = f"{function} property one {{ for e in emitted for p, q in trace let z = 0 as u64; {expects} }}"
    return errors(NF.replace("use net.l4;", "use net.l4; use net.vxlan;").replace("TEXT", text))


def test_L12_15_functions_over_packets() -> None:
    function = (
        "fn near(p: packet, q: packet, most: u64) -> bool { let n = q.number - p.number; n <= most and n < limit }"
    )
    assert about(function, "near(p, q, 3)", "near(q, p, z + 1)", "exists r in trace where near(r, r, limit)") == []
    both = "fn one(p: packet) -> bool { p.sent } fn two(p: packet, q: packet) -> bool { one(p) and one(q) }"
    assert about(both, "two(p, q)", "not one(q)") == []


def test_L12_15_packets_are_given_by_name() -> None:
    function = "fn sent(p: packet, sure: bool) -> bool { p.sent and sure }"
    given = {
        **dict.fromkeys(("sent(z, true)", "sent(e, true)", "sent(p.in, true)", "sent(e.cause, true)"), "E0321"),
        **dict.fromkeys(("sent(p)", "sent(p, true, 1)", "sent(sure: p, true)"), "E0321"),
        "sent(p, 5)": "E0301",
    }
    assert about(function, *given) == list(given.values())


def test_L12_15_only_properties_use_them() -> None:
    function = "fn sent(p: packet) -> bool { p.sent }"
    assert errors(NF.replace("TEXT", function).replace("total += 1;", "if sent(total) { total += 1; }")) == ["E0204"]
    for text in ("struct S { p: packet }", "fn f(p: u8) -> packet { p }", "config c: packet;"):
        assert errors(NF.replace("TEXT", "" if "struct" in text else text) + (text if "struct" in text else "")) == [
            "E0204"
        ]


def test_L12_15_a_type_of_that_name_is_another_thing() -> None:
    own = NF.replace("struct Meter", "struct packet { n: u8 } struct Meter")
    text = "fn twice(p: packet) -> u8 { p.n * 2 } property one { expect twice(packet { n: 2 }) == 4; }"
    assert errors(own.replace("TEXT", text).replace("total += 1;", "total += twice(packet { n: 1 }) as u64;")) == []


def test_L12_15_they_see_no_state_and_end() -> None:
    bodies = {
        "p.before.total > 0": ["E0904"], "p.after.level == 1": ["E0904"], "f(p)": ["E0324"],
        "let n = 1 as u8;": ["E0325"],
        "n == 0": ["E0213"], "p.unknown": ["E0901"], "p.in.ipv4.ttl": ["E0301"],
    }  # fmt: skip
    for body, expected in bodies.items():
        found = f"fn f(p: packet) -> bool {{ {body} }}"
        assert (about(found, "f(p)"), about(found)) == (expected, [*expected, "E0907"]), body


def test_L12_15_headers_that_the_parser_never_extracts() -> None:
    for body in ("p.in.vxlan and p.out.vxlan", "p.in.vxlan.vni == 5", "p.in.ipv4 and not p.in.vxlan"):
        assert about(f"fn f(p: packet) -> bool {{ {body} }}", "f(p)") == []
    for body in ("p.in.vxlan.colour == 5", "p.in.geneve", "p.in.vxlan.vni.bit == 5", "p.in.vxlan.vni"):
        (code,) = about(f"fn f(p: packet) -> bool {{ {body} }}", "f(p)")
        assert code in ("E0901", "E0301", "E0308"), (body, code)
    assert about("", "p.in.vxlan") == ["E0901"]


def test_each_function_of_properties_says_how_it_is_written() -> None:
    assert set(FUNCTIONS) == set(USAGE)
