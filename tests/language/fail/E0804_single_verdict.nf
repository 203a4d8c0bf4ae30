use net.l4;

nf firewall {
  port lan, wan;
  state { others: u64; }
  relevant tcp.dport else { others += 1; drop "not TCP"; };
  on packet {
    others += 1;
    require tcp.dport != 25 else drop "no mail";
    send wan;
  }
}
