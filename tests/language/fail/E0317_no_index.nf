use net.l4;

nf firewall {
  port lan, wan;
  on packet {
    require flow[3] != 25 else drop "no mail";
    send wan;
  }
}
