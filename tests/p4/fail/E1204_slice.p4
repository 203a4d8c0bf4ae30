//# apply
hdr.ethernet.ether_type = hdr.ethernet.dst[48:33];
