use net.l4;

nf firewall {
  port lan, wan;
  on packet {
    require tcp else drop "not TCP";
    require tcp.dst_port != 25 else drop "no mail";
    send wan;
  }
}
