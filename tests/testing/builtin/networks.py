"""Specs that use everything, and traces with adverse times, for the tests of the built-in properties."""

from __future__ import annotations

import random
import struct
from collections.abc import Callable
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from polysome.captures.read import open_capture
from polysome.config.load import load_config
from polysome.engines import ENGINES
from polysome.engines.trace import Arrival, Change, Trace
from polysome.kinds.state.acl import AclRow, Range
from polysome.kinds.values import Prefix
from polysome.syntax.diagnostics import Report
from polysome.testing.builtin import every
from polysome.testing.execution import Execution, Judgement, execute
from polysome.testing.spec import Spec, load
from polysome.testing.wire import ones_sum

# What a packet does is in its UDP destination port; the source port is the value, the source address the key.
STORE = """
use net.l4;

struct Meter { seen: u16, octets: token_bucket(8Mbps, 90B) }

nf store {
  port a, b;
  config servers: list<ipv4>;
  config weights: map<u16, u16>;
  config routes: lpm<ipv4, u16>;
  config rules: acl<(ipv4, u16), u16>;
  config spread: maglev<u16> { size 251; }
  config scale: duration;
  relevant ipv4.{src, dst, ttl}, udp.{sport, dport}, flow else drop "no UDP";

  state {
    short:   map<ipv4, u16> { capacity 3; idle 10us; when full evict oldest; }
    aged:    map<ipv4, u16> { capacity 3; age 15us; when full drop; }
    both:    map<ipv4, u16> { capacity 3; idle life(value) max 20us; age 25us; when full pass; }
    oldest:  map<ipv4, u16> { capacity 2; age 30us; when full evict oldest; }
    free:    pool<u16> { from 1..4; per udp.sport % 2; }
    owned:   map<ipv4, (u16 from free, u16)> { capacity 3; idle 12us; when full evict oldest; }
    index back: owned by value.0;
    sticky:  map<ipv4, ref servers> { capacity 3; idle 30us; when full evict oldest; }
    linked:  map<ipv4, ref weights> { capacity 3; idle scale max 40us; when full evict oldest; }
    met:     set<ipv4> { capacity 3; idle 8us; when full evict oldest; }
    meters:  map<ipv4, Meter> { capacity 3; idle 200us; when full evict oldest; }
    one:     token_bucket(250Kpps, 3);
    cells:   array<u16>[4];
    total:   u64;
    counts:  count_min<ipv4> { error 5%; confidence 99%; }
    filter:  bloom<ipv4> { capacity 30; error 1%; }
    hosts:   hyperloglog<ipv4> { error 10%; }
    top:     top_k<ipv4> { k 2; error 30%; }
  }

  fn life(value: u16) -> duration { if value % 2 == 0 { 5us } else { 18us } }

  on packet from a {
    let key = ipv4.src;
    let value = udp.sport;
    total += 1;
    if udp.dport == 1 { short[key] = value; }
    if udp.dport == 2 { let v = short[key] else 0; ipv4.dst = v as ipv4; }
    if udp.dport == 3 { aged[key] = value; }
    if udp.dport == 4 { let v = aged[key] else 0; cells[value % 4] = v; }
    if udp.dport == 5 { both[key] = value; }
    if udp.dport == 6 { let v = both[key] else 0; ipv4.dst = v as ipv4; }
    if udp.dport == 7 { oldest[key] = value; }
    if udp.dport == 8 { let v = oldest[key] else 0; ipv4.dst = v as ipv4; }
    if udp.dport == 9 {
      let taken = free.take() else drop "none free";
      owned[key] = (taken, value);
    }
    if udp.dport == 10 { let e = back[value % 5] else drop "nobody"; ipv4.dst = e.key; }
    if udp.dport == 11 { remove owned[key]; }
    if udp.dport == 12 { let v = free.take() else drop "none free"; udp.sport = v; }
    if udp.dport == 13 { sticky[key] = servers[value as u64 % servers.len]; }
    if udp.dport == 14 { let v = sticky[key] else drop "no server"; ipv4.dst = v; }
    if udp.dport == 15 { met.add(key); }
    if udp.dport == 16 { require key in met else drop "not met"; }
    if udp.dport == 17 { require meters[key].octets.take(len) else drop "too much"; }
    if udp.dport == 18 { meters[key].seen = value; }
    if udp.dport == 19 { require one.take(1) else drop "too many"; }
    if udp.dport == 20 { cells[value % 5] += 1; }
    if udp.dport == 21 { counts.add(key); ipv4.ttl = counts.estimate(key) as u8; }
    if udp.dport == 22 { require key in filter else drop "unseen"; }
    if udp.dport == 23 { filter.add(key); hosts.add(key); }
    if udp.dport == 24 { ipv4.ttl = hosts.estimate() as u8; }
    if udp.dport == 25 { top.add(key); }
    if udp.dport == 26 { for k, n in top { cells[0] = n as u16; } ipv4.ttl = top.estimate(key) as u8; }
    if udp.dport == 27 { let v = routes[key] else drop "no route"; udp.sport = v; }
    if udp.dport == 28 { let v = rules[(key, value)] else drop "no rule"; udp.sport = v; }
    if udp.dport == 29 { udp.sport = spread[hash(key)]; }
    if udp.dport == 30 { let v = weights[value % 4] else drop "no weight"; linked[key] = v; }
    if udp.dport == 31 { let v = linked[key] else drop "not linked"; udp.sport = v; }
    if udp.dport == 32 { for k, v in short { cells[1] = v; } total = short.len; }
    if udp.dport == 33 { let v = short.peek(key) else 0; ipv4.dst = v as ipv4; }
    if udp.dport == 34 { remove short[key]; }
    if udp.dport == 35 { ipv4.ttl = cells[value % 4] as u8; }
    send b;
  }

  on packet from b { send a; }

  on end owned(k, v, why) { cells[2] = v.0; short[k] = v.1; }
  on end short(k, v, why) { total += 1; }
  every 50us { total += 1; }
}
"""

