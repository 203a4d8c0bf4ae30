use net.l4;

nf firewall {
  port lan, wan;
  on packet {
    require tcp && ipv4 else drop "not TCP over IPv4";
    send wan;
  }
}
