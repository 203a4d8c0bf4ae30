/// Ethernet (IEEE 802.3, clause 3) and its VLAN tag (IEEE 802.1Q, clause 9).

/// What follows a MAC address pair, a VLAN tag or a GRE header (IANA, "IEEE 802 Numbers").
/// A frame whose field is below 0x0600 is an IEEE 802.3 one with a length there: nothing of it is parsed.
enum EtherType: u16 {
  ipv4 = 0x0800,
  arp = 0x0806,
  ethernet = 0x6558,            // in GRE only: a bridged frame (RFC 1701, NVGRE)
  vlan = 0x8100,                // a customer tag
  ipv6 = 0x86dd,
  mpls = 0x8847,
  pppoe = 0x8864,
  service_vlan = 0x88a8         // a provider's tag; the header is `vlan` too
}

/// IEEE 802.3, section 3.1.1, without preamble and frame check sequence.
header ethernet {
  dst: mac;
  src: mac;
  ether_type: u16 next EtherType;
}

/// IEEE 802.1Q, section 9.6: a customer or service tag. A pushed one is a customer tag; others stay what they were (L10.5).
header vlan {
  /// Priority code point.
  pcp: bit<3> = 0;
  /// Drop eligible.
  dei: bit<1> = 0;
  vid: bit<12>;
  ether_type: u16 next EtherType;
}
