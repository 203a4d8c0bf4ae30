//# types
header io_h {
    bit<32> a;
    bit<32> b;
    bit<16> c;
}
//# inner
io_h io;
//# apply
hdr.io.setValid();
hdr.io.a = 1;
hdr.io.c = 1;
