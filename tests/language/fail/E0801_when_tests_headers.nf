use net.l4;

nf firewall {
  port lan, wan;
  relevant ipv4.src when tcp, tcp.seq when tcp.syn == 1;
  on packet {
    require tcp else drop "not TCP";
    if tcp.syn == 1 { require tcp.seq != 0 else drop "odd"; }
    send wan;
  }
}
