use net.l4;

nf firewall {
  port lan, wan;
  relevant ipv4.src, tcp.dport else drop "not TCP over IPv4";
  on packet {
    require ipv4.src in 10.0.0.0/8 else drop "not ours";
    require tcp.dport != 25 or ipv4.dst == 10.0.0.25 else drop "no mail";
    send wan;
  }
}
