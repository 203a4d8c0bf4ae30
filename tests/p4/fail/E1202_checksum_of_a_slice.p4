//# units
Checksum() sum;
//# states
state parse_ethernet {
    pkt.extract(hdr.ethernet);
    sum.subtract({hdr.ethernet.dst[15:0]});
    transition accept;
}
