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
}
