use net.l4;

nf firewall {
  port lan, wan;
  on packet {
    require flow.protocol == IpProtocol.tpc else drop "not TCP";
    send wan;
  }
}
