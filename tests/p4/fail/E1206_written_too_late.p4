//# metadata
bit<16> way;
//# apply
if (md.way == 1) { hdr.ethernet.dst = 1; }
md.way = 2;
