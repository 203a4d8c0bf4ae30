//# states
state parse_ethernet {
    pkt.extract(hdr.ethernet);
    transition parse_ipv4;
}
