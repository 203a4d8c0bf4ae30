//# types
header wide_h { bit<256> x; }
//# inner
wide_h wide;
//# states
state parse_ethernet {
    pkt.extract(hdr.ethernet);
    pkt.extract(hdr.wide);
    transition accept;
}
//# apply
hdr.wide.x = hdr.wide.x + 1;
