use net.l4;

nf firewall {
  port lan, wan;
  on packet {
    require ip else drop "not IP";
    require ip.src != ip.dst else drop "land attack";
    send wan;
  }
}
