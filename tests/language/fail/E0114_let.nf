use net.l4;

nf wire {
  port lan, wan;
  on packet {
    let action = 5 as u8;
    require hash(flow) as u8 != 5 else drop "unlucky";
    send wan;
  }
}