SCHEDULES = {
    "fifo": "fifo;",
    "served": "fifo; serve 100Mbps; buffer 600B; queue 300B; when full drop;",
    "police": "police 16Mbps, 150B; classes 3; idle 1ms; when full drop;",
    "police evict": "police 16Mbps, 150B; classes 2; idle 20us; when full evict oldest;",
    "police pass": "police 2Mpps, 3; classes 2; idle 1ms; when full pass;",
    "shape": "shape 16Mbps, 150B; classes 3; idle 1ms; buffer 500B; queue 200B; when full drop;",
    "shape evict": "shape 400Kpps, 2; classes 2; idle 15us; buffer 500B; when full evict oldest;",
    "reframe": "reframe 12us, 5;",
    "priority": "priority ipv4.ttl; serve 60Mbps; buffer 500B; classes 3; when full drop;",
    "deadline": "deadline wait(ipv4.ttl); serve 60Mbps; buffer 500B; when full drop;",
    "drr": "drr weight(ipv4.ttl); serve 60Mbps; buffer 9KB; when full drop;",
    "drr one": "drr 1; serve 60Mbps; buffer 9KB; when full drop;",
}

SCHEDULED = """
use net.l4;
nf scheduled {
  port a, b, c;
  relevant ipv4.{src, ttl}, udp.dport else drop "no UDP";
  fn wait(ttl: u8) -> duration { (ttl as duration) * 1000 }
  fn weight(ttl: u8) -> u64 { (ttl as u64) % 3 }
  schedule { class ipv4.src; POLICY }
  on packet from a {
    require udp.dport % 7 != 0 else drop "seven";
    if udp.dport % 5 == 0 { send {b, c}; } else { send b; }
  }
  on packet from b { send a; }
}
"""

REWRITING = """
use net.l4;
nf rewriting {
  port a, b;
  relevant ethernet, ipv4.{src, dst} else drop "not IPv4";
  on packet from a {
    ipv4.dst = 192.0.2.9;
    push vlan { vid: 5 } before ipv4;
    push ipv4 { src: ipv4.src, dst: 198.51.100.1 } before ipv4;
    truncate 68B;
    emit ethernet { src: ethernet.dst, dst: ethernet.src }, ipv4 { src: ipv4.dst, dst: ipv4.src },
         udp { sport: 7, dport: 9 } payload 0xabcd as u16 to a;
    send b;
  }
  on packet from b { send a; }
}
"""

