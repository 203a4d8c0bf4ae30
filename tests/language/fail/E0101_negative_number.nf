use net.l4;

nf wire {
  port lan, wan;
  on packet {
    let x: u16 = -1;
    require hash(x) != 0 else drop "zero";
    send wan;
  }
}
