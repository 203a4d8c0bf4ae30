/// A stateful firewall: `inside` opens connections, `outside` only answers (RFC 6092, section 3). A conversation is
/// known by its `flow`; an ICMP error belongs to the conversation that it quotes.
///
/// It cannot know which protocols and ports may pass at all, nor how TCP's states are followed: whoever drops
/// everything keeps its promises. What must pass is said of `ordinary` packets.
use net.flow;
use net.icmpv6;
use test.ordinary;

block firewall {
  port inside, outside;
  /// How long a conversation is remembered after its last packet: at least, and at most.
  param idle:    duration;
  param longest: duration = idle;
  /// Does an answer keep its conversation alive? RFC 4787, REQ-6, leaves that open; what goes out always does.
  param answers_refresh: bool = false;
  /// Is it meant that a full table throws out old conversations? Then whoever opens enough of them ends all others.
  param evicts: bool = false;

  /// Is r a reason to refuse q, whose connection p goes on with or begins (RFC 9293, section 3.5)? It ends it, or goes on
  /// with it while q accepts it, or begins it, and was not accepted; or it is a packet of q's flow, from the other side.
  fn unsettles(r: packet, p: packet, q: packet) -> bool {
    r.number < q.number and (r.flow == q.flow or r.flow == q.flow.reversed)
      and (r.in.tcp.fin == 1 or r.in.tcp.rst == 1 or r.in_port == inside and r.flow == q.flow
           or (if q.in.tcp.syn == 1 { r.number > p.number } else { r.in.tcp.syn == 1 and r.in.tcp.ack == 0 })
           and not (exists a in trace where accepts(a, q) and a.number > r.number and a.number < p.number))
  }

  fn accepts(a: packet, q: packet) -> bool {
    a.sent and a.in_port == outside and a.flow == q.flow and a.in.tcp.syn == 1 and a.in.tcp.ack == 1
  }

  /// Neighbour discovery, which no link can do without (RFC 4890, section 4.4.1).
  fn is_discovery(type: u8) -> bool { type >= 133 and type <= 137 }

  /// Nothing enters that nobody inside asked for.
  /// (Who asked may have lost the packet after it was let through, as short frame or in a full queue.)
  property unsolicited_blocked {
    for q in trace where q.sent and q.in_port == outside and q.in.ip and (not q.fragment or q.in.l4)
      and not is_discovery(q.in.icmpv6.type)
    expect exists p in trace where p.number < q.number and p.in_port == inside
      and (p.flow == q.flow.reversed or p.flow == q.quoted_flow)
      and (not p.dropped or p.reason in {"short frame", "queue full", "buffer full"});
  }

  /// What answers a packet enters, for as long as conversations are remembered.
  property replies_pass {
    for p, q in trace where p.sent and p.in_port == inside and q.in_port == outside and q.flow == p.flow.reversed
      and p.in.l4 and q.in.l4 and p.fragment == q.fragment and q.at - p.at < idle and p.changes == q.changes
      and not full(p.at..p.at + 1ns) and not full(q.at..q.at + 1ns)
      and ordinary(q) and between_hosts(p) and may_answer(p, q) and not (exists r in trace where unsettles(r, p, q))
      and q.in.ethernet.dst == p.out.ethernet.src
      and not evicted(p.at..q.at + 1ns) and not ended(End.removed, p.at..q.at + 1ns)
    expect not q.dropped or q.reason == "short frame";
  }

  /// A conversation lives from its last packet on, also if that was an answer.
  property answers_keep_alive {
    for p, q in trace where answers_refresh and p.sent and p.in_port == outside and q.in_port == outside
      and q.flow == p.flow and p.in.l4 and q.in.l4 and p.fragment == q.fragment and q.at - p.at < idle
      and p.changes == q.changes and not full(p.at..q.at + 1ns) and not ended(End.removed, p.at..q.at + 1ns)
      and ordinary(q) and between_hosts(p) and goes_on(q) and q.in.ethernet.dst == p.in.ethernet.dst
      and (not q.in.tcp or (p.in.tcp.syn, p.in.tcp.ack) == (q.in.tcp.syn, q.in.tcp.ack))
      and not (exists r in trace where unsettles(r, p, q))
    expect not q.dropped or q.reason == "short frame";
  }

  /// A full table refuses who is new. It never throws out who is there.
  property living_are_spared {
    for q in trace where not evicts expect not evicted(q.at..q.at + 1ns);
  }

  /// An ICMP error goes to whom it is about, and to nobody else: it quotes a packet that its receiver sent.
  property errors_to_whom_they_concern {
    for q in trace where q.sent and q.in_port == outside and (q.in.icmp.quoted.ipv4 or q.in.icmpv6.quoted.ipv6)
    expect q.flow.dst == q.quoted_flow.src;
  }

  /// A conversation that fell silent is forgotten in time: its answers are unsolicited again.
  property expired_blocked {
    for q in trace where q.sent and q.in_port == outside and q.in.l4
    expect exists p in trace where p.number < q.number and q.at - p.at < longest
      and (p.flow == q.flow.reversed or p.flow == q.flow);
  }

  /// Each packet crosses: in at one side, out at the other.
  property never_back {
    for p in trace where p.sent expect not (p.in_port in p.ports);
  }

  /// What passes, passes as it is.
  property nothing_changes {
    for p in trace where p.sent and p.in.ip
    expect p.out.flow == p.flow and p.out.len == p.in.len and p.out.payload == p.in.payload
      and p.out.ip.dscp == p.in.ip.dscp and p.out.ip.ecn == p.in.ip.ecn and checksums_valid(p);
  }

  /// A TCP segment too.
  property tcp_unchanged {
    for p in trace where p.sent and p.in.tcp
    expect p.out.tcp.sequence == p.in.tcp.sequence and p.out.tcp.acknowledgement == p.in.tcp.acknowledgement
      and p.out.tcp.window == p.in.tcp.window and p.out.tcp.options == p.in.tcp.options
      and p.out.tcp.syn == p.in.tcp.syn and p.out.tcp.ack == p.in.tcp.ack and p.out.tcp.fin == p.in.tcp.fin
      and p.out.tcp.rst == p.in.tcp.rst;
  }
}
