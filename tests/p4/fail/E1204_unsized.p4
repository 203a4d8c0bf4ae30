//# apply
hdr.ethernet.ether_type = hdr.ethernet.dst[7:0] ++ 5;
