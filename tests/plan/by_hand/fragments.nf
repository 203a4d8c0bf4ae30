use net.l4;

/// Every other packet may be a fragment: the order of packets depends on ports, so a fragment goes whole.
nf fragments {
  port lan, wan;
  relevant ipv4.{src, dst, protocol, fragment_offset, more_fragments}, flow else drop "not IPv4";
  schedule { class flow; fifo; }
  on packet from lan { send wan; }
  on packet from wan { require ipv4.fragment_offset == 0 else drop "late"; send lan; }
}
