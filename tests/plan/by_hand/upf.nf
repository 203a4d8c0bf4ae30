use net.tunnel;

/// The user plane of 5G: GTP-U on the side of the radio, plain IP on that of the internet.
nf upf {
  port radio, internet;
  relevant outer.ipv4.{src, dst}, gtpu.teid when gtpu else drop "not IPv4";
  on packet from radio {
    require gtpu and inner.ipv4 else drop "not GTP-U";
    pop outer.ipv4..gtpu;
    send internet;
  }
  on packet from internet {
    require outer.ipv4 else drop "other";
    push ipv4 { src: 10.0.0.1, dst: 10.0.0.2 } before outer.ipv4;
    push udp { sport: 2152, dport: 2152 } before outer.ipv4;
    push gtpu { teid: 5 } before outer.ipv4;
    send radio;
  }
}
