"""Mutants of the examples' specs and of the library they use."""

from __future__ import annotations

import dataclasses

from tests.properties.mutants.kinds import Kind, SpecMutant


def of(example: str, *mutants: tuple[str, Kind, str, str], file: str | None = None) -> tuple[SpecMutant, ...]:
    return tuple(SpecMutant(f"{example}: {name}", kind, example, old, new, file) for name, kind, old, new in mutants)


NAT = of(
    "nat",
    ("replies leave outside", Kind.direction, "icmp.identifier = m.key.sport; }\n    send inside;\n  }\n\n  /// To the inside, an", "icmp.identifier = m.key.sport; }\n    send outside;\n  }\n\n  /// To the inside, an"),
    ("mapping is not stored", Kind.missing_update, "      out[mapping(flow)] = taken;\n", ""),
    ("source port stays", Kind.missing_write, "    if l4 { l4.sport = public.port; }", "    if l4 { l4.sport = l4.sport; }"),
    ("source address stays", Kind.missing_write, "    ipv4.src = public.ip;\n    if l4", "    if l4"),
    ("answers keep the public port", Kind.missing_write, "if l4 { l4.dport = m.key.sport; }", "if l4 { l4.dport = l4.dport; }"),
    ("the quote keeps the public address", Kind.missing_write, "    icmp.quoted.ipv4.src = m.key.src as ipv4;\n", ""),
    ("the quote keeps the public port", Kind.missing_write, "    if icmp.quoted.l4 { icmp.quoted.l4.sport = m.key.sport; }\n", ""),
    ("errors keep a mapping alive", Kind.refresh, "let m = back.peek(by_public(quote)) else", "let m = back[by_public(quote)] else"),
    ("the pool is not per protocol", Kind.key, "1024..65535; per ipv4.protocol; }", "1024..65535; }"),
    ("privileged ports", Kind.constant, "1024..65535", "1023..65535"),
    ("UDP lives for five seconds", Kind.timeout, "{ 5min }", "{ 5s }"),
    ("a full table evicts", Kind.when_full, "max 124min; when full drop; }", "max 124min; when full evict oldest; }"),
    ("mapping by destination", Kind.key, "src: f.src, dst: if endpoint_independent { :: } else { f.dst }", "src: f.src, dst: f.dst"),
    ("mapping by destination port", Kind.key, "endpoint_independent or f.protocol == IpProtocol.icmp", "f.protocol == IpProtocol.icmp"),
    ("answers found by the wrong end", Kind.swapped, "deliver(flow.reversed);\n  }\n\n", "deliver(flow);\n  }\n\n"),
    ("the mapping forgets the protocol", Kind.key, "dport: if any_port { 0 } else { f.dport }, protocol: f.protocol", "dport: if any_port { 0 } else { f.dport }, protocol: 17"),
    ("unsolicited is let in", Kind.missing_check, 'let m = back[by_public(answer)] else drop "unsolicited";', "let m = back[by_public(answer)] else send inside;"),
    ("fragments are translated", Kind.missing_check, '    require ipv4.fragment_offset == 0 else drop "later fragment";\n', ""),
)  # fmt: skip

