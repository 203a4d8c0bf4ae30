/// A firewall with a state for every TCP connection: what does not fit the handshake (RFC 9293, section 3.5) is dropped.
use net.l4;

enum State: u8 { opening = 0, accepted = 1, open = 2, closing = 3 }

nf firewall_states {
  port inside, outside;
  state {
    tcp_talks: map<Flow, State> { capacity 16K; idle 20s; when full drop; }
    udp_talks: set<Flow> { capacity 16K; idle 20s; when full drop; }
  }
  use test.firewall { idle: 20s };

  on packet from inside {
    require l4 and not fragment else drop "not TCP or UDP";
    if udp {
      udp_talks.add(flow);
      send outside;
    }
    require tcp else drop "no segment";
    let s = tcp_talks.peek(flow) else {
      State.opening
    };
    let known = flow in tcp_talks;
    require known or tcp.syn == 1 and tcp.ack == 0 and tcp.fin == 0 and tcp.rst == 0 else drop "not begun";
    let next = if tcp.fin == 1 or tcp.rst == 1 { State.closing }
      else if s == State.accepted and tcp.ack == 1 and tcp.syn == 0 { State.open }
      else if s == State.closing and tcp.syn == 1 and tcp.ack == 0 { State.opening }
      else { s };
    require not (s == State.open and tcp.syn == 1) else drop "SYN in a connection";
    tcp_talks[flow] = next;
    send outside;
  }
  on packet from outside {
    require l4 and not fragment else drop "not TCP or UDP";
    if udp {
      require flow.reversed in udp_talks else drop "unsolicited";
      send inside;
    }
    require tcp else drop "no segment";
    let s = tcp_talks.peek(flow.reversed) else drop "unsolicited";
    if tcp.rst == 1 {
      tcp_talks[flow.reversed] = State.closing;
      send inside;
    }
    require tcp.ack == 1 else drop "no answer";
    if s == State.opening {
      require tcp.syn == 1 and tcp.fin == 0 else drop "not accepted";
      tcp_talks[flow.reversed] = State.accepted;
      send inside;
    }
    require tcp.syn == 0 or s == State.accepted else drop "SYN in a connection";
    tcp_talks[flow.reversed] = if tcp.fin == 1 { State.closing } else { s };
    send inside;
  }
}
