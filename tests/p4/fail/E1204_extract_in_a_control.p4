//# locals
Checksum() sum;
//# apply
sum.subtract({hdr.ethernet.dst});
