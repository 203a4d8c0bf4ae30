/// An access list for IPv4 and IPv6: the first rule that matches permits or denies, and counts.
use net.l4;

enum Effect { deny, permit }

/// What a rule may look at. As in `flow`, an IPv4 address is IPv4-mapped: 10.0.0.0/8 is ::ffff:10.0.0.0/104.
struct Subject { from: port, src: ipv6, dst: ipv6, protocol: u8, sport: u16, dport: u16 }

/// `counter` is what the rule's packets are counted under; rules may share one.
struct Rule { effect: Effect, counter: u8 }

struct Hits { packets: u64, octets: bytes }

nf acl {
  port inside, outside;
  config rules: acl<Subject, Rule>;

  relevant flow;

  state {
    hits: array<Hits>[256];
  }
  schedule { class flow; fifo; }

  action judge() {
    require ipv4 or ipv6 else drop "not IP";
    // A later fragment, or a header that is cut short: nobody can say which rule is meant (RFC 1858, section 2).
    require l4 or not (flow.protocol in {IpProtocol.tcp, IpProtocol.udp}) else drop "ports not visible";
    let rule = rules[Subject {
      from: in_port, src: flow.src, dst: flow.dst, protocol: flow.protocol, sport: flow.sport, dport: flow.dport
    }] else drop "no rule";
    hits[rule.counter].packets += 1;
    hits[rule.counter].octets += len;
    require rule.effect == Effect.permit else drop "denied";
  }

  on packet from inside {
    if not arp { judge(); }
    send outside;
  }

  on packet from outside {
    if not arp { judge(); }
    send inside;
  }

  /// What the properties look up; they do not share the handler's, so that a slip in one of the two shows.
  fn subject(from: port, f: Flow) -> Subject {
    Subject { from: from, src: f.src, dst: f.dst, protocol: f.protocol, sport: f.sport, dport: f.dport }
  }

  /// The first rule that matches decides.
  property first_match_decides {
    for p in trace where p.in.ip
    let hidden = (p.flow.protocol == 6 or p.flow.protocol == 17) and not p.in.l4;
    let rule = p.before.rules[subject(p.in_port, p.flow)];
    let denied = not hidden and rule.effect == Effect.deny;
    let permitted = not hidden and rule.effect == Effect.permit;
    expect (p.reason == "ports not visible") == hidden and (p.reason == "denied") == denied
      and (p.reason == "no rule") == not (hidden or denied or permitted)
      and (p.sent or p.reason == "short frame") == permitted;
  }

  /// It counts what it decides about, and nothing else.
  property counted {
    for p in trace
    let rule = p.before.rules[subject(p.in_port, p.flow)];
    let judged = p.in.l4 or p.in.ip and p.flow.protocol != 6 and p.flow.protocol != 17;
    let before = p.before.hits[rule.counter];
    let after = p.after.hits[rule.counter];
    expect not (rule.counter >= 0) or judged and after.packets == before.packets + 1
      and after.octets == before.octets + p.len or not judged and after == before;
  }

  property counted_once {
    for p, q in trace where p.number + 1 == q.number
    let own = p.before.rules[subject(p.in_port, p.flow)].counter;
    let other = q.before.rules[subject(q.in_port, q.flow)].counter;
    expect own == other or not (other >= 0) or p.after.hits[other] == p.before.hits[other];
  }

  property arp_passes {
    for p in trace where p.in.arp expect p.sent or p.reason == "short frame";
    for p in trace where not p.in.arp and not p.in.ip expect p.reason == "not IP";
  }

  use test.transparent;
  use test.acl;

  property crosses {
    for p in trace where p.sent
    expect p.in_port == inside and p.ports == {outside} or p.in_port == outside and p.ports == {inside};
  }
}
