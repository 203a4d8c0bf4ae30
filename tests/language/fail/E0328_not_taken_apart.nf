use net.l4;

nf counter {
  port lan, wan;
  on packet {
    let (source, target) = flow;
    require source != target else drop "land attack";
    send wan;
  }
}
