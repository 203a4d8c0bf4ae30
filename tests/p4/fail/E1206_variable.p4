//# apply
bit<16> x;
hdr.ethernet.ether_type = x;