FIREWALL = of(
    "firewall",
    ("outside opens as well", Kind.direction, "      ct.answer();", "      ct.open();"),
    ("inside need not open", Kind.missing_update, "else { ct.open(); }", "else { }"),
    ("errors are let in", Kind.missing_check, "      ct.error_about(quoted_flow);  ", "      "),
    ("errors to anybody", Kind.missing_check, '      require flow.dst == quoted_flow.src else drop "ICMP error to somebody else";\n', ""),
    ("echo types swapped", Kind.swapped, "check(IcmpType.echo_reply, Icmpv6Type.echo_reply);", "check(IcmpType.echo_request, Icmpv6Type.echo_request);"),
    ("answers go back outside", Kind.direction, "      ct.answer();\n    }\n    send inside;", "      ct.answer();\n    }\n    send outside;"),
) + of(
    "firewall",
    ("answers by the flow itself", Kind.key, "let known = connections[flow.reversed] else", "let known = connections[flow] else"),
    ("an answer is not remembered", Kind.missing_update, "      connections[flow.reversed] = after(known, 2,", "      connections[flow.reversed] = after(known, 1,"),
    ("any segment opens", Kind.missing_check, '        require opens else drop "no connection";\n', ""),
    ("a SYN with ACK opens", Kind.boundary, "tcp.syn == 1 and tcp.ack == 0;", "tcp.syn == 1;"),
    ("RST is ignored", Kind.missing_check, "if rst or fins == 3 or", "if fins == 3 or"),
    ("one FIN closes", Kind.boundary, "rst or fins == 3 or", "rst or fins != 0 or"),
    ("established without an ACK", Kind.missing_check, "syns == 3 and side == 1 and ack", "syns == 3 and side == 1"),
    ("timeouts swapped", Kind.timeout, "else if phase == Phase.opening { opening }\n    else if phase == Phase.closing", "else if phase == Phase.opening { closed }\n    else if phase == Phase.closing"),
    ("full evicts", Kind.when_full, "max established; when full drop; }", "max established; when full evict oldest; }"),
    ("errors keep it alive", Kind.refresh, 'require f in connections else drop "ICMP error about no connection";', 'let known = connections[f] else drop "ICMP error about no connection";'),
    ("a closed port is not used again", Kind.missing_check, "if opens and known.phase == Phase.closed { fresh }", "if opens and known.phase == Phase.opening { fresh }"),
    file="nf/conntrack.nf",
)  # fmt: skip

LOAD_BALANCER = of(
    "load_balancer",
    ("choices are not kept", Kind.missing_update, "      sticky[flow] = chosen;\n", ""),
    ("always the same backend", Kind.missing_update, "      turn += 1;\n", ""),
    ("by source address", Kind.swapped, "    ipv4.dst = backend.ip;", "    ipv4.src = backend.ip;"),
    ("the MAC stays", Kind.missing_write, "    ethernet.dst = backend.mac;\n", ""),
    ("one index too far", Kind.boundary, "turn % backends.len", "(turn + 1) % (backends.len + 1)"),
    ("no check of the VIP", Kind.missing_check, '    require ipv4.dst == vip else drop "not for the VIP";\n', ""),
    ("back to the clients", Kind.direction, "send backend.uplink;", "send clients;"),
    ("entries live half as long", Kind.timeout, "idle 30s;", "idle 15s;"),
    ("age instead of idle", Kind.timeout, "idle 30s;", "age 30s;"),
    ("a full table drops", Kind.when_full, "when full evict oldest;", "when full drop;"),
)  # fmt: skip

POLICER = of(
    "policer",
    ("it counts packets as one byte", Kind.rate, "let size = ipv4.total_length as bytes;", "let size = 1B;"),
    ("it never limits", Kind.rate, 'require meters[ipv4.src].peak.take(size, rate: plan.pir, burst: plan.pbs) else drop "red";', 'require meters[ipv4.src].peak.has(size, rate: plan.pir, burst: plan.pbs) else drop "red";'),
    ("one meter for all", Kind.key, "require meters[ipv4.src].peak", "require meters[10.0.0.1].peak"),
    ("green is marked", Kind.inverted, "if not green { ipv4.dscp", "if green { ipv4.dscp"),
    ("the wrong mark", Kind.constant, "= 12;  ", "= 10;  "),
    ("committed rate for the peak", Kind.swapped, "peak.take(size, rate: plan.pir, burst: plan.pbs)", "peak.take(size, rate: plan.cir, burst: plan.cbs)"),
    ("subscribers are confused with the core", Kind.direction, "on packet from core { send subscribers; }", "on packet from core { send core; }"),
    ("what is not IPv4 goes back", Kind.direction, "require ipv4 else send core;", "require ipv4 else send subscribers;"),
    ("the plan is ignored", Kind.lookup, "let plan = plans[ipv4.src] else default_plan;", "let plan = default_plan;"),
    ("one plan for all", Kind.key, "let plan = plans[ipv4.src] else", "let plan = plans[10.0.0.1] else"),
    ("a burst of its own for yellow", Kind.swapped, "committed.take(size, rate: plan.cir, burst: plan.cbs)", "committed.take(size, rate: plan.cir, burst: plan.pbs)"),
)  # fmt: skip

