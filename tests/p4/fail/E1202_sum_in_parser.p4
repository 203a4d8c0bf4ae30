//# metadata
bit<16> next;
//# states
state parse_ethernet {
    pkt.extract(hdr.ethernet);
    md.next = hdr.ethernet.ether_type + 1;
    transition accept;
}
