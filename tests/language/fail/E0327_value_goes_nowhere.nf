use net.l4;

nf wire {
  port lan, wan;
  on packet {
    if len > 1500B { len }
    send wan;
  }
}
