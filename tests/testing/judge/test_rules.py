"""LANGUAGE.md L12.1 to L12.13, and L12.15, on traces whose answers are known: what holds, what fails.

`CASES`: a property's text, and the run that it judges (talk.py).
"""

from __future__ import annotations

import dataclasses
from functools import cache

import pytest

from polysome.engines import ENGINES
from polysome.kinds.state.acl import AclRow
from polysome.testing.judge import properties
from polysome.testing.spec import Spec

from .kit import MS, S, judged, run, spec
from .talk import BURST, CONFIG, LATER, MANY, NF, ODD, SPREAD, TALK, alone, judge, one

# (rule, the property, the run, does it hold?)
CASES: list[tuple[str, str, list[tuple[int, str, bytes]], bool]] = [
    ("L12_1", "expect true;", [], True),
    ("L12_1", "expect 1 > limit;", [], False),
    ("L12_1", "for p in trace expect p.held;", [], True),
    ("L12_1", "expect true; for p in trace expect p.number != 4; expect false;", TALK, False),
    ("L12_2", "for p, q in trace expect p.number < q.number;", TALK, True),
    ("L12_2", "for p, q, r in trace expect p.number + 2 == r.number;", TALK[:3], True),
    ("L12_2", "for p, q, r in trace expect p.number + 2 == r.number;", TALK[:4], False),
    (
        "L12_2",
        "for p in trace let n = p.number; let m = n + 1; for q in trace where q.number == m expect q.at >= p.at;",
        TALK,
        True,
    ),
    (
        "L12_2",
        "for p in trace where p.number == 1 let n = p.number; expect n == 1; for q in trace expect n < 1;",
        TALK,
        False,
    ),
    ("L12_2", "for e, f in emitted expect e.at < f.at;", LATER, True),
    ("L12_2", "expect count(e in emitted) == 2;", LATER, True),
    ("L12_2", "for x in addresses expect x in 10.0.0.0/8;", [], True),
    ("L12_2", "for k, v in plans expect k == 10.0.0.1 and v.burst == 1000B;", [], True),
    ("L12_2", "for m in plans expect m.key == 10.0.0.1 and m.value.rate == 8Mbps;", [], True),
    ("L12_2", "for p in trace for x in p.ports expect x != a;", TALK, False),
    ("L12_2", "for p in trace for k, v in p.after.seen expect v <= 2;", TALK, True),
    (
        "L12_2",
        "for p in trace where p.number == 2 for k, v in p.after.talkers expect v == 2 and k == p.flow;",
        TALK,
        True,
    ),
    ("L12_3", "for p in trace expect not (p.in.tcp.sport == 7) and not (p.in.tcp.sport != 7);", TALK, True),
    ("L12_3", "for p in trace expect not (p.in.tcp.sport in {7, 8}) and not (p.in.ipv6.src in ::/0);", TALK, True),
    ("L12_3", "for p in trace expect not (p.number / 0 == p.number / 0) and not (p.number % 0 >= 0);", TALK, True),
    ("L12_3", "for p in trace expect not (addresses[2] == addresses[2]) and addresses[1] == 10.0.0.2;", TALK, True),
    ("L12_3", "for p in trace expect not (p.before.counts[4] == p.before.counts[4]);", TALK, True),
    (
        "L12_3",
        "for p in trace where p.dropped expect not (p.left <= p.left) and not (p.out.len == p.out.len);",
        TALK,
        True,
    ),
    ("L12_3", "for p in trace where p.sent expect p.reason == p.reason;", TALK, False),
    ("L12_3", "for p in trace where p.sent expect not (p.reason == p.reason);", TALK, True),
    ("L12_3", "expect not (min(p in trace: p.at) == max(p in trace: p.at));", [], True),
    ("L12_3", "for p in trace expect not ((p.in.tcp.sport, 1) == (p.in.tcp.sport, 1));", TALK, True),
    ("L12_3", "for p in trace let n = 1 / (p.number - p.number); expect not (n + 1 == n + 1);", TALK, True),
    ("L12_4", "for p in trace expect p.sent and not p.dropped or p.dropped and not p.held;", TALK, True),
    ("L12_4", "expect count(p in trace where p.held) == 1 and count(p in trace where p.sent) == 4;", BURST, True),
    ("L12_4", 'for p in trace where p.dropped expect p.reason == "no TLS";', TALK, False),
    ("L12_4", 'for p in trace where p.dropped expect p.reason in {"no TLS", "no handler"};', TALK, True),
    ("L12_4", "for p in trace where p.number == 2 expect p.left == p.at + 500us and p.place == 2;", BURST, True),
    ("L12_4", "for p in trace where p.number < 2 expect p.left == p.at and p.place == p.number;", BURST, True),
    (
        "L12_4",
        "for p in trace where p.number == 4 expect p.ports == {b, c} and p.ports.len == 2 and p.place == 4;",
        TALK,
        True,
    ),
    ("L12_4", "for p in trace where p.number == 4 expect p.out_port == p.out_port;", TALK, False),
    (
        "L12_4",
        "for p in trace where p.number == 0 expect p.out_port == b and p.in_port == a and p.len == 100B;",
        TALK,
        True,
    ),
    ("L12_4", "for p, q in trace where p.flow == q.flow expect p.class == q.class;", TALK[:3], True),
    (
        "L12_4",
        "for p in trace expect (exists q in trace where q == p) and count(q in trace where q != p) == 5;",
        TALK,
        True,
    ),
    (
        "L12_4",
        "for p in trace where p.number == 1 expect p.flow.reversed.sport == 1000 and not p.fragment;",
        TALK,
        True,
    ),
    (
        "L12_5",
        "for p in trace where p.number == 0 expect p.out.ipv4.ttl + 1 == p.in.ipv4.ttl and p.in != p.out;",
        TALK,
        True,
    ),
    ("L12_5", "for p in trace where p.number == 1 expect p.in == p.out and p.in.payload == p.out.payload;", TALK, True),
    ("L12_5", "for p in trace where p.sent expect p.out.len == p.in.len and p.in.payload.len == 58B;", TALK, True),
    (
        "L12_5",
        "for p in trace where p.number == 0 expect p.in.payload[0..2] == 0x7878 and p.in.payload[57..59] == 0x7800;",
        TALK,
        True,
    ),
    (
        "L12_5",
        "for p in trace where p.number == 0 expect p.in.vlan[0].vid == 5 and p.in.vlan[1].vid == 6 "
        "and p.in.l4.sport == 1000 and p.in.ip.dscp == 0 and p.in.ipv4.options[0..2] == 0x0101;",
        ODD,
        True,
    ),
    (
        "L12_5",
        "for p in trace where p.number == 0 expect p.in.payload == p.out.payload and p.in.payload.len == 5B "
        "and p.in.ipv4.options == p.out.ipv4.options and p.in.ipv4.options.len == 4B;",
        ODD,
        True,
    ),
    (
        "L12_5",
        "for p in trace where p.number == 1 expect p.in.icmp.quoted.l4.dport == 53 and p.in.icmp.quoted.ipv4.ttl == 1;",
        ODD,
        True,
    ),
    (
        "L12_5",
        "for p in trace where p.number == 2 expect not p.in.ethernet and p.len == 10B and p.in.payload.len == 10B;",
        ODD,
        True,
    ),
    (
        "L12_6",
        "for e in emitted where e.note expect e.cause.number == 4 and e.at == e.cause.at and e.port == c;",
        LATER,
        True,
    ),
    (
        "L12_6",
        "for e in emitted where e.note expect e.note.number == 77 and e.ethernet.ether_type == 0;",
        LATER,
        True,
    ),
    (
        "L12_6",
        "for e in emitted where not e.note expect e.port == b and not (e.cause.number >= 0) and e.len == 14B;",
        LATER,
        True,
    ),
    ("L12_6", "for e in emitted where e.cause.sent expect e.note.number as u64 == e.cause.number;", LATER, False),
    (
        "L12_6",
        "for e in emitted where e.note expect e.cause.after.total == 3 and e.cause.in.ipv4.ttl == 64;",
        LATER,
        True,
    ),
    (
        "L12_7",
        "for p in trace expect p.after.total == p.before.total or p.after.total == p.before.total + 1;",
        TALK,
        True,
    ),
    ("L12_7", "for p in trace where p.sent expect p.after.total == p.before.total;", TALK, False),
    (
        "L12_7",
        "for p in trace where p.number == 2 expect p.before.seen[p.flow] == 1 and p.after.seen[p.flow] == 2;",
        TALK,
        True,
    ),
    (
        "L12_7",
        "for p in trace where p.number == 2 expect p.after.seen.peek(p.flow) == 2 and p.before.seen.len == 1;",
        TALK,
        True,
    ),
    (
        "L12_7",
        "for p in trace where p.number == 0 expect not (p.flow in p.before.seen) and p.flow in p.after.seen;",
        TALK,
        True,
    ),
    ("L12_7", "for p in trace where p.number == 6 expect not (p.flow in p.before.seen);", LATER, True),
    (
        "L12_7",
        "for p in trace where p.number == 2 "
        "expect p.after.by_count[(2, 1000)].key == p.flow and (1, 1000) in p.before.by_count "
        "and not ((1, 1000) in p.after.by_count);",
        TALK,
        True,
    ),
    (
        "L12_7",
        "for p in trace where p.number == 2 expect p.flow.src in p.after.hosts and p.after.hosts.len == 1;",
        TALK,
        True,
    ),
    (
        "L12_7",
        "for p in trace where p.number == 0 expect p.before.free.len == 4 and p.after.free.len == 3;",
        TALK,
        True,
    ),
    ("L12_7", "for p in trace where p.in.tcp expect p.before.free.len == 4 and p.after.free.len == 3;", ODD, True),
    (
        "L12_7",
        "for p in trace where p.number == 0 expect p.after.counts[0] == 1 and p.after.counts[1] == 0;",
        TALK,
        True,
    ),
    (
        "L12_7",
        "for p in trace where p.number == 0 expect p.before.meters[p.flow].bucket.has(1000B) "
        "and not p.after.meters[p.flow].bucket.has(901B) and p.after.meters[p.flow].bucket.has(900B);",
        TALK,
        True,
    ),
    ("L12_7", "for p in trace where p.number == 2 expect p.before.meters[p.flow].bucket.has(1000B);", TALK, True),
    (
        "L12_7",
        "for p in trace where p.number == 2 "
        "expect p.after.octets.estimate(p.flow) == 200 and p.flow in p.after.filter "
        "and not (p.flow.reversed in p.after.filter);",
        TALK,
        True,
    ),
    ("L12_7", "for p in trace expect p.before.level == 3 and level == 3;", TALK, True),
    ("L12_7", "for p in trace where p.number < 3 expect plans[p.in.ipv4.src].rate == 8Mbps;", TALK, False),
    (
        "L12_7",
        "for p in trace where p.number == 0 "
        "expect p.before.plans[p.in.ipv4.src].burst == 1000B and p.in.ipv4.src in plans "
        "and p.in.ipv4.src in p.before.addresses and p.before.addresses.len == 2;",
        TALK,
        True,
    ),
    ("L12_8", "for p in trace expect exists q in trace where q.flow == p.flow.reversed;", TALK[:3], True),
    ("L12_8", "for p in trace expect exists q in trace where q.flow == p.flow.reversed;", TALK, False),
    ("L12_8", "expect forall p in trace where p.sent or p.dropped;", TALK, True),
    ("L12_8", "expect forall p in trace where p.sent or p.dropped;", BURST, False),
    ("L12_8", "expect not (exists p in trace where p.sent) and (forall p in trace where p.sent);", [], True),
    ("L12_8", "expect exists x in addresses where x == 10.0.0.2;", [], True),
    ("L12_9", "expect count(p in trace) == 6 and count(p in trace where p.sent) == 4;", TALK, True),
    (
        "L12_9",
        "expect sum(p in trace where p.sent: p.len) == 400B and sum(p in trace: p.in.ipv4.ttl) == 384;",
        TALK,
        True,
    ),
    (
        "L12_9",
        "expect min(p in trace: p.left) == min(p in trace: p.at) and max(p in trace: p.number) == 5;",
        TALK,
        True,
    ),
    (
        "L12_9",
        "expect distinct(p in trace: p.reason) == 2 and distinct(p in trace where p.sent: p.flow) == 3;",
        TALK,
        True,
    ),
    ("L12_9", "expect sum(p in trace: p.in.tcp.sport) == 0 and distinct(p in trace: p.in.tcp.sport) == 0;", TALK, True),
    ("L12_9", "expect count(x in addresses where x != 10.0.0.1) == 1;", [], True),
    (
        "L12_10",
        "for p, q in trace where p.number == 0 and q.number == 2 expect bytes(p.flow, p.at..q.at) == 100B "
        "and bytes(p.flow, p.at..q.at + 1ns) == 200B and packets(p.flow, p.at - 1s..p.at) == 0;",
        TALK,
        True,
    ),
    (
        "L12_10",
        "for p, q in trace where p.number == 0 and q.number == 3 "
        "expect bytes(class: p.class, p.at..q.at + 500us) == 1000B "
        "and packets(class: p.class, p.at..p.at + 501us) == 3;",
        BURST,
        True,
    ),
    (
        "L12_10",
        "for p in trace expect within(p.at, p.at..p.at + 1ns) and not within(p.at, p.at - 1ns..p.at);",
        TALK,
        True,
    ),
    ("L12_10", "for p in trace expect within(p.len, 100B..101B) and not within(p.number, 6..7);", TALK, True),
    (
        "L12_10",
        "for p in trace where p.number == 0 expect no_gap(p.flow, 1001ms) and not no_gap(p.flow, 1s);",
        TALK[:4],
        True,
    ),
    (
        "L12_10",
        "for p, q in trace where p.number == 0 and q.number == 3 expect no_gap(p.flow, 1001ms, p.at..q.at) "
        "and not no_gap(p.flow, 1s, p.at..q.at) and no_gap(p.flow, 501ms, p.at + 500ms..q.at)"
        "and not no_gap(p.flow, 500ms, p.at + 1001ms..p.at + 1501ms);",
        TALK[:4],
        True,
    ),
    ("L12_10", "for p in trace expect no_gap(p.flow.reversed, 1ns);", TALK[:1], True),
    (
        "L12_11",
        "for p in trace where p.number == 0 expect ended(seen[p.flow]) and ended(seen[p.flow], End.idle) "
        "and not ended(seen[p.flow], End.age) and not evicted(seen[p.flow]);",
        LATER,
        True,
    ),
    (
        "L12_11",
        "for p, q in trace where p.number == 2 and q.number == 6 expect ended(seen[p.flow], p.at..q.at) "
        "and ended(seen[p.flow], End.idle, p.at + 10s..q.at) and not ended(seen[p.flow], p.at..p.at + 10s);",
        LATER,
        True,
    ),
    ("L12_11", "for p in trace where p.number == 0 expect not ended(seen[p.flow]);", TALK, True),
    (
        "L12_11",
        "for p in trace where p.number == 0 expect ended(p.flow) and not ended(p.flow.src) and not evicted(p.flow);",
        LATER,
        True,
    ),
    (
        "L12_11",
        "for p in trace where p.number == 0 expect evicted(p.flow) and evicted(seen[p.flow]);",
        MANY,
        True,
    ),
    ("L12_11", "expect not full();", TALK, True),
    (
        "L12_11",
        "for p in trace where p.number == 2 expect full(p.at..p.at + 1ns) and not full(p.at - 1s..p.at);",
        MANY,
        True,
    ),
    (
        "L12_11",
        'for p in trace where p.number == 4 expect full(p.at..p.at + 1ns) and p.reason == "no number";',
        MANY,
        True,
    ),
    (
        "L12_11",
        "for p in trace where p.number == 2 expect evicted(p.at..p.at + 1ns) and ended(End.evicted);",
        MANY,
        True,
    ),
    ("L12_11", "for p in trace where p.number == 6 expect ended(End.idle, p.at..p.at + 1s);", LATER, False),
    ("L12_12", "for p in trace expect checksums_valid(p.in) and (checksums_valid(p) or p.dropped);", TALK, True),
    ("L12_12", "for p in trace where p.sent expect checksums_valid(p.out);", TALK, True),
    ("L12_12", "for p in trace where p.dropped expect not checksums_valid(p.out);", TALK, True),
    ("L12_12", "for e in emitted expect checksums_valid(e);", LATER, True),
    (
        "L12_12",
        "for e in emitted where e.note expect checksums_valid(e.cause) and checksums_valid(e.cause.out);",
        LATER,
        True,
    ),
    ("L12_13", "expect outputs(steps: 10) == outputs() and not (outputs() != outputs());", TALK, True),
    ("L12_13", "expect outputs(capacity: 1) != outputs();", TALK, True),
    ("L12_13", "let a = outputs(); let b = outputs(steps: 3); expect a == b and not (a != b);", TALK, True),
    ("L12_13", "expect outputs(split: true, scramble: true) == outputs(split: false);", TALK, True),
    ("L12_13", "expect outputs(ties: 6) == outputs();", BURST, False),
    (
        "L12_13",
        "expect outputs(ties: 4) == outputs();",
        SPREAD,
        False,
    ),
    (
        "L12_13",
        "expect outputs(ties: 4) <= outputs();",
        SPREAD,
        True,
    ),
    (
        "L12_13",
        "expect outputs() <= outputs(ties: 4);",
        SPREAD,
        False,
    ),
    ("L12_15", "for p, q in trace expect apart(p, q, q.number - p.number);", TALK, True),
    ("L12_15", "for p, q in trace expect apart(p, q, 1);", TALK[:2], True),
    ("L12_15", "for p, q in trace expect apart(q, p, 1);", TALK[:2], False),
    ("L12_15", "for p in trace expect (exists q in trace where apart(p, q, 1)) == (p.number != 4);", TALK[:5], True),
    ("L12_15", "for p in trace expect not tunnelled(p) and not (vni(p) == 0) and not (vni(p) != 0);", TALK, True),
    ("L12_15", "for p in trace expect tunnelled(p);", TALK, False),
]
FUNCTIONS = """
  fn apart(one: packet, other: packet, n: u64) -> bool {
    let gap = other.number - one.number;
    gap == n and one.number < other.number
  }
  fn tunnelled(p: packet) -> bool { p.sent and (p.in.vxlan or p.out.vxlan) }
  fn vni(p: packet) -> bit<24> { p.in.vxlan.vni }
"""


