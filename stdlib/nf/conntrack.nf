/// Connection tracking: one side opens connections, the other may only answer.
use net.l4;

/// TCP as it shows from the middle (RFC 9293, section 3.3.2): `opening` until the opener acknowledges the other SYN,
/// `closing` from the first FIN on, `closed` after both or a RST. All else is a `conversation`.
enum Phase { conversation, opening, established, closing, closed }

/// Who has sent a SYN, and a FIN: bit 0 the opener, bit 1 the answerer.
struct Connection { phase: Phase, syns: bit<2>, fins: bit<2> }

/// A connection is known by the flow of its opener. The timeouts are the least that RFC 6092 allows (REC-14 for UDP,
/// REC-35 for TCP; the same as for a NAT: RFC 4787, REQ-5, and RFC 5382, REQ-5).
block conntrack {
  param size:         u64      = 1M;
  param conversation: duration = 2min;
  param opening:      duration = 4min;
  param established:  duration = 124min;
  param closing:      duration = 4min;
  param closed:       duration = 30s;           // for the last ACK and what is sent again

  state {
    connections: map<Flow, Connection> { capacity size; idle timeout(value.phase) max established; when full drop; }
  }

  fn timeout(phase: Phase) -> duration {
    if phase == Phase.established { established }
    else if phase == Phase.conversation { conversation }
    else if phase == Phase.opening { opening }
    else if phase == Phase.closing { closing }
    else { closed }
  }

  /// The connection after a segment of `side`: 1 the opener, 2 the answerer.
  fn after(c: Connection, side: bit<2>, syn: bool, ack: bool, fin: bool, rst: bool) -> Connection {
    let syns = if syn { c.syns | side } else { c.syns };
    let fins = if fin { c.fins | side } else { c.fins };
    let phase =
      if rst or fins == 3 or c.phase == Phase.closed { Phase.closed }
      else if fins != 0 { Phase.closing }
      else if syns == 3 and side == 1 and ack { Phase.established }
      else { c.phase };
    Connection { phase: phase, syns: syns, fins: fins }
  }

  /// For a packet of the side that opens connections. TCP opens one with a SYN, all else with any packet.
  action open() {
    if tcp {
      let opens = tcp.syn == 1 and tcp.ack == 0;
      let fresh = Connection { phase: Phase.opening, syns: 1, fins: 0 };
      let known = connections[flow] else {
        require opens else drop "no connection";
        fresh
      };
      connections[flow] =
        if opens and known.phase == Phase.closed { fresh }                   // the port is used again
        else { after(known, 1, tcp.syn == 1, tcp.ack == 1, tcp.fin == 1, tcp.rst == 1) };
    } else {
      connections[flow] = Connection { phase: Phase.conversation, syns: 0, fins: 0 };
    }
  }

  /// For a packet of the side that may only answer.
  action answer() {
    let known = connections[flow.reversed] else drop "unsolicited";
    if tcp {
      connections[flow.reversed] = after(known, 2, tcp.syn == 1, tcp.ack == 1, tcp.fin == 1, tcp.rst == 1);
    }
  }

  /// For an ICMP error about a connection, given by its opener's flow. It keeps nothing alive (RFC 5508, REQ-6).
  action error_about(f: Flow) {
    require f in connections else drop "ICMP error about no connection";
  }

  /// A connection goes through its phases as its segments say: opened by a SYN, established once the opener has
  /// acknowledged the other SYN, closing from the first FIN on, closed by both or by a RST, and then opened anew.
  property followed {
    for p in trace where p.sent and p.in.tcp
      and (p.flow in p.after.connections) != (p.flow.reversed in p.after.connections)
    let opener = p.flow in p.after.connections;
    let f = if opener { p.flow } else { p.flow.reversed };
    let side = if opener { 1 as bit<2> } else { 2 };
    let new = p.after.connections[f];
    let fresh = Connection { phase: Phase.opening, syns: 1, fins: 0 };
    let known = if f in p.before.connections { p.before.connections[f] } else { fresh };
    let opens = opener and p.in.tcp.syn == 1 and p.in.tcp.ack == 0;
    let anew = opens and known.phase == Phase.closed;
    let syns = known.syns | (if p.in.tcp.syn == 1 { side } else { 0 });
    let fins = known.fins | (if p.in.tcp.fin == 1 { side } else { 0 });
    let closed = p.in.tcp.rst == 1 or fins == 3 or known.phase == Phase.closed;
    let established = known.phase == Phase.established or syns == 3 and opener and p.in.tcp.ack == 1;
    expect f in p.before.connections or opens;
    expect not anew or new == fresh;
    expect anew or new.syns == syns and new.fins == fins and (new.phase == Phase.closed) == closed;
    expect anew or closed or (new.phase == Phase.closing) == (fins != 0);
    expect anew or closed or fins != 0 or (new.phase == Phase.established) == established;
  }

  /// A connection is remembered from its last packet on for exactly as long as its phase says. ICMP errors about it do
  /// not count.
  property remembered {
    for p, q in trace where p.sent and p.flow.canonical == q.flow.canonical
      and not p.in.icmp.quoted.ipv4 and not p.in.icmpv6.quoted.ipv6
      and (p.flow in p.after.connections) != (p.flow.reversed in p.after.connections)
      and not (exists r in trace where p.number < r.number and r.number < q.number
               and r.flow.canonical == p.flow.canonical)
    let f = if p.flow in p.after.connections { p.flow } else { p.flow.reversed };
    let phase = p.after.connections[f].phase;
    let long = if phase == Phase.conversation { conversation }
      else if phase == Phase.opening { opening }
      else if phase == Phase.established { established }
      else if phase == Phase.closing { closing }
      else { closed };
    expect (f in q.before.connections) == (q.at - p.at < long);
  }
}
