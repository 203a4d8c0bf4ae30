//# metadata
bit<16> way;
//# apply
hdr.ethernet.ether_type = md.way;
