//# types
header io_h {
    bit<32> a;
    bit<32> b;
    bit<16> c;
}
//# locals
Register<bit<32>, bit<4>>(16) r;
RegisterAction<bit<32>, bit<4>, bit<32>>(r) next = {
    void apply(inout bit<32> value, out bit<32> rv) {
        rv = value;
    }
};
//# apply
tm.ucast_egress_port = 1;
r.write(0, 1);
