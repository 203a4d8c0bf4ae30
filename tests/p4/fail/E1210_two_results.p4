//# types
header io_h {
    bit<32> a;
    bit<32> b;
    bit<16> c;
}
//# inner
io_h io;
//# states
state parse_ethernet {
    pkt.extract(hdr.ethernet);
    pkt.extract(hdr.io);
    transition accept;
}
//# locals
Register<bit<32>, bit<4>>(16) r;
RegisterAction<bit<32>, bit<4>, bit<32>>(r) next = {
    void apply(inout bit<32> value, out bit<32> rv) {
        rv = value;
        if (value == 1) { rv = 1; }
    }
};
//# apply
hdr.io.a = next.execute(0);
