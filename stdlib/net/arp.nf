/// The Address Resolution Protocol (RFC 826), for IPv4 over Ethernet.

enum ArpOperation: u16 { request = 1, reply = 2 }

/// RFC 826, "Packet format". Other address families are not valid, so nothing of them is parsed.
header arp {
  hardware_type: u16 = 1;
  protocol_type: u16 = 0x0800;
  hardware_size: u8 = 6;
  protocol_size: u8 = 4;
  operation: u16;
  sender_mac: mac;
  sender_ip: ipv4;
  target_mac: mac;
  target_ip: ipv4;

  valid hardware_type == 1 and protocol_type == 0x0800 and hardware_size == 6 and protocol_size == 4;
}
