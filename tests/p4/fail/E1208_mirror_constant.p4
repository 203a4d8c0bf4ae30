//# types
header io_h {
    bit<32> a;
    bit<32> b;
    bit<16> c;
}
//# deparser_locals
Mirror() mirror;
//# deparser
if (dprsr.mirror_type == 1) {
    mirror.emit<io_h>(1, {0, 2, 0});
}
