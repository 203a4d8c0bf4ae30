//# apply
if (hdr.ethernet.dst[15:0] == hdr.ethernet.ether_type) { hdr.ethernet.dst = 1; }
