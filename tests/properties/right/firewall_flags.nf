/// A firewall that follows TCP's flags: a conversation begins with a SYN from inside, and no segment whose flags make no
/// sense passes, nor an IPv4 packet with options.
use net.l4;

nf firewall_flags {
  port inside, outside;
  state { open: set<Flow> { capacity 64K; idle 30s; when full drop; } }
  use test.firewall { idle: 30s };

  fn sane(syn: bit<1>, ack: bit<1>, fin: bit<1>, rst: bit<1>) -> bool {
    (syn == 1 or ack == 1 or rst == 1) and not (syn == 1 and (fin == 1 or rst == 1)) and not (fin == 1 and rst == 1)
  }

  on packet from inside {
    require l4 and not fragment else drop "not TCP or UDP";
    require not ipv4 or ipv4.ihl == 5 else drop "options";
    if tcp {
      require sane(tcp.syn, tcp.ack, tcp.fin, tcp.rst) else drop "flags";
      require flow in open or tcp.syn == 1 and tcp.ack == 0 else drop "not begun";
    }
    open.add(flow);
    send outside;
  }
  on packet from outside {
    require l4 and not fragment else drop "not TCP or UDP";
    require not ipv4 or ipv4.ihl == 5 else drop "options";
    require flow.reversed in open else drop "unsolicited";
    if tcp {
      require sane(tcp.syn, tcp.ack, tcp.fin, tcp.rst) else drop "flags";
      require tcp.ack == 1 or tcp.rst == 1 else drop "not an answer";
    }
    send inside;
  }
}