SHAPER = of(
    "shaper",
    ("one bucket for all", Kind.key, "schedule { class flow; shape", "schedule { class 0 as u8; shape"),
    ("policing instead", Kind.rate, "shape rate, burst; classes 64K; idle 10s; buffer 16MB; queue 256KB; when full drop;", "police rate, burst; classes 64K; idle 10s; when full drop;"),
    ("without a limit", Kind.rate, "schedule { class flow; shape rate, burst; classes 64K; idle 10s; buffer 16MB; queue 256KB; when full drop; }", "schedule { class flow; fifo; }"),
    ("to where it came from", Kind.direction, "on packet from lan { send wan; }", "on packet from lan { send lan; }"),
    ("double rate", Kind.rate, "shape rate, burst;", "shape rate * 2, burst;"),
    ("no burst", Kind.rate, "shape rate, burst;", "shape rate, 1514B;"),
)  # fmt: skip

REFRAMER = of(
    "reframer",
    ("held ten times longer", Kind.constant, "reframe window, most;", "reframe 1ms, most;"),
    ("by source only", Kind.key, "schedule { class flow; reframe", "schedule { class 0 as u8; reframe"),
    ("nothing is held", Kind.order, "reframe window, most;", "fifo;"),
    ("back to the network", Kind.direction, "send servers;", "send network;"),
)  # fmt: skip

TELEMETRY = of(
    "telemetry",
    ("packets counted twice", Kind.arithmetic, "packets: r.packets + 1", "packets: r.packets + 2"),
    ("bytes of the last packet only", Kind.arithmetic, "octets: r.octets + len", "octets: len"),
    ("the start moves", Kind.missing_update, "start: r.start, last: now,", "start: now, last: now,"),
    ("the last packet is not noted", Kind.missing_update, "start: r.start, last: now,", "start: r.start, last: r.last,"),
    ("FIN is not noted", Kind.missing_check, "tcp.fin == 1 or tcp.rst == 1", "tcp.rst == 1"),
    ("idle and active exchanged", Kind.swapped, "{ FlowEnd.active_timeout }", "{ FlowEnd.idle_timeout }"),
    ("sources by destination", Kind.key, "sources.add(flow.src, len as u64);", "sources.add(flow.dst, len as u64);"),
    ("flows are counted again and again", Kind.missing_update, "    seen.add(flow);\n", ""),
    ("an interval keeps the last one's flows", Kind.missing_update, "    flows = 0;\n", ""),
    ("talkers are never forgotten", Kind.missing_update, "    talkers.clear();\n", ""),
    ("the record has one port twice", Kind.swapped, "dport: f.dport, protocol: f.protocol, end_reason", "dport: f.sport, protocol: f.protocol, end_reason"),
    ("lan and wan exchanged", Kind.direction, "on packet from wan { account(); send lan; }", "on packet from wan { account(); send wan; }"),
    ("the wan is not counted", Kind.missing_update, "on packet from wan { account(); send lan; }", "on packet from wan { send lan; }"),
    ("linger is ignored", Kind.timeout, "if value.finished { linger } else { idle_timeout }", "if value.finished { idle_timeout } else { idle_timeout }"),
    ("active timeout one too late", Kind.boundary, ">= active_timeout", "> active_timeout"),
)  # fmt: skip

BRIDGE = of(
    "bridge",
    ("nothing is learned", Kind.missing_update, "    stations[(vid, ethernet.src)] = in_port;                 // learning (8.7)\n", ""),
    ("destinations are learned", Kind.swapped, "stations[(vid, ethernet.src)] = in_port;", "stations[(vid, ethernet.dst)] = in_port;"),
    ("VLANs see each other", Kind.key, "let vid = if tag == 0 { pvid } else { tag };", "let vid = pvid;"),
    ("flooded back", Kind.verdict, "send ports - in_port;", "send ports;"),
    ("filtering forgotten", Kind.missing_check, '    require station != in_port else drop "already there";    // filtering (8.6.3)\n', ""),
    ("use keeps stations", Kind.refresh, "age ageing;", "idle ageing;"),
    ("group sources are learned", Kind.missing_check, '    require not is_group(ethernet.src) else drop "group address as source";\n', ""),
    ("link-local is forwarded", Kind.missing_check, '    require not is_link_local(ethernet.dst) else drop "link-local control";\n', ""),
    ("priority tags have a VLAN", Kind.boundary, "if tag == 0 { pvid }", "if tag == 1 { pvid }"),
    ("stations live a second", Kind.timeout, "age ageing;", "age 1s;"),
    ("group bit of the last byte", Kind.constant, "{ a[40:40] == 1 }", "{ a[0:0] == 1 }"),
)  # fmt: skip

