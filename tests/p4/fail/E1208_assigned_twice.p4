//# metadata
bit<8> way;
//# states
state parse_ethernet {
    pkt.extract(hdr.ethernet);
    md.way = 1;
    transition select(hdr.ethernet.ether_type) {
        5: five;
        default: accept;
    }
}
state five {
    md.way = 2;
    transition accept;
}
