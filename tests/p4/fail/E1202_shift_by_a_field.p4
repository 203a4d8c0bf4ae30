//# apply
hdr.ethernet.dst = hdr.ethernet.dst << hdr.ethernet.ether_type;
