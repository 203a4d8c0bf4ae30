use net.l4;

nf firewall {
  port lan, wan;
  on packet {
    require flow.dst_port != 25 else drop "no mail";
    send wan;
  }
}
