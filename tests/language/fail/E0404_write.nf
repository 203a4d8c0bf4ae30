use net.l4;

nf router {
  port lan, wan;
  on packet {
    ethernet.dst = 02:00:00:00:00:01;
    send wan;
  }
}
