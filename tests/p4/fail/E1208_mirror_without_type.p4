//# types
header io_h {
    bit<32> a;
    bit<32> b;
    bit<16> c;
}
//# metadata
MirrorId_t session;
//# apply
md.session = 1;
//# deparser_locals
Mirror() mirror;
//# deparser
mirror.emit<io_h>(md.session, {1, 2, 3});
