use net.l4;

nf firewall {
  port lan, wan;
  on packet {
    require ipv4 and ipv4.src in 10.1.2.3/8 else drop "not ours";
    send wan;
  }
}
