"""The query planner agrees with nested loops on every property that there is, on random traces: also on odd ones."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from polysome.testing.execution import Execution
from polysome.testing.judge import UserProperty, properties
from polysome.testing.spec import Spec

from .kit import CATALOGUE, MS, S, catalogue, ethernet, icmp, ipv4, ipv6, run, spec, tcp, udp, vlan
from .naive import Naive

FEW = settings(max_examples=10)
NAMES = sorted(path.stem for path in CATALOGUE.glob("*.nf"))
ADDRESSES = ("10.0.0.1", "10.0.0.2", "10.0.1.1", "192.0.2.1")

# Conditions that the planner takes apart in every way; `for p, q in trace where W expect E`.
SHAPES = """use net.l4;
nf shapes {
  port a, b, c;
  config addresses: list<ipv4>;
  config plans: map<ipv4, u64>;
  state {
    seen: map<Flow, u64> { capacity 2; idle 2s; when full evict oldest; }
    index by_count: seen by value;
    hosts: set<ipv6> { capacity 3; age 3s; when full pass; }
  }
  on packet from a {
    let n = seen[flow] else { 0 };
    seen[flow] = n + 1;
    hosts.add(flow.src);
    emit ethernet { src: 02:00:00:00:00:01, dst: 02:00:00:00:00:02 }, udp { sport: flow.sport, dport: 9 } to c;
    require flow.dport != 443 else drop "no TLS";
    send b;
  }
  on packet from b { send ports - in_port; }
PROPERTIES
}
"""
CONDITIONS = [
    ("p.flow == q.flow", "exists r in trace where p.at <= r.at and r.at < q.at and r.flow == p.flow"),
    ("p.in_port != q.in_port", "count(r in trace where r.at >= p.at and q.at > r.at) <= 3"),
    ("q.at - p.at < 1s", "sum(r in trace where r.flow == q.flow and within(r.at, p.at..q.at): r.len) < 200B"),
    ("q.at - p.at >= 1s and p.sent", "forall r in trace where r.at < p.at or r.at > q.at or r.flow == p.flow"),
    ("p.flow.src == q.flow.dst", "max(r in trace where r.flow == p.flow: r.len) >= q.len"),
    ("p.sent", "min(r in trace where r.sent and r.place > q.place: r.left) >= p.left"),
    ("p.sent and q.sent", "distinct(r in trace where r.number <= q.number: r.flow) > distinct(r in trace: r.reason)"),
    ("p.left < q.left", "not (exists r in trace where r.class != p.class and p.place < r.place and r.place < q.place)"),
    ("true", "exists r in trace where r.number < q.number and q.at - r.at < 500ms and (r.flow == p.flow or r.sent)"),
    ("p.in.ipv4", "p.in.ipv4.src != q.in.ipv4.src or p.in.l4.sport == q.out.l4.sport"),
    ("p.in.payload == q.in.payload", "p.in == q.in or p.in.payload[0..4] != 0x61616161"),
    ("p.flow in q.before.seen", "q.before.seen[p.flow] > p.before.seen[p.flow] and p.flow.src in q.after.hosts"),
    ("q.after.seen.len == 2", "forall m in q.after.seen where exists n in q.after.seen where m.key != n.key"),
    ("p.at < q.at", "p.len / (q.at - p.at) <= 1Kbps or q.after.by_count[1].key == q.flow"),
    ("p.in.vlan[0]", "p.in.vlan[0].vid == 5 and q.in.vlan[1].vid == 6"),
    ("p.in_port in q.ports", "(p.out_port, p.flow.dport) == (q.out_port, q.flow.dport)"),
    ("evicted(seen[p.flow])", "ended(seen[p.flow], p.at..q.at + 1ns) and not ended(q.flow.src)"),
    ("not full(p.at..q.at)", "not full() and (evicted(p.at..q.at + 1ns) or not ended(End.idle))"),
    ("no_gap(p.flow, 2s)", "no_gap(q.flow, 1s, p.at..q.at)"),
    ("packets(p.flow, p.at..q.at) > 1", "bytes(class: p.class, p.at..q.at) / (q.at - p.at) > 1Mbps"),
    ("exists x in addresses where x == p.in.ipv4.src", "p.in.ipv4.src in plans and plans[q.in.ipv4.src] > 1"),
    ("p.len == q.len", "p.before.addresses[0] in addresses and addresses[p.number % addresses.len] == 10.0.0.1"),
    ("1000 / p.flow.sport > 0", "q.number / p.number < 3 and 1s / (q.at - p.at) > 2"),
    ("p.changes == q.changes", "p.before.addresses.len == q.after.addresses.len and p.in.icmp.quoted.l4.sport != 4"),
    ("count(r in trace where r.at < p.at) > 1", "count(e in emitted where e.cause == p and e.at <= q.at) == 1"),
    ("sum(x in addresses where x in 10.0.0.0/8: 1 as u8) > 0", "hash(p.flow) % 2 == hash(q.flow) % 2"),
    ("not (p.sent and q.sent) or p.flow != q.flow", "(forall r in trace where not (r.flow == p.flow and r.dropped))"),
    ("p.number + 1 < q.number", "exists r in trace where p.number < r.number and r.number <= q.number - 1 and r.sent"),
    ("q.at - p.at < 2s and q.at - p.at > 1ms", "max(p.at, q.at) - min(p.at, q.at) < 1s"),
    ("q.at - p.at < (if p.in.tcp { 1s } else { 100ms })", "p.flow == q.flow"),
]


def shapes() -> Spec:
    both = "\n".join(
        f"  property s{n} {{ for p, q in trace where {where} expect {expect}; }}"
        for n, (where, expect) in enumerate(CONDITIONS)
    )
    emitted = "  property made { for e, f in emitted where e.cause != f.cause expect e.udp.sport == f.udp.sport; }\n"
    emitted += "  property alone { for e in emitted expect e.udp and e.cause.sent and e.len == 22B and not e.ipv4; }\n"
    return spec(SHAPES.replace("PROPERTIES", both + "\n" + emitted))


def frames() -> st.SearchStrategy[bytes]:
    """Few flows, and frames of every odd kind."""
    addresses, ports = st.sampled_from(ADDRESSES), st.sampled_from((0, 7, 53, 443, 1024))
    payloads = st.sampled_from((b"", b"a", b"aaaaaaaa", b"GET "))

    def layer4(kind: int, payload: bytes, sport: int, dport: int) -> object:
        if kind == 0:
            return tcp(payload, sport, dport)
        return icmp(payload, type=kind) if kind > 1 else udp(payload, sport, dport)

    inner = st.builds(layer4, st.sampled_from((0, 1, 1, 3, 8)), payloads, ports, ports)
    ip = st.builds(
        lambda i, src, dst, fragment, options: ipv4(i, src=src, dst=dst, fragment=fragment, options=options),
        inner, addresses, addresses, st.sampled_from((0, 0, 0, 0x2000, 0x2001)), st.sampled_from((b"", b"\1\1\1\0")),
    )  # fmt: skip
    usual = st.one_of(ip.map(ethernet), ip.map(lambda i: ethernet(vlan(vlan(i, 6), 5, 0x8100), 0x8100)))
    six = inner.filter(lambda i: i.protocol != 1).map(lambda i: ethernet(ipv6(i)))  # type: ignore[attr-defined]
    return st.one_of(usual, usual, usual, six, st.builds(lambda f, n: f[:n], usual, st.integers(0, 60)))


@st.composite
def traces(draw: st.DrawFn, ports: tuple[str, ...], most: int = 6) -> list[tuple[int, str, bytes]]:
    """Packets of few frames at times that are often the same."""
    pool = draw(st.lists(frames(), min_size=1, max_size=4))
    steps = st.sampled_from((0, 0, 1, MS, 300 * MS, S, 3 * S))
    now, found = 5 * S, []
    for _ in range(draw(st.integers(0, most))):
        now += draw(steps)
        found.append((now, draw(st.sampled_from(ports)), draw(st.sampled_from(pool))))
    return found


def agree(execution: Execution) -> None:
    """Every property says the same of the run as the nested loops."""
    for property in properties(execution.spec.program):
        assert isinstance(property, UserProperty)
        naive = Naive(execution.spec.program, execution)
        cases, failed = naive.judge(property.decl)
        found = property.judge(execution)
        where = f"{property.name}: {found}"
        assert found.cases == cases, where
        assert (found.failure is None) == (failed is None), where
        assert found.skipped == (naive.skipped if failed is None else None), where
        if failed is not None and found.failure is not None:
            expect, names = failed
            assert found.failure.span == expect.span, where
            assert all(f"packet {n + 1}," in " ".join(found.failure.said) for n in found.failure.packets), where
            assert set(found.failure.packets) <= {v for v in names.values() if isinstance(v, int)}, where


CONFIG = {"addresses": (0x0A000001, 0x0A000002), "plans": {0x0A000001: 2, 0x0A000101: 1}}


@FEW
@given(traces(("a", "b")), st.sampled_from(((), (0x0A000001,), (0x0A000001, 0x0A000002))))
def test_conditions_of_every_shape(arrivals: list[tuple[int, str, bytes]], addresses: tuple[int, ...]) -> None:
    changes = [(7 * S, {"addresses": (0x0A000002,)})]
    agree(run(shapes(), arrivals, CONFIG | {"addresses": addresses}, changes))


@pytest.mark.parametrize("name", NAMES)
def test_the_catalogue(name: str) -> None:
    checked = catalogue(name)

    @FEW
    @given(traces(checked.program.ports, 5))
    def agrees(arrivals: list[tuple[int, str, bytes]]) -> None:
        agree(run(checked, arrivals))

    agrees()


def test_every_file_of_the_catalogue_is_here() -> None:
    assert len(NAMES) == len(list(Path(CATALOGUE).glob("*.nf"))) >= 9
