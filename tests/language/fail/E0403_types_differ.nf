use net.l4;

nf firewall {
  port lan, wan;
  on packet {
    require ip else drop "not IP";
    require ip.src != 0 else drop "no source";
    send wan;
  }
}
