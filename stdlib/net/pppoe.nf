/// PPP over Ethernet (RFC 2516), session stage.

/// IANA, "PPP DLL Protocol Numbers".
enum PppProtocol: u16 { ipv4 = 0x0021, ipv6 = 0x0057 }

/// RFC 2516, section 4, with the PPP protocol (RFC 1661, section 2) that follows it.
header pppoe {
  version: bit<4> = 1;
  type: bit<4> = 1;
  code: u8 = 0;
  session: u16;
  /// The PPP protocol and what follows it.
  length: u16 length(rest + 2);
  protocol: u16 next PppProtocol;

  valid version == 1 and type == 1 and code == 0 and length >= 2;
  end length as u32 + 6;
}
