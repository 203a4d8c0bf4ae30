//# types
header io_h {
    bit<32> a;
    bit<32> b;
    bit<16> c;
}
//# inner
io_h io;
//# apply
hdr.ethernet.ether_type = hdr.io.c;
