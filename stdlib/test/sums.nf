/// What the tests need to follow checksums by themselves, so that they see one that the parser does not know for one.

/// The two words of an address, added up as RFC 1071 does.
fn words(a: ipv4) -> u64 { a[31:16] as u64 + a[15:0] as u64 }

/// What an IPv4 header adds up to, modulo 65535, but for the parts that the NFs of these tests never change.
fn ip_sum(src: ipv4, dst: ipv4, ttl: u8, checksum: u16) -> u64 {
  (words(src) + words(dst) + ttl as u64 * 256 + checksum as u64) % 65535
}

/// The same of TCP or UDP over IPv4, with the addresses that its checksum covers.
fn l4_sum(src: ipv4, dst: ipv4, sport: u16, dport: u16, checksum: u16) -> u64 {
  (words(src) + words(dst) + sport as u64 + dport as u64 + checksum as u64) % 65535
}