ROUTER6 = of(
    "router6",
    ("the hop limit stays", Kind.missing_write, "    ipv6.hop_limit -= 1;\n", ""),
    ("two hops at once", Kind.arithmetic, "ipv6.hop_limit -= 1;", "ipv6.hop_limit -= 2;"),
    ("one hop too many", Kind.boundary, "when ipv6.hop_limit <= 1;", "when ipv6.hop_limit < 1;"),
    ("routed by source", Kind.swapped, "let next = routes[ipv6.dst] else {", "let next = routes[ipv6.src] else {"),
    ("the own MAC stays away", Kind.missing_write, "    ethernet.src = out.mac;\n", ""),
    ("MACs exchanged", Kind.swapped, "    ethernet.src = out.mac;\n    ethernet.dst = next.mac;", "    ethernet.dst = out.mac;\n    ethernet.src = next.mac;"),
    ("back where it came from", Kind.direction, "send next.via;", "send in_port;"),
    ("errors without a limit", Kind.rate, '    require errors.take(1) else drop "undeliverable, too many errors";\n', ""),
    ("errors about errors", Kind.missing_check, '    require not about_error else drop "undeliverable ICMPv6 error";\n', ""),
    ("the error goes to itself", Kind.swapped, "ipv6 { src: own.address, dst: ipv6.src },\n           icmpv6 { type: Icmpv6Type.time_exceeded }", "ipv6 { src: own.address, dst: own.address },\n           icmpv6 { type: Icmpv6Type.time_exceeded }"),
    ("frames for others are routed", Kind.missing_check, '    require ethernet.dst == own.mac else drop "not for the router\'s MAC";\n', ""),
    ("multicast is routed", Kind.missing_check, '    require not (ipv6.dst in ff00::/8) else drop "multicast";\n', ""),
)  # fmt: skip

VXLAN_GATEWAY = of(
    "vxlan_gateway",
    ("nothing is learned", Kind.missing_update, "    remote[inner.ethernet.src] = outer.ipv4.src;\n", ""),
    ("learned from the wrong side", Kind.swapped, "remote[inner.ethernet.src] = outer.ipv4.src;", "remote[inner.ethernet.src] = outer.ipv4.dst;"),
    ("any network", Kind.missing_check, '    require vxlan.vni == vtep.vni else drop "another network";\n', ""),
    ("addresses exchanged", Kind.swapped, "push ipv4 { src: vtep.ip, dst: to,", "push ipv4 { src: to, dst: vtep.ip,"),
    ("flows take several paths", Kind.key, "hash(flow) % 16384", "hash(flow, now) % 16384"),
    ("source ports below the range", Kind.constant, "sport: 49152 +", "sport: 4915 +"),
    ("the group's MAC", Kind.inverted, "if to in 224.0.0.0/4 { group_mac(to) } else { vtep.gateway }", "if to in 224.0.0.0/4 { vtep.gateway } else { group_mac(to) }"),
    ("for any end point", Kind.missing_check, '    require outer.ipv4.dst == vtep.ip or outer.ipv4.dst == vtep.flood else drop "for another end point";\n', ""),
    ("stations for ever", Kind.timeout, "age 300s;", "age 3000s;"),
    ("back into the fabric", Kind.direction, "pop outer.ethernet..vxlan;\n    send access;", "pop outer.ethernet..vxlan;\n    send fabric;"),
    ("group addresses are learned", Kind.missing_check, '    require inner.ethernet.src[40:40] == 0 else drop "group address as source";\n', ""),
)  # fmt: skip

FORWARDER = of(
    "forwarder",
    ("back where it came from", Kind.direction, "on packet from left { swap(); send right; }", "on packet from left { swap(); send left; }"),
    ("one side is not swapped", Kind.missing_write, "on packet from right { swap(); send left; }", "on packet from right { send left; }"),
    ("both MACs the same", Kind.order, "    ethernet.dst = sender;", "    ethernet.dst = ethernet.src;"),
    ("only the source", Kind.missing_write, "    ethernet.dst = sender;\n", ""),
)  # fmt: skip

