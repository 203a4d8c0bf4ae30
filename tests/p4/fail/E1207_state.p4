//# states
state parse_ethernet {
    pkt.extract(hdr.ethernet);
    transition accept;
}
state forgotten {
    transition accept;
}
