//# units
Checksum() sum;
//# states
state parse_ethernet {
    pkt.extract(hdr.ethernet);
    sum.add({hdr.ethernet.ether_type});
    transition accept;
}
