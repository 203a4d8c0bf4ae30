//# deparser_locals
Checksum() sum;
//# deparser
hdr.ethernet.ether_type = sum.update({hdr.ethernet.dst[7:0]});
