/// The GPRS Tunnelling Protocol, user plane (3GPP TS 29.281).

/// Destination port of the outer UDP header (TS 29.281, section 4.4.2.3).
const GTPU_PORT: u16 = 2152;

/// TS 29.281, section 6.1. Only a G-PDU carries a user's packet.
enum GtpuMessage: u8 { echo_request = 1, echo_response = 2, error_indication = 26, end_marker = 254, g_pdu = 255 }

/// TS 29.281, section 5.1: the mandatory part. If any of the three flags is set, `gtpu_optional` follows.
header gtpu {
  version: bit<3> = 1;
  /// 1 is GTP, 0 is GTP'.
  protocol_type: bit<1> = 1;
  reserved: bit<1> = 0;
  extension_flag: bit<1> = 0;
  sequence_flag: bit<1> = 0;
  n_pdu_flag: bit<1> = 0;
  message_type: u8 = 255;
  /// Everything after the mandatory part.
  length: u16 length(rest);
  teid: u32;

  valid version == 1 and protocol_type == 1;
  end length as u32 + 8;
}

/// TS 29.281, section 5.1: each field counts only if its flag is set.
header gtpu_optional {
  sequence: u16 = 0;
  n_pdu: u8 = 0;
  /// Type of the extension header that follows, 0 for none; 0x85 is the PDU session container of 5G.
  next_extension: u8 = 0;
}

/// TS 29.281, section 5.2.1: an extension header of one 4-byte unit, such as most PDU session containers
/// (TS 38.415, section 5.5.2). A longer one is not valid, so what follows it is opaque.
header gtpu_extension {
  /// In 4-byte units.
  length: u8 = 1;
  content: u16;
  next_extension: u8 = 0;

  valid length == 1;
}