@pytest.mark.parametrize(("rule", "text", "packets", "holds"), CASES, ids=lambda v: v if isinstance(v, str) else "")
def test_rule(rule: str, text: str, packets: list[tuple[int, str, bytes]], holds: bool) -> None:
    number = next(n for n, case in enumerate(CASES) if case[1] == text and case[2] is packets)
    found = judged(run(all_cases(), packets, CONFIG), f"p{number}")
    assert (found.failure is None) == holds, found
    assert found.skipped is None


@cache
def all_cases() -> Spec:
    """One spec with all of CASES, because checking a spec takes most of the time."""
    cases = "\n".join(f"  property p{n} {{ {c[1]} }}" for n, c in enumerate(CASES))
    return spec("use net.vxlan; " + NF.replace("PROPERTIES", FUNCTIONS + cases))


@pytest.mark.parametrize("rule", [f"L12_{n}" for n in (*range(1, 14), 15)])
def test_every_rule_has_a_case(rule: str) -> None:
    assert any(holds for name, _, _, holds in CASES if name == rule)


def test_L12_1_every_evaluation_of_an_expect_is_a_case() -> None:
    assert judge("expect true; for p in trace where p.sent expect p.sent;", TALK).cases == 5
    assert judge("for p, q in trace where p.flow == q.flow expect p.sent;", TALK[:3]).cases == 1
    assert judge("for p in trace where p.held expect p.sent;", TALK).cases == 0
    assert judge("for p in trace expect p.number < 2;", TALK).cases == 3  # the third one fails


