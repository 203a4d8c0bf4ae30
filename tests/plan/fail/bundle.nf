use net.l4;

nf forwarder {
  port lan, wan;
  config blocked: set<ipv4>;
  config least_ttl: u8;
  relevant ipv4.dst, ipv4.ttl else drop "not IPv4";
  schedule { class flow; fifo; }
  on packet from lan {
    require not (ipv4.dst in blocked) else drop "blocked";
    require ipv4.ttl >= least_ttl else drop "too far";
    send wan;
  }
  on packet from wan { send lan; }
}
