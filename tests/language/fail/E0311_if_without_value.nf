use net.l4;

nf marker {
  port lan, wan;
  on packet {
    let mark: u8 = if tcp { 10 };
    if ipv4 { ipv4.ttl = mark; }
    send wan;
  }
}
