use net.l4;

nf firewall {
  port lan, wan;
  on packet {
    require ipv4 and ipv4.src != 10.0.0.256 else drop "not ours";
    require ipv4.dst != 10.0.0 else drop "nowhere";
    send wan;
  }
}
