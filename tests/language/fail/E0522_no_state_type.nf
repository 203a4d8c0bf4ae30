use net.l4;

nf router {
  port lan, wan;
  state { routes: lpm<ipv6, port>; }
  on packet {
    let out = routes[flow.dst] else drop "no route";
    send out;
  }
}
