//# locals
Register<bit<1>, bit<4>>(16) r;
RegisterAction<bit<1>, bit<4>, bit<1>>(r) flip = {
    void apply(inout bit<1> value, out bit<1> rv) {
        rv = value;
        value = ~value;
    }
};
RegisterAction<bit<1>, bit<4>, bit<1>>(r) told_late = {
    void apply(inout bit<1> value, out bit<1> rv) {
        value = 1;
        rv = value;
    }
};
//# apply
if (hdr.ethernet.ether_type == 0) { flip.execute(0); } else { told_late.execute(0); }
