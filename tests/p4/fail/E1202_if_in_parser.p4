//# states
state parse_ethernet {
    pkt.extract(hdr.ethernet);
    if (hdr.ethernet.ether_type == 1) { }
    transition accept;
}
