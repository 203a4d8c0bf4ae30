use net.l4;

nf firewall {
  port lan, wan;
  relevant tcp.syn when tcp, tcp.sequence when tcp.syn == 1;
  on packet {
    require tcp else drop "not TCP";
    if tcp.syn == 1 { require tcp.sequence != 0 else drop "odd"; }
    send wan;
  }
}
