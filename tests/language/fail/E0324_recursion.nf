use net.l4;

nf counter {
  port lan, wan;
  fn ones(x: u8) -> u8 { if x == 0 { 0 } else { (x & 1) + ones(x >> 1) } }
  on packet {
    require ipv4 and ones(ipv4.ttl) < 4 else drop "many ones";
    send wan;
  }
}
