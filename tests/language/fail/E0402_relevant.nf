use net.l4;

nf firewall {
  port lan, wan;
  relevant tcp.{sport, dstport} else drop "not TCP";
  on packet {
    require tcp.sport != 25 else drop "no mail";
    send wan;
  }
}
