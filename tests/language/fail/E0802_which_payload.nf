use net.l4;

nf firewall {
  port lan, wan;
  relevant payload;
  on packet {
    require payload[0..4] != 0 else drop "zeros";
    send wan;
  }
}
