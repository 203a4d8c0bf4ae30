//# apply
if (hdr.ethernet.ether_type + 1 == 5) { hdr.ethernet.dst = 1; }
