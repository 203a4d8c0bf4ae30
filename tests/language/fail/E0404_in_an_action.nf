use net.l4;

nf router {
  port lan, wan;
  action count_down() { ipv4.ttl -= 1; }
  on packet from lan {
    require ipv4 else drop "not IPv4";
    count_down();
    send wan;
  }
  on packet from wan {
    require ipv4 or ipv6 else drop "not IP";
    count_down();
    send lan;
  }
}
