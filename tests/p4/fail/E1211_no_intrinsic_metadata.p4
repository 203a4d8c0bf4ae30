//# states
state parse_ethernet {
    pkt.extract(ig_intr_md);
    pkt.extract(hdr.ethernet);
    transition accept;
}
