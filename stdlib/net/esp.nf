/// The IP Encapsulating Security Payload (RFC 4303).

/// RFC 4303, section 2. What follows is encrypted, so opaque.
header esp {
  spi: u32;
  sequence: u32;
}
