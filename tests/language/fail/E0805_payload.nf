use net.l4;

nf firewall {
  port lan, wan;
  relevant payload[0..4];
  on packet {
    require payload[0..8] != 0 else drop "zeros";
    send wan;
  }
}
