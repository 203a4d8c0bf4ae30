use net.l4;

nf counter {
  port lan, wan;
  param mask: u32 = 255u32;
  param flags: u32 = 0xfg;
  on packet {
    require (hash(flow) as u32 & mask) != flags else drop "unlucky";
    send wan;
  }
}
