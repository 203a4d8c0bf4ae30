"""An NF with state of every kind, and traces of it whose every number is known: see the comments of the packets."""

from __future__ import annotations

from polysome.testing.execution import Judgement
from polysome.testing.spec import Spec

from .kit import MS, S, ethernet, icmp, ipv4, judged, run, spec, tcp, udp, vlan

NF = """use net.l4;
struct Plan { rate: bitrate, burst: bytes }
struct Meter { n: u8, bucket: token_bucket(8Mbps, 1000B) }
header note { number: u32; }
nf n {
  port a, b, c;
  param limit: u64 = 5;
  config addresses: list<ipv4>;
  config plans: map<ipv4, Plan>;
  config routes: lpm<ipv4, port>;
  config level: u64 = 1;
  state {
    total: u64;
    counts: array<u64>[4];
    seen: map<Flow, u64> { capacity 2; idle 10s; when full evict oldest; }
    index by_count: seen by (value, key.sport);
    hosts: set<ipv6> { capacity 8; age 1h; when full pass; }
    free: pool<u16> { from 1..4; per ipv4.protocol; }
    taken: map<Flow, u16 from free> { capacity 8; idle 10s; when full drop; }
    meters: map<Flow, Meter> { capacity 8; idle 1h; when full evict oldest; }
    octets: count_min<Flow> { error 1%; confidence 99%; }
    talkers: top_k<Flow> { k 2; error 1%; }
    filter: bloom<Flow> { capacity 1K; error 1%; }
  }
  schedule { class flow; shape 8Mbps, 1000B; classes 16; idle 1h; buffer 1MB; when full drop; }
  on packet from a {
    require flow.dport != 443 else drop "no TLS";
    total += 1;
    counts[flow.sport as u64 % 4] = total;
    let n = seen[flow] else { 0 };
    seen[flow] = n + 1;
    hosts.add(flow.src);
    octets.add(flow, len as u64);
    talkers.add(flow, 1);
    filter.add(flow);
    if ipv4 and not (flow in taken) { let fresh = free.take() else drop "no number"; taken[flow] = fresh; }
    let one = meters[flow].bucket.take(len);
    if flow.dport == 7 {
      emit ethernet { src: 02:00:00:00:00:01, dst: 02:00:00:00:00:02 }, note { number: 77 } to c;
      send ports - in_port;
    }
    if ipv4 { ipv4.ttl = ipv4.ttl - 1; }
    send b;
  }
  on packet from b { require ipv4 else drop "not IPv4"; send a; }
  every 60s { emit ethernet { src: 02:00:00:00:00:01, dst: 02:00:00:00:00:03 } to b; }
PROPERTIES
}
"""


def one(payload: bytes = b"x" * 58, sport: int = 1000, dport: int = 80, src: str = "10.0.0.1") -> bytes:
    """A UDP frame of 42 bytes and the payload."""
    return ethernet(ipv4(udp(payload, sport, dport), src=src))


def back(payload: bytes = b"y" * 58, dport: int = 1000) -> bytes:
    """What answers `one`."""
    return ethernet(ipv4(udp(payload, 80, dport), src="10.0.0.2", dst="10.0.0.1"))


CONFIG = {"addresses": (0x0A000001, 0x0A000002), "plans": {0x0A000001: (8_000_000, 1000)}, "level": 3}
TALK = [
    (5 * S, "a", one()),  # 0: sent to b
    (5 * S + 300 * MS, "b", back()),  # 1: sent to a
    (6 * S, "a", one()),  # 2: as 0
    (6 * S + 500 * MS, "a", one(sport=1001, dport=443)),  # 3: dropped, "no TLS"
    (7 * S, "a", one(sport=1002, dport=7)),  # 4: sent to b and c, and emits a note to c
    (7 * S, "c", one()),  # 5: dropped, "no handler"
]
BURST = [  # 500 bytes each: two leave at once, one 0.5 ms later, one is held; then an answer
    *[(5 * S, "a", one(b"x" * 458))] * 4,
    (5 * S + MS * 6 // 10, "b", back()),
]
LATER = [*TALK, (20 * S, "a", one()), (70 * S, "a", one(src="10.0.0.3"))]  # 6, 7; a timer at 65 s between them
ODD = [
    (5 * S, "a", ethernet(vlan(vlan(ipv4(tcp(b"GET /"), options=b"\1\1\1\0"), 6), 5, 0x8100), 0x8100)),
    (5 * S, "a", ethernet(ipv4(icmp(ipv4(udp(b"", 9, 53), ttl=1), type=3)))),
    (5 * S, "a", b"\2" * 10),
]

MANY = [(5 * S + n, "a", one(sport=n)) for n in range(5)]  # the third flow evicts, the fifth finds no number
SPREAD = [(5 * S + n * MS, "a", one(b"x" * 458)) for n in range(4)]  # all leave, but not if they come together


def alone(text: str) -> Spec:
    return spec(NF.replace("PROPERTIES", f"  property p {{ {text} }}"))


def judge(text: str, packets: list[tuple[int, str, bytes]]) -> Judgement:
    return judged(run(alone(text), packets, CONFIG), "p")
