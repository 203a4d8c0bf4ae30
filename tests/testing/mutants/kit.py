"""Specs of which every fault can be made."""

from __future__ import annotations

from pathlib import Path

from polysome.testing.mutants import Mutant, mutants
from polysome.testing.mutants.mutant import mutated
from polysome.testing.spec import Spec, load

EVERYTHING = """
use net.l4;

enum Side { here, there, nowhere }
struct Seen { first: time, last: time, packets: u32 }
const MOST: u32 = 9;

nf everything {
  port a, b;
  param default: u32 = 7;
  config rate: bitrate;
  config servers: list<ipv4>;
  relevant packet;
  state {
    seen: map<Flow, Seen> { capacity 64K; idle 30s; when full drop; }
    by_end: map<(ipv4, u16), u32> { capacity 9; age 3min; when full evict oldest; }
    known: set<ipv4> { capacity 9; idle 60s; when full pass; }
    turn: u32;
    here: Side;
  }
  schedule { class flow.canonical; shape rate, 3KB; classes 9; idle 1s; buffer 64KB; queue 10KB; when full drop; }

  fn is_local(a: ipv4) -> bool { a in 10.0.0.0/8 or a in {127.0.0.1, 0.0.0.0} }

  action note() {
    let s = seen.peek(flow) else Seen { first: now, last: now, packets: 0 };
    seen[flow] = Seen { first: s.first, last: now, packets: s.packets + 1 };
    turn += 1;
  }

  on packet from a {
    require ipv4 else drop "not IPv4";
    note();
    if tcp and tcp.dport <= 1023 or turn % 2 == 0 { known.add(ipv4.src); } else { remove known[ipv4.dst]; }
    let n = by_end[(ipv4.src, 0)] else 0;
    by_end[(ipv4.src, 0)] = n + 1;
    if n > MOST { ipv4.dst = servers[turn % servers.len]; here = Side.there; }
    require not (ipv4.ttl in {0, 1}) else drop "too old";
    send b;
  }
  on packet from b {
    if ipv4 { require ipv4.dst in known and not is_local(ipv4.dst) else drop "unknown"; }
    send ports - in_port;
  }
  on end seen(key, value, why) { if why == End.idle { turn = 0; } }
  every 10s { here = Side.here; }

  property says_what_it_does {
    for p in trace where p.in_port == a and p.sent and p.in.ipv4.ttl > 1 expect p.out_port == b;
  }
  traffic { rate 10Gbps; mean 500B; }
}
"""

GATE = """
use net.l4;
nf gate {
  port a, b;
  state { open: set<Flow> { capacity 9; idle 5s; when full evict oldest; } }
  fn never(f: Flow) -> bool { f.sport == 70 and f.sport == 71 }
  on packet from a {
    if never(flow) {
      drop "never";
    }
    open.add(flow);
    send b;
  }
  on packet from b { require flow.reversed in open else drop "shut"; send a; }
  property shut { for q in trace where q.sent and q.in_port == b
    expect exists p in trace where p.number < q.number and p.in_port == a and p.flow == q.flow.reversed; }
}
"""


def written(folder: Path, text: str, name: str = "gate") -> Spec:
    path = folder / f"{name}.nf"
    path.write_text(text, encoding="utf-8")
    return load(path)


def one(spec: Spec, old: str, new: str) -> Mutant:
    """The mutant that has `new` for `old` in one of its lines."""
    found = [
        m for m in mutants(spec) if any(new in b and old in a for _, a, b in m.changed if a.replace(old, new) == b)
    ]
    assert len(found) == 1, [m.changed for m in found]
    return found[0]


def compiled(spec: Spec, mutant: Mutant) -> Spec:
    found = mutated(spec, mutant)
    assert found is not None
    return found