# Fields of headers with checksums over one another are written, read again, and looked up by.
WRITING = """
use net.l4;
enum Kind: u8 { inside = 9 }
header wrap {
  kind: u8 next Kind; mark: bit<12>; more: bit<4>; odd: u8;
  sum: u16 checksum(header, rest); tail: u8; far: u8;
}
header inside {
  first: bit<3>; second: bit<29>; sum: u16 checksum(pseudo, header, rest) zero is none; last: mac;
}
parse wrap after udp when udp.sport % 2 == 1;
parse inside after wrap;

nf writing {
  port a, b;
  config limit: u16 = 7;
  state {
    turn: u64;
    seen: map<(ipv4, u16), u16> { capacity 6; idle 40us; when full evict oldest; }
  }
  on packet from a {
    turn += 1;
    if ipv4 {
      if turn % 5 == 0 { ipv4.ttl -= 1; }
      if udp {
        let before = seen[(ipv4.src, udp.dport)] else limit;
        if turn % 3 == 0 { udp.dport = before ^ 1; }
        ipv4.src = (udp.dport as ipv4) ^ ipv4.src;
        let after = seen[(ipv4.src, udp.dport)] else 3;
        seen[(ipv4.src, udp.dport)] = udp.dport + turn as u16;
        if turn % 4 < 2 { ipv4.dst = ipv4.dst; }
        if turn % 7 == 0 { udp.sport = after; }
      }
    }
    if wrap {
      if turn % 2 == 0 { wrap.odd = wrap.far; }
      if turn % 3 == 1 { wrap.more = turn as bit<4>; }
      wrap.tail = wrap.odd + 1;
    }
    if inside {
      if turn % 2 == 1 { inside.second = turn as bit<29> << 7; }
      inside.last = (inside.second ++ inside.first) as mac;
    }
    send b;
  }
  on packet from b { send a; }
}
"""

_FOLDER = TemporaryDirectory(prefix="builtin")


@cache
def spec(text: str) -> Spec:
    """The spec, loaded once."""
    path = Path(_FOLDER.name) / f"spec{abs(hash(text))}.nf"
    path.write_text(text, encoding="utf-8")
    return load(path)


def scheduled(policy: str) -> Spec:
    return spec(SCHEDULED.replace("POLICY", SCHEDULES[policy]))


def udp(src: int, sport: int, dport: int, payload: bytes = b"", *, ttl: int = 9, zero: bool = False) -> bytes:
    """A UDP frame with right checksums, or none for UDP; `src` is the last byte of the address."""
    size = 8 + len(payload)
    addresses = bytes([10, 0, 0, src, 192, 0, 2, 1])
    segment = struct.pack(">HHHH", sport, dport, size, 0) + payload
    total = ones_sum(addresses + struct.pack(">HH", 17, size) + segment)
    checksum = 0 if zero else (0xFFFF - total or 0xFFFF)
    segment = segment[:6] + struct.pack(">H", checksum) + segment[8:]
    head = struct.pack(">BBHHHBBH", 0x45, 0, 20 + size, 1, 0, ttl, 17, 0) + addresses
    head = head[:10] + struct.pack(">H", 0xFFFF - ones_sum(head)) + head[12:]
    return bytes.fromhex("020000000002 020000000001 0800") + head + segment


def damaged(frame: bytes) -> bytes:
    """With a wrong UDP checksum."""
    return frame[:40] + bytes([frame[40] ^ 0x55]) + frame[41:]


CONFIG: dict[str, Any] = {
    "servers": (0x0A000001, 0x0A000002, 0x0A000003),
    "weights": {0: 5, 1: 6, 2: 7},
    "routes": ((Prefix(32, 0x0A000000, 24), 1), (Prefix(32, 0x0A000004, 30), 2), (Prefix(32, 0x0A000005, 32), 3)),
    "rules": (
        AclRow((Prefix(32, 0x0A000000, 29), Range(2, 5)), 1),
        AclRow((None, 3), 2, priority=4),
        AclRow((0x0A000002, None), 3),
    ),
    "spread": ((1, 1), (2, 3), (3, 0), (4, 2)),
    "scale": 14_000,
}
CHANGES: tuple[dict[str, Any], ...] = (
    {"servers": (0x0A000001, 0x0A000003), "routes": CONFIG["routes"][:1], "scale": 9_000},
    {"servers": CONFIG["servers"], "weights": {0: 5, 1: 9}, "rules": CONFIG["rules"][::-1]},
)

GAPS = (0, 0, 1, 100, 1_000, 4_999, 5_000, 5_001, 8_000, 9_999, 10_000, 10_001, 15_000, 25_000, 30_001)


# Operations that have to do with one another; a trace uses a few of these groups.
GROUPS = (
    *((1, 2, 32, 33, 34), (3, 4), (5, 6), (7, 8), (9, 10, 11), (9, 12), (13, 14), (15, 16), (17, 18), (19,), (20, 35)),
    *((21,), (22, 22, 22, 23, 24), (25, 26), (27, 28, 29), (30, 31)),
)