def test_L12_7_config_changes_are_seen_around_packets() -> None:
    text = "for p in trace expect p.before.level == (if p.number < 2 { 3 } else { 4 }) and level == 3;"
    execution = run(alone(text), TALK, CONFIG, [(5 * S + 500 * MS, {"level": 4})])
    assert judged(execution, "p").failure is None


def test_L12_7_without_state_a_property_about_it_is_skipped() -> None:
    for text in ("for p in trace expect p.after.total > 0;", "expect not ended(End.idle);"):
        execution = run(alone(text), TALK, CONFIG)
        blind = dataclasses.replace(execution, record=dataclasses.replace(execution.record, history=None))
        assert judged(blind, "p").skipped == "the engine `interp` does not show its state"


def test_L12_7_config_is_known_without_state() -> None:
    execution = run(alone("expect level == 4;"), TALK, CONFIG, [(5 * S, {"level": 4})])
    blind = dataclasses.replace(execution, record=dataclasses.replace(execution.record, history=None))
    assert judged(execution, "p").failure is None and judged(blind, "p").failure is None


def test_L12_13_an_engine_that_is_not_here_is_said_unless_something_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(ENGINES, "system")
    assert judge("expect outputs(engine: system) == outputs();", TALK).skipped is not None
    found = judge("expect outputs(engine: system) == outputs(); expect count(p in trace) == 5;", TALK)
    assert found.failure is not None and found.skipped is None
    assert judge("for p in trace where outputs(engine: system) == outputs() expect false;", TALK).skipped is not None


