use net.l4;

nf counter {
  port lan, wan;
  state { longest: u8; }
  on packet {
    require ipv4 else drop "not IPv4";
    longest = max(longest as u16, ipv4.total_length);
    send wan;
  }
}
