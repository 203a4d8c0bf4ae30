use net.l4;

/// Reads how long the payload is, and its first bytes.
nf reader {
  port lan, wan;
  relevant flow, payload[0..4] when l4 else drop "not TCP or UDP";
  schedule { class flow; fifo; }
  on packet from lan {
    require l4 and payload.len > 4B else drop "short";
    send wan;
  }
  on packet from wan { send lan; }
}
