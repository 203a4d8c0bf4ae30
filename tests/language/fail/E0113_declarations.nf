use net.l4;

nf counter {
  port lan, wan;
  on packet {
    u16 low = 1024;
    let mut high = 2048;
    var width = high;
    last := 5;
    for (i = 0; i < 5; i++) { drop "loop"; }
    send wan;
  }
}
