/// An IPv6 router (RFC 8200) that tells the sender why it could not forward (ICMPv6, RFC 4443).
use net.l4;

/// A mark without bytes, for packets that end here: with it they are a parse class of their own.
header expiring { }
parse expiring after ipv6 when ipv6.hop_limit <= 1;

/// Where a route leads: the port and the neighbour's address there.
struct NextHop { via: port, mac: mac }

/// The router's own end of a link.
struct Interface { mac: mac, address: ipv6 }

nf router6 {
  port west, east;
  config interfaces: map<port, Interface>;
  config local:      set<ipv6>;                            // all of the router's own addresses
  config routes:     lpm<ipv6, NextHop>;
  use test.router;

  relevant ethernet.{src, dst}, ipv6.{src, dst, hop_limit}, icmpv6.type when icmpv6 else drop "not IPv6";
  relevant packet when expiring;                           // an error quotes as much as it can,
  relevant ipv6[0..48];                                    // but about a missing route only what all packets bring

  state {
    errors: token_bucket(100pps, 10);                      // RFC 4443, section 2.4 (f)
  }
  schedule { class flow; fifo; }

  /// No error about an error, and not too many (RFC 4443, section 2.4 (e) and (f)).
  action may_complain(about_error: bool) {
    require not about_error else drop "undeliverable ICMPv6 error";
    require errors.take(1) else drop "undeliverable, too many errors";
  }

  on packet {
    let own = interfaces[in_port] else drop "port without interface";
    require ethernet.dst == own.mac else drop "not for the router's MAC";
    require not (ipv6.dst in ff00::/8) else drop "multicast";
    require not (ipv6.dst in local) else drop "for the router itself";
    // RFC 4291, sections 2.5.2, 2.5.3, 2.5.6 and 2.7: none of these may be forwarded.
    require not (ipv6.src in ff00::/8 or ipv6.src in fe80::/10 or ipv6.dst in fe80::/10 or ipv6.src in ::/127
                 or ipv6.dst in ::/127) else drop "martian address";

    if expiring {                                          // RFC 8200, section 3
      may_complain(ipv6.next_header == IpProtocol.icmpv6 and payload[0..1] < 128);
      emit ethernet { src: own.mac, dst: ethernet.src }, ipv6 { src: own.address, dst: ipv6.src },
           icmpv6 { type: Icmpv6Type.time_exceeded } payload packet_from(ipv6, 1232) to in_port;
      drop "hop limit exceeded";                           // RFC 4443, section 3.3
    }
    let next = routes[ipv6.dst] else {
      may_complain(if icmpv6 { icmpv6.type < 128 } else { false });
      emit ethernet { src: own.mac, dst: ethernet.src }, ipv6 { src: own.address, dst: ipv6.src },
           icmpv6 { type: Icmpv6Type.unreachable, code: Icmpv6Unreachable.no_route }
           payload packet_from(ipv6, 48) to in_port;
      drop "no route";                                     // RFC 4443, section 3.1
    };
    let out = interfaces[next.via] else drop "port without interface";
    ipv6.hop_limit -= 1;
    ethernet.src = out.mac;
    ethernet.dst = next.mac;
    send next.via;
  }

  /// Routing depends on the destination alone.
  property by_destination {
    for p, q in trace where p.sent and q.sent and p.in.ipv6.dst == q.in.ipv6.dst and p.changes == q.changes
    expect p.out_port == q.out_port and p.out.ethernet.dst == q.out.ethernet.dst;
  }

  /// What is routed came to the router, may be routed, and goes where the longest prefix says, from MAC to MAC.
  property routed {
    for p in trace where p.sent
    let next = p.before.routes[p.in.ipv6.dst];
    expect p.in.ethernet.dst == p.before.interfaces[p.in_port].mac and p.ports == {next.via}
      and p.out.ethernet.dst == next.mac and p.out.ethernet.src == p.before.interfaces[next.via].mac;
    expect not (p.in.ipv6.dst in ff00::/8 or p.in.ipv6.src in ff00::/8 or p.in.ipv6.dst in p.before.local)
      and not (p.in.ipv6.src in fe80::/10 or p.in.ipv6.dst in fe80::/10 or p.in.ipv6.src in ::/127
               or p.in.ipv6.dst in ::/127);
  }

  /// Who sent what cannot be delivered is told, by the router's own address: not about errors, and not too often.
  property errors {
    for e in emitted
    let own = e.cause.before.interfaces[e.cause.in_port];
    expect e.port == e.cause.in_port and e.cause.dropped and e.ethernet.src == own.mac
      and e.ethernet.dst == e.cause.in.ethernet.src and e.ipv6.src == own.address and e.ipv6.dst == e.cause.in.ipv6.src;
    expect not (e.cause.in.icmpv6.type < 128)
      and (e.icmpv6.type == Icmpv6Type.time_exceeded) == (e.cause.in.ipv6.hop_limit <= 1);
  }

  /// Errors are ten at once, and 100 a second.
  property few_errors {
    for e, f in emitted
    let n = count(x in emitted where x.at >= e.at and x.at <= f.at);
    expect n <= 10 or (n - 10) / (f.at - e.at) <= 100pps;
  }

  property complained {
    for p in trace where p.reason in {"no route", "hop limit exceeded"} expect exists e in emitted where e.cause == p;
    for p in trace where p.in.ipv6.hop_limit <= 1 expect p.dropped;
  }

  /// What is not forwarded is dropped for what it is, and complained about unless it is an error.
  property reasons {
    for p in trace where p.in.ipv6
    let error = if p.in.expiring { p.in.ipv6.next_header == 58 and p.in.payload[0..1] < 128 }
      else { p.in.icmpv6.type < 128 };
    expect p.sent
      or p.reason in {"port without interface", "not for the router's MAC", "multicast", "for the router itself",
                      "martian address",
                      "undeliverable ICMPv6 error", "undeliverable, too many errors", "hop limit exceeded",
                      "no route", "short frame"};
    expect if p.reason == "undeliverable ICMPv6 error" { error }
      else { not error or not (p.reason in {"undeliverable, too many errors", "hop limit exceeded", "no route"}) };
  }

  /// An error is one too many only if the bucket is empty: it has ten, and another one each 10 ms.
  property all_other_errors {
    for q in trace where q.reason == "undeliverable, too many errors"
    expect exists e in emitted where e.at <= q.at
      and count(x in emitted where x.at >= e.at and x.at <= q.at) >= 10
      and (e.at == q.at
           or (count(x in emitted where x.at >= e.at and x.at <= q.at) - 9) / (q.at - e.at) >= 100pps);
  }

  /// Types, codes and quotes are those of RFC 4443: as much as fits into 1280 bytes; about a missing route, the header
  /// and the ports.
  property quotes {
    for e in emitted
    let expired = e.cause.in.expiring;
    expect e.icmpv6.type == (if expired { 3 } else { 1 }) and e.icmpv6.code == 0;
    expect not expired or e.len == 62B + min(1232B, 40B + e.cause.in.payload.len);
    expect expired or not e.cause.in.l4 or e.len == 62B + 48B;
  }
}
