use net.l4;

nf firewall {
  port lan, wan;
  on packet {
    require peek(8) != 0 else drop "zero";
    send wan;
  }
}
