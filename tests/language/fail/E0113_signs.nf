use net.l4;

nf firewall {
  port lan, wan;
  on packet {
    require tcp && !ipv6 || udp else drop "neither";
    send wan;
  }
}
