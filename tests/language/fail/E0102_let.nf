use net.l4;

nf counter {
  port lan, wan;
  on packet {
    let least = 60B
    require len > least else drop "short";
    send wan;
  }
}
