use net.l4;

nf counter {
  port lan, wan;
  on packet {
    require ipv6 else drop "not IPv6";
    let pair = ipv6.src ++ ipv6.dst;
    require hash(pair) % 16 == 0 else drop "not sampled";
    send wan;
  }
}
