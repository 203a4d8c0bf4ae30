use net.l4;

nf marker {
  port lan, wan;
  on packet {
    let mark: u8 = tcp ? 1 : 2;
    if ipv4 || ipv6 { send wan; }
    drop "not IP";
  }
}
