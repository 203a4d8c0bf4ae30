//# states
state parse_ethernet {
    pkt.extract(hdr.ethernet);
    transition select(hdr.ethernet.ether_type) {
        0x0800 &&& 0xff00: accept;
        0x0806: reject;
        default: accept;
        5: reject;
    }
}
