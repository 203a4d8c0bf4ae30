/// Packets that an NF has no reason to refuse beside those that its block is about: many check more than one thing.

/// A packet of this length, with this TTL or hop limit and source, goes through every link and router: it does not
/// expire, is no longer than what IPv6 asks of each link (1280 bytes and the link header: RFC 8200, section 5), and does
/// not come from an address that nobody can have as source (RFC 6890, sections 2.2.2 and 2.2.3; RFC 1122, section
/// 3.2.1.3). A block that must fit parsers without IPv6 cannot ask for hop limits, and gives 64 in their place.
fn ordinary(length: bytes, ttl: u8, source: ipv6) -> bool {
  length <= 1294B and ttl > 1
    and not (source in ff00::/8 or source in ::/127 or source in fe80::/10 or source in ::ffff:0.0.0.0/104
             or source in ::ffff:127.0.0.0/104 or source in ::ffff:169.254.0.0/112 or source in ::ffff:224.0.0.0/99)
}