ACL = of(
    "acl",
    ("permits what is denied", Kind.inverted, "rule.effect == Effect.permit else", "rule.effect == Effect.deny else"),
    ("addresses exchanged", Kind.swapped, "src: flow.src, dst: flow.dst, protocol: flow.protocol, sport: flow.sport, dport: flow.dport\n    }] else", "src: flow.dst, dst: flow.src, protocol: flow.protocol, sport: flow.sport, dport: flow.dport\n    }] else"),
    ("the outside is not judged", Kind.missing_check, "  on packet from outside {\n    if not arp { judge(); }\n", "  on packet from outside {\n"),
    ("permits without a rule", Kind.verdict, '}] else drop "no rule";', "}] else send outside;"),
    ("packets counted twice", Kind.arithmetic, "hits[rule.counter].packets += 1;", "hits[rule.counter].packets += 2;"),
    ("octets are packets", Kind.constant, "hits[rule.counter].octets += len;", "hits[rule.counter].octets += 1B;"),
    ("always the same counter", Kind.key, "hits[rule.counter].packets += 1;", "hits[0].packets += 1;"),
    ("hidden ports are judged", Kind.missing_check, '    require l4 or not (flow.protocol in {IpProtocol.tcp, IpProtocol.udp}) else drop "ports not visible";\n', ""),
)  # fmt: skip

PORT_SCAN = of(
    "port_scan",
    ("counts are not given back", Kind.leak, "if n > 1 { targets[t.source] = n - 1; } else { remove targets[t.source]; }", "if n > 1 { targets[t.source] = n; }"),
    ("one too many", Kind.boundary, "require n < limit else", "require n <= limit else"),
    ("tries are not remembered", Kind.missing_update, "    tries.add(target);\n", ""),
    ("hosts only", Kind.key, "let target = Try { source: flow.src, host: flow.dst, port: flow.dport };", "let target = Try { source: flow.src, host: flow.dst, port: 0 };"),
    ("by destination", Kind.swapped, "let target = Try { source: flow.src, host: flow.dst,", "let target = Try { source: flow.dst, host: flow.src,"),
    ("the window is eleven seconds", Kind.timeout, "capacity 1M; idle 10s;", "capacity 1M; idle 11s;"),
    ("tries end by age", Kind.refresh, "capacity 1M; idle 10s;", "capacity 1M; age 10s;"),
    ("answers count", Kind.missing_check, "if tcp.ack == 0 and tcp.rst == 0 { detect(); }", "if tcp.rst == 0 { detect(); }"),
    ("two at a time", Kind.arithmetic, "targets[flow.src] = n + 1;", "targets[flow.src] = n + 2;"),
    ("the inside is blocked too", Kind.direction, "on packet from inside { send outside; }", "on packet from inside { send inside; }"),
)  # fmt: skip

SLIM_DPI = of(
    "slim_dpi",
    ("ssh is http", Kind.swapped, "text == 0x5353482d { Service.ssh }", "text == 0x5353482d { Service.http }"),
    ("any handshake", Kind.missing_check, " and head[23:16] == 1 { Service.tls }", " { Service.tls }"),
    ("one bit too few", Kind.boundary, "head[63:62] == 3 and", "head[63:63] == 1 and"),
    ("responses are questions", Kind.missing_check, "head[47:43] == 0 and head[31:0]", "head[46:43] == 0 and head[31:0]"),
    ("each direction by itself", Kind.key, "if payload.len > 0B { services[flow.canonical] = found; }", "if payload.len > 0B { services[flow] = found; }"),
    ("empty packets decide", Kind.missing_check, "if payload.len > 0B { services[flow.canonical] = found; }", "services[flow.canonical] = found;"),
    ("never remembered", Kind.missing_update, "        if payload.len > 0B { services[flow.canonical] = found; }\n", ""),
    ("no marks", Kind.missing_write, "      if let dscp = marks[service] { ip.dscp = dscp; }\n", ""),
    ("an hour", Kind.timeout, "idle 5min;", "idle 60min;"),
    ("not counted", Kind.missing_update, "      packets[service as u64] += 1;\n", ""),
    ("flooded back", Kind.verdict, "send ports - in_port;", "send ports;"),
)  # fmt: skip

