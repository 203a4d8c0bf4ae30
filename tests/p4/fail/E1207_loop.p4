//# states
state parse_ethernet {
    pkt.extract(hdr.ethernet);
    transition select(hdr.ethernet.ether_type) {
        0x8100: parse_ethernet;
        default: accept;
    }
}
