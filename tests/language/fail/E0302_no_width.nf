use net.l4;

nf wire {
  port lan, wan;
  on packet {
    let least = 64;
    require len >= 60B else drop "too short";
    send wan;
  }
}
