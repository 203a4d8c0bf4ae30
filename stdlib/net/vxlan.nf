/// Virtual eXtensible Local Area Network (RFC 7348).

/// Destination port of the outer UDP header (RFC 7348, section 5).
const VXLAN_PORT: u16 = 4789;

/// RFC 7348, section 5. An Ethernet frame follows. Only a header that says that its VNI is valid (flag I) is valid.
header vxlan {
  flags: u8 = 0x08;
  reserved: bit<24> = 0;
  vni: bit<24>;
  reserved_byte: u8 = 0;

  valid (flags & 0x08) == 0x08;
}