def test_a_property_can_have_many_names() -> None:
    """Python nests no more than 20 loops in one function."""
    names = [f"p{n}" for n in range(26)]
    each = " and ".join(f"{name}.number == {n}" for n, name in enumerate(names))
    text = f"for {', '.join(names)} in trace where {each} expect p25.number == 25;"
    assert judge(text, [(5 * S, "a", one())] * 26).cases == 1
    loops = " ".join(f"for {name} in trace where {name}.number == {n} " for n, name in enumerate(names))
    assert judge(f"{loops} expect p25.number == 25;", [(5 * S, "a", one())] * 26).cases == 1


def test_names_and_documentation() -> None:
    program = alone("expect true;").program
    (found,) = properties(program)
    assert found.name == "p" and isinstance(found.doc, str)


@pytest.mark.parametrize(
    ("key", "matchers", "found", "none"),
    [
        ("u16", (80,), "80", "81"),
        ("(u16, u8)", (80, 6), "(80, 6)", "(80, 7)"),
        ("Ends", (80, 6), "Ends { port: 80, protocol: 6 }", "Ends { port: 6, protocol: 80 }"),
    ],
)
def test_L12_7_an_acl_is_asked_by_parts(key: str, matchers: tuple[int, ...], found: str, none: str) -> None:
    asked = f"expect rules[{found}] == 3 and not (rules[{none}] == 3);"
    text = "use net.l4; struct Ends { port: u16, protocol: u8 } nf n { port a; config rules: acl<KEY, u8>; "
    text += "on packet { send a; } property p { ASKED } }"
    text = text.replace("KEY", key).replace("ASKED", asked)
    judgement = judged(run(spec(text), [], {"rules": (AclRow(matchers, 3),)}), "p")
    assert judgement.failure is None and judgement.cases == 1