def store_trace(seed: int, length: int = 60) -> Trace:
    """Packets that use all state, at times around every timeout, with changes of the config."""
    rng = random.Random(seed)
    time = 10**18
    arrivals = []
    operations = [op for group in rng.sample(GROUPS, 3) for op in group]
    keys = rng.choice((4, 8, 60))
    gaps = rng.choice((GAPS, GAPS[:6]))
    for _ in range(length):
        time += rng.choice(gaps)
        src, sport = rng.randrange(1, keys), rng.randrange(1, 6)
        frame = udp(src, sport, rng.choice(operations), bytes(rng.randrange(12)), zero=rng.random() < 0.2)
        frame = damaged(frame) if rng.random() < 0.1 else frame
        port = 1 if rng.random() < 0.05 else 0
        arrivals.append(Arrival(port, time - rng.choice((0, 0, 0, 3)), frame))
    times = sorted(rng.choice(arrivals[length // 3 : length]).time for _ in CHANGES)
    return Trace(CONFIG, tuple(arrivals), tuple(Change(t, dict(c)) for t, c in zip(times, CHANGES, strict=True)))


def schedule_trace(seed: int, length: int = 60) -> Trace:
    """Bursts of packets of a few classes and sizes, and pauses."""
    rng = random.Random(seed)
    time = 10**15
    arrivals = []
    for _ in range(length):
        time += rng.choice((0, 0, 0, 1, 500, 3_000, 9_000, 12_000, 40_000))
        data = udp(rng.randrange(1, 5), 1, rng.randrange(1, 30), bytes(rng.randrange(90)), ttl=rng.randrange(1, 20))
        arrivals.append(Arrival(0, time, data))
    return Trace({}, tuple(arrivals))


def rewriting_trace() -> Trace:
    """Five packets, the last one damaged; then one with a trailer, and one that is shorter than it says."""
    frames = [udp(n, 5, 6, b"abc", zero=n == 3) for n in range(1, 6)]
    frames = [*frames[:4], damaged(frames[4]), udp(6, 5, 6, b"abc") + bytes(9), udp(7, 5, 6, b"abcdef")[:-2]]
    return Trace({}, tuple(Arrival(0, 10**9 + n, f) for n, f in enumerate(frames)))


OWN: dict[str, tuple[str, Callable[[int], Trace]]] = {}
"""NFs of kinds of state, by the kind, with traces by number; each is put here by the module that breaks the kind."""


def executions(kind: str, traces: int, first: int = 0) -> list[Execution]:
    """Runs of a spec: `store`, `rewriting`, one of `OWN` or a schedule's; of so many traces, from number `first` on."""
    engine = ENGINES["interp"]
    if kind == "store":
        return [execute(spec(STORE), store_trace(n), engine) for n in range(first, first + traces)]
    if kind in OWN:
        source, trace = OWN[kind]
        return [execute(spec(source), trace(n), engine) for n in range(first, first + traces)]
    if kind == "rewriting":
        return [execute(spec(REWRITING), rewriting_trace(), engine)]
    return [execute(scheduled(kind), schedule_trace(n), engine) for n in range(first, first + traces)]


def verdicts(execution: Execution) -> dict[str, Judgement]:
    return {p.name: p.judge(execution) for p in every()}


# ---------------------------------------------------------------- examples

ROOT = Path(__file__).parents[3]
EXAMPLES = sorted(path.parent.name for path in (ROOT / "examples").glob("*/*.nf"))
MOST = 60  # packets of an example's captures


@cache
def example(name: str) -> Spec:
    """An example with its config."""
    folder = ROOT / "examples" / name
    tables = [f"{path.stem}={path}" for path in sorted(folder.glob("*.csv"))]
    return load(folder / f"{name}.nf", config=[*map(str, folder.glob("config.toml")), *tables])


def captured(spec: Spec) -> Trace:
    """Its captures, each at the port it is named after, merged by time; the first packets."""
    ports = spec.program.ports
    arrivals: list[Arrival] = []
    for i, path in enumerate(sorted(spec.path.parent.glob("*.pcap"))):
        name = path.stem.removesuffix("_only")
        port = ports.index(name) if name in ports else i % len(ports)
        with open_capture(path) as capture:
            arrivals += [Arrival(port, c.time, c.data) for c in capture]
    arrivals.sort(key=lambda arrival: arrival.time)
    config = load_config(spec.program, [], Report()) if spec.config is None else spec.config
    return Trace(config, tuple(arrivals[:MOST]))
