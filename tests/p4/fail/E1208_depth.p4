//# types
header long_h {
    bit<1024> a;
    bit<1024> b;
}
//# inner
long_h long;
//# states
state parse_ethernet {
    pkt.extract(hdr.ethernet);
    pkt.extract(hdr.long);
    transition accept;
}
