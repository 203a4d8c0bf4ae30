/// Packets that an NF has no reason to refuse beside those that its block is about: many check more than one thing.
use net.ethernet;
use net.ipv4;
use net.ipv6;
use net.tcp;
use net.udp;
use test.tags;

/// Is it an address that one host can have (RFC 6890, sections 2.2.2 and 2.2.3; RFC 1122, section 3.2.1.3)?
fn of_a_host(a: ipv6) -> bool {
  not (a in ff00::/8 or a in ::/127 or a in fe80::/10 or a in ::ffff:0.0.0.0/104 or a in ::ffff:127.0.0.0/104
       or a in ::ffff:169.254.0.0/112 or a in ::ffff:224.0.0.0/99)
}

/// From one host to another: with addresses, on the link too, and ports that hosts have, and no VLAN tag.
fn between_hosts(q: packet) -> bool {
  untagged(q.in.ethernet.ether_type) and q.in.ethernet.src[40:40] == 0 and q.in.ethernet.dst[40:40] == 0
    and (if q.in.ipv4 {
      of_a_host(q.in.ipv4.src as ipv6) and of_a_host(q.in.ipv4.dst as ipv6) and q.in.ipv4.src != q.in.ipv4.dst
    } else {
      of_a_host(q.in.ipv6.src) and of_a_host(q.in.ipv6.dst) and q.in.ipv6.src != q.in.ipv6.dst
    })
    and not (q.in.tcp.sport == 0 or q.in.tcp.dport == 0 or q.in.udp.sport == 0 or q.in.udp.dport == 0)
}

/// Goes through every link and router: it is no longer than what IPv6 asks of each link (1280 bytes and the link header:
/// RFC 8200, section 5), has no options, and many hops left.
fn ordinary(q: packet) -> bool {
  q.len <= 1294B and between_hosts(q)
    and (if q.in.ipv4 { q.in.ipv4.ihl == 5 and q.in.ipv4.ttl > 31 } else { q.in.ipv6.hop_limit > 31 })
}

/// Is it no segment of TCP, or one that hosts send while a connection is there or begins, with SYN or ACK or both?
fn goes_on(q: packet) -> bool {
  not q.in.tcp
    or q.in.tcp.fin == 0 and q.in.tcp.rst == 0 and q.in.tcp.urg == 0 and (q.in.tcp.syn == 1 or q.in.tcp.ack == 1)
}

/// Is it no segment of TCP, or one that begins a connection?
fn begins(q: packet) -> bool { not q.in.tcp or goes_on(q) and q.in.tcp.syn == 1 and q.in.tcp.ack == 0 }

/// Do both have the same TCP flags, or is q no segment?
fn same_flags(p: packet, q: packet) -> bool {
  not q.in.tcp
    or p.in.tcp.syn == q.in.tcp.syn and p.in.tcp.ack == q.in.tcp.ack and p.in.tcp.fin == q.in.tcp.fin
    and p.in.tcp.rst == q.in.tcp.rst and p.in.tcp.psh == q.in.tcp.psh and p.in.tcp.urg == q.in.tcp.urg
    and p.in.tcp.ece == q.in.tcp.ece and p.in.tcp.cwr == q.in.tcp.cwr
}

/// Is q a segment that may answer p (RFC 9293, section 3.5), or no segment of TCP?
fn may_answer(p: packet, q: packet) -> bool {
  not q.in.tcp or goes_on(q) and q.in.tcp.ack == 1 and q.in.tcp.syn == p.in.tcp.syn and goes_on(p)
    and not (p.in.tcp.syn == 1 and p.in.tcp.ack == 1)
}
