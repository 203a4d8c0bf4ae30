use net.l4;

nf firewall {
  port lan, wan;
  on packet {
    require tcp else drop 'not TCP';
    require ipv4 else drop “not IPv4”;
    send wan;
  }
}
