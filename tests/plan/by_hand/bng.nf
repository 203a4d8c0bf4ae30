use net.tunnel;

/// PPPoE sessions end here: headers are popped one way and pushed the other.
nf bng {
  port subscribers, core;
  relevant outer.ethernet.{src, dst}, pppoe.session when pppoe, inner.ipv4.src when inner.ipv4, outer.ipv4.dst when outer.ipv4 else drop "other";
  on packet from subscribers {
    require pppoe and inner.ipv4 else drop "no session";
    pop pppoe;
    send core;
  }
  on packet from core {
    require outer.ipv4 else drop "not IPv4";
    push pppoe { session: 7 } before outer.ipv4;
    send subscribers;
  }
}