DNS_GUARD = of(
    "dns_guard",
    ("answers may come again", Kind.missing_update, "    remove asked[question];\n", ""),
    ("any answer", Kind.missing_check, 'let size = asked[question] else drop "unsolicited";', "let size = asked[question] else send clients;"),
    ("by the flow alone", Kind.key, "asked[Question { flow: flow, id: dns.id }] = len;", "asked[Question { flow: flow, id: 0 }] = len;"),
    ("answers under their own flow", Kind.swapped, "flow: flow.reversed, id: dns.id };\n    let size", "flow: flow, id: dns.id };\n    let size"),
    ("amplification by one", Kind.boundary, "require len <= size * (factor as u64)", "require len < size * (factor as u64)"),
    ("twice the factor", Kind.arithmetic, "require len <= size * (factor as u64)", "require len <= size * (factor as u64) * 2"),
    ("no rate", Kind.rate, '    require meters[flow.src].take(1, rate: rate, burst: burst) else drop "too many questions";\n', ""),
    ("two tokens a question", Kind.rate, "take(1, rate: rate", "take(2, rate: rate"),
    ("questions live a minute", Kind.timeout, "age 5s;", "age 60s;"),
    ("questions live by use", Kind.timeout, "age 5s;", "idle 5s;"),
    ("answers pass as questions", Kind.missing_check, '    require dns.response == 0 else drop "not a question";\n', ""),
    ("any port is DNS", Kind.parsing, "when udp.sport == 53 or udp.dport == 53;", "when udp.sport == 53;"),
)  # fmt: skip

CONN_LIMITER = of(
    "conn_limiter",
    ("one too many", Kind.boundary, "require n < limit else", "require n <= limit else"),
    ("never one less", Kind.leak, "  on end connections(f, c, why) { one_less(f.src); }\n", ""),
    ("one less for the server", Kind.swapped, "{ one_less(f.src); }", "{ one_less(f.dst); }"),
    ("FIN of one side ends it", Kind.boundary, "if tcp.rst == 1 or fins == 3 {", "if tcp.rst == 1 or fins != 0 {"),
    ("RST is ignored", Kind.missing_check, "if tcp.rst == 1 or fins == 3 {", "if fins == 3 {"),
    ("FINs are forgotten", Kind.missing_update, "let fins = if tcp.fin == 1 { c.fins | side } else { c.fins };", "let fins = c.fins;"),
    ("sides exchanged", Kind.swapped, "follow(flow.reversed, 2);", "follow(flow.reversed, 1);"),
    ("answers by their own flow", Kind.key, "follow(flow.reversed, 2);", "follow(flow, 2);"),
    ("every SYN counts", Kind.missing_check, "      open[flow.src] = n + 1;\n      fresh\n    };", "      open[flow.src] = n + 1;\n      fresh\n    };\n    open[flow.src] += 1;"),
    ("established for four minutes", Kind.timeout, "c.fins == 0 { 30min } else { 4min }\n  }", "c.fins == 0 { 4min } else { 4min }\n  }"),
    ("by destination", Kind.key, "let n = open.peek(flow.src) else 0;\n      require", "let n = open.peek(flow.dst) else 0;\n      require"),
    ("no limit", Kind.rate, '      require n < limit else drop "too many connections";\n', ""),
)  # fmt: skip

EQUIVALENT = {
    "port_scan: tries end by age": "nothing looks a try up but to add it, and adding is a write, which starts both times anew",
}

SPEC_MUTANTS: tuple[SpecMutant, ...] = tuple(
    dataclasses.replace(m, equivalent=EQUIVALENT.get(m.name)) for m in (
    *NAT, *FIREWALL, *LOAD_BALANCER, *POLICER, *SHAPER, *REFRAMER, *TELEMETRY, *BRIDGE, *ROUTER6, *VXLAN_GATEWAY,
    *FORWARDER, *ACL, *PORT_SCAN, *SLIM_DPI, *DNS_GUARD, *CONN_LIMITER,
))  # fmt: skip
