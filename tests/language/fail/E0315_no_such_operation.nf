use net.l4;

nf policer {
  port lan, wan;
  on packet {
    require now + len < now + 5s else drop "late";
    send wan;
  }
}
