use net.l4;

nf firewall {
  port lan, wan;
  on packet {
    require payload[4..0] != 0 else drop "zeros";
    send wan;
  }
}
