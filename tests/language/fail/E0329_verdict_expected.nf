use net.l4;

nf firewall {
  port lan, wan;
  state { refused: u64; }
  on packet {
    require flow.dport != 25 else { refused += 1; };
    send wan;
  }
}
