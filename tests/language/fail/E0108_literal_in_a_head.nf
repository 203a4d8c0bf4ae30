use net.l4;

nf firewall {
  port lan, wan;
  state { last: Endpoint; }
  on packet {
    if last == Endpoint { ip: 192.0.2.1, port: 80 } { drop "web"; }
    if ipv4 { last = Endpoint { ip: ipv4.src, port: flow.sport }; }
    send wan;
  }
}
