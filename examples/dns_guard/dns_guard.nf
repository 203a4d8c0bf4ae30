/// Keeps DNS answers that nobody asked for, or that are much larger than their question, away from clients.
use net.l4;

/// RFC 1035, section 4.1.1.
header dns {
  id: u16;
  /// QR: whether it is an answer.
  response: bit<1>;
  opcode: bit<4>;
  authoritative: bit<1>;
  truncated: bit<1>;
  recursion_desired: bit<1>;
  recursion_available: bit<1>;
  reserved: bit<3>;
  rcode: bit<4>;
  questions: u16;
  answers: u16;
  authorities: u16;
  additionals: u16;
}
parse dns after udp when udp.sport == 53 or udp.dport == 53;

/// What an answer has to match, besides its name (RFC 5452, section 9.1).
struct Question { flow: Flow, id: u16 }

nf dns_guard {
  port clients, resolvers;
  /// Questions of one client.
  config rate:   packetrate;
  config burst:  u64;
  /// How many times as large as its question an answer may be, as frames.
  config factor: u8;

  relevant flow, dns.{id, response} when dns;

  state {
    /// How large the question was.
    asked:  map<Question, bytes> { capacity 64K; age 5s; when full drop; }
    meters: map<ipv6, token_bucket> { capacity 64K; idle 60s; when full evict oldest; }
  }
  schedule { class flow; fifo; }

  on packet from clients {
    require udp else send resolvers;
    require udp.dport == 53 else send resolvers;
    require dns else drop "not DNS";
    require dns.response == 0 else drop "not a question";
    require meters[flow.src].take(1, rate: rate, burst: burst) else drop "too many questions";
    asked[Question { flow: flow, id: dns.id }] = len;
    send resolvers;
  }

  on packet from resolvers {
    require udp or flow.protocol != IpProtocol.udp else drop "UDP without its header";
    require udp else send clients;
    require udp.sport == 53 else send clients;
    require dns else drop "not DNS";
    require dns.response == 1 else drop "not an answer";
    let question = Question { flow: flow.reversed, id: dns.id };
    let size = asked[question] else drop "unsolicited";
    require len <= size * (factor as u64) else drop "amplified";
    remove asked[question];
    send clients;
  }

  /// No answer comes through that was not asked for within 5 s, and each question gets one answer at most.
  property answers_were_asked_for {
    for q in trace where q.sent and q.in_port == resolvers and q.in.udp.sport == 53
    expect q.in.dns.response == 1
      and (exists p in trace where p.number < q.number and q.at - p.at < 5s and p.in_port == clients
           and p.in.dns.response == 0 and p.flow == q.flow.reversed and p.in.dns.id == q.in.dns.id
           and q.len <= p.len * (q.before.factor as u64)
           and not (exists r in trace where p.number < r.number and r.number < q.number and r.in_port == resolvers
                    and r.sent and r.flow == q.flow and r.in.dns.id == q.in.dns.id));
  }

  /// Of what the resolvers send, only answers are dropped, and these for one of four reasons.
  property the_others_pass {
    for p in trace where p.in_port == resolvers
    let dns_port = p.in.udp.sport == 53;
    let answer = dns_port and p.in.dns.response == 1;
    let question = Question { flow: p.flow.reversed, id: p.in.dns.id };
    let asked = answer and question in p.before.asked;
    let amplified = asked and p.len > p.before.asked[question] * (p.before.factor as u64);
    expect (p.reason == "UDP without its header") == (p.flow.protocol == 17 and not p.in.udp);
    expect (p.reason == "not DNS") == (dns_port and not p.in.dns);
    expect (p.reason == "not an answer") == (dns_port and p.in.dns.response == 0);
    expect (p.reason == "unsolicited") == (answer and not asked) and (p.reason == "amplified") == amplified;
    expect p.sent or p.reason in {"UDP without its header", "not DNS", "not an answer", "unsolicited", "amplified",
                                  "short frame"};
    expect not asked or (question in p.after.asked) == amplified;
  }

  /// Of what the clients send, only questions are dropped, and these for one of four reasons.
  property questions_pass {
    for p in trace where p.in_port == clients
    let dns_port = p.in.udp.dport == 53;
    let asks = dns_port and p.in.dns.response == 0;
    let allowed = p.before.meters[p.flow.src].has(1, rate: p.before.rate, burst: p.before.burst);
    let question = Question { flow: p.flow, id: p.in.dns.id };
    expect (p.reason == "not DNS") == (dns_port and not p.in.dns);
    expect (p.reason == "not a question") == (dns_port and p.in.dns.response == 1);
    expect (p.reason == "too many questions") == (asks and not allowed);
    let no_room = p.dropped and not (p.reason in {"not DNS", "not a question", "too many questions", "short frame"});
    expect not no_room or asks and allowed and not (question in p.before.asked) and full(p.at..p.at + 1ns);
    expect not (asks and allowed) or no_room or p.after.asked[question] == p.len;
  }

  /// Only questions are remembered, and only their answers end them.
  property nothing_else_remembered {
    for p in trace
    let own = Question { flow: if p.in_port == clients { p.flow } else { p.flow.reversed }, id: p.in.dns.id };
    expect p.after.asked.len + (own in p.before.asked) as u64 == p.before.asked.len + (own in p.after.asked) as u64;
    expect p.in.dns or p.after.asked.len == p.before.asked.len;
  }

  /// A question is open for 5 s unless it is answered, however often wrong answers come.
  property open_for_5s {
    for p, q in trace where p.in_port == clients and p.in.udp.dport == 53 and p.in.dns.response == 0
      and not (p.reason == "too many questions") and p.flow.canonical == q.flow.canonical and p.in.dns.id == q.in.dns.id
      and not (exists r in trace where p.number < r.number and r.number < q.number
               and r.flow.canonical == p.flow.canonical and r.in.dns.id == p.in.dns.id
               and not (r.reason == "amplified"))
    let question = Question { flow: p.flow, id: p.in.dns.id };
    expect not (question in p.after.asked) or q.before.asked[question] == p.len and q.at - p.at < 5s
      or not (question in q.before.asked) and q.at - p.at >= 5s;
  }

  /// In no window of less than a minute does a client ask more than the burst and what the rate gives.
  property never_above_the_rate {
    let steady = forall r in trace where r.before.rate == rate and r.before.burst == burst;
    for p, q in trace where steady and p.sent and q.sent and p.in_port == clients and q.in_port == clients
      and p.flow.src == q.flow.src and p.in.udp.dport == 53 and q.in.udp.dport == 53 and q.at - p.at < 60s
      and not evicted(meters[p.flow.src])
    let asked = count(r in trace where r.sent and r.in_port == clients and r.in.udp.dport == 53
                        and r.flow.src == p.flow.src and p.number <= r.number and r.number <= q.number);
    expect asked <= burst or (asked - burst) / (q.at - p.at) <= rate;
  }

  /// A client's meter is forgotten when it has asked nothing for a minute, and not sooner.
  property metered_for_a_minute {
    for p, q in trace where p.sent and p.in_port == clients and p.in.udp.dport == 53 and p.flow.src == q.flow.src
      and not evicted(meters[p.flow.src])
      and not (exists r in trace where p.number < r.number and r.number < q.number and r.in_port == clients
               and r.flow.src == p.flow.src and r.in.udp.dport == 53)
    expect (p.flow.src in q.before.meters) == (q.at - p.at < 60s);
  }

  /// Twelve bytes behind UDP, to or from port 53, are DNS; nothing else is.
  property dns_is_found {
    for p in trace where p.in.udp.length >= 20 and p.in.payload.len >= 12B
    expect p.in.dns or p.in.udp.sport != 53 and p.in.udp.dport != 53;
    for p in trace where p.in.dns expect p.in.udp.sport == 53 or p.in.udp.dport == 53;
  }

  use test.transparent;

  property crosses {
    for p in trace where p.sent
    expect p.in_port == clients and p.ports == {resolvers} or p.in_port == resolvers and p.ports == {clients};
  }
}
