"""Specs and helpers for the tests of generated traffic."""

from __future__ import annotations

import random
from pathlib import Path

from polysome.config.tables import Tables
from polysome.interp.code import code_of
from polysome.interp.machine import Machine, Nowhere
from polysome.testing.spec import Spec, load
from polysome.testing.traffic.build import Builder

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
NAMES = (
    "bridge", "firewall", "load_balancer", "nat", "policer", "reframer", "router6", "shaper", "telemetry",
    "vxlan_gateway",
)  # fmt: skip

# Every shape of config, a header whose rules must be solved, a hook that must be, and comparisons of every kind.
ODD = """
use net.l4;
struct Way { via: port, weight: u16, until: duration }
enum Colour { red, green, blue }
header odd {
  kind: u8;
  words: u8 length(header / 2 - 1);
  flags: bit<4>;
  more: bit<4>;
  tail: rest;
  valid (kind ^ 0x5a) == 0x3c and flags + more == 9;
  size words as u16 * 2 + 2;
}
parse odd after udp when udp.dport / 3 == 1111 and udp.sport != 7;

nf odd {
  port a, b, c;
  param limit: u16 = 500;
  config rate: bitrate = 1Mbps;
  config colour: Colour;
  config ways: list<Way>;
  config names: set<mac>;
  config by_port: map<(port, u8), (bool, ipv6)>;
  config routes: lpm<ipv4, Way>;
  config rules: acl<(ipv4, u16), bool>;
  config spread: maglev<ipv4> { size 251; }
  state { seen: map<Flow, time> { capacity 5; idle 3s; age 1min; when full evict oldest; } }
  on packet from a {
    require ipv4 and l4 else drop "other";
    require not (ipv4.src in 127.0.0.0/8) else drop "loopback";
    require l4.dport != limit else drop "limit";
    let allowed = rules[(ipv4.dst, l4.dport)] else true;
    require allowed else drop "not allowed";
    require not (ethernet.src in names) or colour == Colour.red else drop "name";
    if odd { require payload[1..3] == 0xbeef else drop "no beef"; }
    seen[flow] = now;
    let way = routes[ipv4.dst] else send b;
    send way.via;
  }
  on packet from b {
    require flow.reversed in seen else drop "unknown";
    if (flow.src as ipv4) == spread[hash(flow)] and ways.len > 0 { send c; }
    send a;
  }
}
"""


def example(name: str) -> Spec:
    return load(EXAMPLES / name / f"{name}.nf")


def written(tmp_path: Path, text: str) -> Spec:
    path = tmp_path / "written.nf"
    path.write_text(text, encoding="utf-8")
    return load(path)


def machine(spec: Spec, config: dict[str, object]) -> Machine:
    return Machine(spec.program, Tables(spec.program, config), Nowhere(), code_of(spec.program))


def builders(spec: Spec, count: int, packets: int = 16, seed: int = 0) -> list[Builder]:
    """Traces from plain random blocks, with all that their builders know."""
    rng = random.Random(seed)
    found = []
    for _ in range(count):
        builder = Builder(spec, rng.randbytes(160))
        for _ in range(packets):
            builder.packet(rng.randbytes(54))
        found.append(builder)
    return found
