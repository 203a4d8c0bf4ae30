"""What people get wrong in NFs that are right otherwise (`right/`), and which promise of the library that breaks."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Fault:
    """`old` stands once in the NF `of`; `breaks`: the property that is sure to be broken, one of several perhaps."""

    of: str
    name: str
    old: str
    new: str
    breaks: str


FAULTS = tuple(
    Fault(of, name, old, new, breaks)
    for of, name, old, new, breaks in (
        # time-outs: too short, of the wrong protocol, from the wrong event
        ("nat_per_flow", "forgets after a minute", "idle 2min; when", "idle 1min; when", "nat.replies_pass"),
        ("nat_per_flow", "keeps for an hour", "idle 2min; when", "idle 60min; when", "nat.expired_blocked"),
        ("nat_per_flow", "by age", "idle 2min; when", "age 2min; when", "nat.replies_pass"),
        ("nat_two_maps", "lifetimes exchanged", "{ 10min } else { 1min }", "{ 1min } else { 10min }", "nat.replies_pass"),
        ("nat_two_maps", "UDP as long as TCP", "{ 10min } else { 1min }", "{ 10min } else { 10min }", "nat.expired_blocked"),
        ("nat_two_maps", "answers do not refresh what goes out", "    out[(ipv4.protocol, host.ip, host.port)] = l4.dport;\n", "", "nat.injective"),
        ("firewall_set", "seconds for minutes", "idle 30s;", "idle 30min;", "firewall.expired_blocked"),
        ("firewall_set", "a second too late", "idle 30s;", "idle 31s;", "firewall.expired_blocked"),
        ("firewall_times", "the last nanosecond", "now - heard < quiet", "now - heard <= quiet", "firewall.expired_blocked"),
        ("firewall_times", "by the first packet", "    last[flow] = now;\n", "    let first = last.peek(flow) else now;\n    last[flow] = first;\n", "firewall.replies_pass"),
        ("firewall_pairs", "by age", "idle 1min;", "age 1min;", "firewall.replies_pass"),
        ("balancer_sticky", "flows are forgotten early", "idle 20s; when", "idle 10s; when", "load_balancer.affinity"),
        ("balancer_sticky", "flows live by age", "idle 20s; when", "age 20s; when", "load_balancer.affinity"),
        ("balancer_evicting", "looks do not keep alive", "    choices[flow] = Choice { server: c.server, packets: c.packets + 1 };\n", "    if c.packets == 0 { choices[flow] = Choice { server: c.server, packets: 1 }; }\n", "load_balancer.affinity"),
        ("bridge_plain", "use keeps stations", "age 20s;", "idle 20s;", "bridge.unknown_floods"),
        ("bridge_times", "stations live a little longer", "< 30s else", "<= 30s else", "bridge.unknown_floods"),
        ("connections_counted", "silent ones count on", "idle 20s;", "idle 40s;", "connection_limiter.never_too_few"),
        # keys without a field, or of the wrong end
        ("nat_per_flow", "the pool is found by the port alone", "ipv4.protocol, Endpoint { ip: ipv4.dst, port: l4.dport }, flow.src, l4.sport", "ipv4.protocol, Endpoint { ip: ipv4.dst, port: l4.dport }, flow.src, l4.dport", "nat.replies_pass"),
        ("nat_two_maps", "answers whatever the protocol", "back[(ipv4.protocol, l4.dport)] else drop", "back[(17, l4.dport)] else drop", "nat.inverse"),
        ("firewall_set", "ports do not matter", "talks.add(flow);", "talks.add(Flow { src: flow.src, dst: flow.dst, sport: flow.sport, dport: 0, protocol: flow.protocol });", "firewall.replies_pass"),
        ("firewall_set", "answers to anyone", "require flow.reversed in talks", "require flow.reversed in talks or tcp", "firewall.unsolicited_blocked"),
        ("firewall_pairs", "either side may begin", 'require t.began == flow.reversed else drop "unsolicited";', "", "firewall.unsolicited_blocked"),
        ("balancer_sticky", "by source alone", "hash", "hash", ""),
        ("limiter_bucket", "by destination", "buckets[flow].take(len)", "buckets[flow.reversed].take(len)", ""),
        ("limiter_bucket", "one bucket for a host's flows", "buckets[flow].take(len)", "buckets[Flow { src: flow.src, dst: ::, sport: 0, dport: 0, protocol: 0 }].take(len)", "limiter.never_starved"),
        ("limiter_own", "each flow has its own", "until.peek(flow.src)", "until.peek(flow.dst)", "limiter.never_above"),
        ("packets_bucket", "by destination", "buckets[flow.src].take(1)", "buckets[flow.dst].take(1)", "packet_limiter.never_above"),
        ("packets_bucket", "one bucket for all", "buckets[flow.src].take(1)", "buckets[::].take(1)", "packet_limiter.never_starved"),
        ("packets_own", "ports are left out", "next[flow] = due + gap;", "next[Flow { src: flow.src, dst: flow.dst, sport: flow.sport, dport: 0, protocol: flow.protocol }] = due + gap;", "packet_limiter.never_above"),
        ("limiter_layer3", "by destination", "buckets[ipv4.src]", "buckets[ipv4.dst]", "policer.limit.never_above"),
        ("connections_counted", "by destination", "let n = counts.peek(flow.src) else 0;\n    let known", "let n = counts.peek(flow.dst) else 0;\n    let known", "connection_limiter.never_above"),
        # evictions that hurt, full tables, what is not given back
        ("nat_per_flow", "a full table throws out", "idle 2min; when full drop;", "idle 2min; when full evict oldest;", "nat.living_are_spared"),
        ("firewall_set", "a full table throws out", "when full drop;", "when full evict oldest;", "firewall.living_are_spared"),
        ("connections_counted", "never one less", "if n > 1 { counts[f.src] = n - 1; } else { remove counts[f.src]; }", "if n > 1 { counts[f.src] = n - 1; }", "connection_limiter.never_too_few"),
        ("connections_counted", "counted before there is room", "    talks.add(flow);                                          // first: there may be no room for it\n    if not known { counts[flow.src] = n + 1; }\n", "    if not known { counts[flow.src] = n + 1; }\n    talks.add(flow);\n", "connection_limiter.never_too_few"),
        # limits per window, in the wrong unit, with the wrong burst
        ("limiter_bucket", "bits for bytes", "token_bucket(8Mbps, 3000B)", "token_bucket(64Mbps, 3000B)", "limiter.never_above"),
        ("limiter_bucket", "half the rate", "token_bucket(8Mbps, 3000B)", "token_bucket(4Mbps, 3000B)", "limiter.never_starved"),
        ("limiter_bucket", "a packet more", "token_bucket(8Mbps, 3000B)", "token_bucket(8Mbps, 4500B)", "limiter.never_above"),
        ("limiter_bucket", "without headers", ".take(len)", ".take(payload.len)", "limiter.never_above"),
        ("limiter_own", "dropped packets are charged", '    require end - now <= byte_time * burst else drop "too fast";\n    until[flow.src] = end;\n', '    until[flow.src] = end;\n    require end - now <= byte_time * burst else drop "too fast";\n', "limiter.never_starved"),
        ("limiter_own", "only after the limit", "let start = max(said, now);", "let start = said;", "limiter.never_above"),
        ("packets_own", "five instead of four", "= 30ms;", "= 40ms;", "packet_limiter.never_above"),
        ("packets_own", "three instead of four", "= 30ms;", "= 20ms;", "packet_limiter.never_starved"),
        ("limiter_layer3", "with the link header", "ipv4.total_length as bytes", "len", "policer.limit.never_starved"),
        ("connections_counted", "one more", "known or n < 2", "known or n <= 2", "connection_limiter.never_above"),
        # ports and addresses from the wrong range, of the wrong end
        ("nat_per_flow", "a port too low", "20000..20999", "19999..20999", "nat.ports_in_range"),
        ("nat_two_maps", "well-known ports", "let wanted = 1024 + (hash", "let wanted = 80 + (hash", "nat.ports_in_range"),
        ("nat_two_maps", "nobody looks who has the port", '    let owner = back[(ipv4.protocol, mine)] else host;\n    require owner == host else drop "port in use";\n', "", "nat.injective"),
        ("balancer_sticky", "the source is rewritten", "ipv4.dst = server.ip;", "ipv4.src = server.ip;", "load_balancer.only_destination_changes"),
        # flows that move, packets that go back
        ("balancer_sticky", "a choice for each packet", "      chosen[flow] = one;\n", "", "load_balancer.affinity"),
        ("balancer_hash", "by time", "hash(flow)", "hash(flow, now)", "load_balancer.affinity"),
        ("balancer_evicting", "by the length too", "hash(now, flow) % farm.len", "hash(len) % farm.len", ""),
        ("bridge_plain", "back where it came from", 'require there != in_port else drop "already there";', "", "bridge.never_back"),
        ("bridge_plain", "floods back", "send ports - in_port;\n    let", "send ports;\n    let", "bridge.never_back"),
        ("bridge_times", "learns where frames go", "stations[ethernet.src] = Station", "stations[ethernet.dst] = Station", "bridge.known_gets_its_frames"),
        ("router4", "one hop too few", "ipv4.ttl > 1 else", "ipv4.ttl > 2 else", "router.hops_left_suffice"),
        ("router4", "one hop too many", "ipv4.ttl > 1 else", "ipv4.ttl > 0 else", "router.ttl_falls"),
        ("router4", "no hop at all", "    ipv4.ttl -= 1;\n", "", "router.ttl_falls"),
        ("router4", "by source", "routes[ipv4.dst]", "routes[ipv4.src]", ""),
        ("probe", "the last packet waits", "on packet from lan { count(); send wan; }", "on packet from lan { count(); send lan; }", "telemetry.passes_everything"),
        ("acl_words", "one in two", "require tcp else", "require tcp and now as u64 % 2 == 0 else", "acl.same_header_same_verdict"),
    )
    if breaks
)
